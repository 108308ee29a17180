"""Packages of a release: built twice, installed, tried, and their contents listed."""
