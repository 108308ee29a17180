"""Our clients under faults: what was acknowledged has to be consumed, and nothing may be left behind."""
