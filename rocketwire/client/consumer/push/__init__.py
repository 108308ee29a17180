"""The push consumer: a member of a group that receives messages as they arrive."""
