"""Pictures that are drawn by programs."""
