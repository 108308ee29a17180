"""The pop consumer: the broker keeps track of each message of the group."""
