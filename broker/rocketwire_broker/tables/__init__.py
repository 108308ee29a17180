"""The state of a broker besides messages: topics, groups, offsets, members, locks.

Plain data; time is an argument.
"""
