"""The lite pull consumer: the application polls for messages."""
