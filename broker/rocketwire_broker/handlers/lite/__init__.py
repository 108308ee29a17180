"""The answers about lite topics: many short-lived topics under one parent; since 5.5.0."""
