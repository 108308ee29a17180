"""The steps of ``check``, and a store as a Java broker finds it."""
