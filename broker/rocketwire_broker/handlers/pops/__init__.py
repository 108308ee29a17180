"""The answers to consumers that pop: messages, acknowledgements, and the return of messages."""
