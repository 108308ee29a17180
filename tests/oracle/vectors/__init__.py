"""Vectors that Java's own classes make: one module for each family; ``tests.oracle.make_vectors`` writes them."""
