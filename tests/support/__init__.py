"""What the tests stand on: golden packets, real Java peers, a recording tap."""
