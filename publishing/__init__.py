"""What makes a release of the sources: the documentation site, packages, pictures and tables."""
