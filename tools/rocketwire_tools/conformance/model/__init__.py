"""Cases as data: steps, acceptable outcomes, placeholders, and the words that describe them.

It may import the library; it imports no other room.
"""
