"""Run the blocks of the documentation's pages, as a reader would run them."""
