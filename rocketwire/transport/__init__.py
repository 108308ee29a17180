"""One connection under trio, shared by all tasks that send requests over it."""
