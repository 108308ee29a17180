"""What a broker knows beside messages: topics, groups, offsets, members, locks, filters.

Plain data; time is an argument. It may import ``config``.
"""
