"""A RocketMQ name server: the same answers as Java's, byte for byte, with a pure core under a thin
driver.

Vocabulary: a *table* holds what brokers registered, a *view* is an encoded answer read from it, a
*handler* maps one request to table calls, a *session* is the brain of one connection, an
*occurrence* is something worth a line in the log.
"""
