"""Equipment of the tests: golden packets, real Java peers, a recording tap."""
