"""Generated captures with exact truth, and recorded ones: traffic, network and files."""
