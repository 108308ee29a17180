"""Vectors that Java's own classes make: one module for each family; ``tests.java.oracle.make_vectors`` writes them."""
