"""Random input for the codec: comparison with Java, and coverage-guided fuzzing."""
