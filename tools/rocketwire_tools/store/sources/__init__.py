"""What the files of a store are read from, if not from the store's own folder."""
