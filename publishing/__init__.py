"""Programs for a release: the documentation site, packages, pictures and tables."""
