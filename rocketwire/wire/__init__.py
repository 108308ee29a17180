"""Bytes and values: the form of the RocketMQ remoting protocol, not its meaning.

The words used here:

* *frame*: the unit of transmission: two length words, a header, a body.
  ``rocketwire.wire.frame``.
* *header*: the first part of a frame, in one of two forms, JSON or ROCKETMQ (binary): a code,
  numbers, a remark and a map of text to text, the *ext fields*.  ``rocketwire.wire.json_header``,
  ``rocketwire.wire.binary_header``.
* *command*: a decoded frame: a request or a response (Java: ``RemotingCommand``).
  ``rocketwire.wire.command``.
* *body*: the second part of a frame, opaque here; mostly JSON as fastjson writes it.
  ``rocketwire.wire.json.fastjson``.
* *stored message*: the form in which a broker stores a message.  The body of a pull response is a
  sequence of them.

No module here reads a clock, a socket or a file.
"""
