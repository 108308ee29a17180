"""Chance against the codec: differential runs beside Java, and coverage-guided fuzzing."""
