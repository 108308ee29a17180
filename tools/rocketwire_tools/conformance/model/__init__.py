"""Cases as data: steps, acceptable outcomes, placeholders, and their descriptions.

It imports only the library.
"""
