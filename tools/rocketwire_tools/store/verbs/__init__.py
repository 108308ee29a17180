"""The verbs of ``rocketwire-store``, one module each."""
