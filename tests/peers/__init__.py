"""Peers of tests and benchmarks: Java's servers and clients, our broker for development, and foreign captures."""
