"""The folder of a broker's store, in Java's formats: files, and the restart with them."""
