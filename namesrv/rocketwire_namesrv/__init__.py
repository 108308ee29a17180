"""A RocketMQ name server: the same responses as Java's, byte for byte, with a pure core and a thin
driver.

Vocabulary: a *table* holds the registered brokers and topics, a *view* is an encoded response from
it, a *handler* maps a request to table calls, a *session* is the protocol of a connection, an
*event* becomes a line in the log. Times called ``now`` are monotonic seconds, those called
``wall_ms`` milliseconds since 1970.
"""
