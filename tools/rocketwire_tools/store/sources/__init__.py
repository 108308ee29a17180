"""RocksDBs of a store, and temporary files."""
