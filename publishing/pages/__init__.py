"""What the pages of the documentation show is run, as a reader would run it."""
