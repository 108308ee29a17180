"""The folder of a broker's store, in Java's formats: files, and how a broker goes on with them."""
