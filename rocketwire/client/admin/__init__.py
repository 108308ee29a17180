"""Requests of operators to name servers and brokers: ``open_admin`` and its values.

A method has an ``address`` if it uses one broker, and ``broker`` and ``cluster`` like mqadmin's
``-b`` and ``-c``.
"""

from __future__ import annotations

from rocketwire.client.admin.admin import Admin as Admin
from rocketwire.client.admin.admin import MessageTrack as MessageTrack
from rocketwire.client.admin.admin import TrackType as TrackType
from rocketwire.client.admin.admin import message_tracks as message_tracks
from rocketwire.client.admin.admin import open_admin as open_admin
from rocketwire.client.admin.auth import acl_of as acl_of
from rocketwire.client.admin.brokers import RocksDBConfig as RocksDBConfig
from rocketwire.client.admin.brokers import TimerEngine as TimerEngine
from rocketwire.client.admin.changes import Change as Change
from rocketwire.client.admin.changes import Target as Target
from rocketwire.client.admin.fanout import leaving_out as leaving_out
from rocketwire.client.admin.offsets import NOW as NOW
from rocketwire.client.admin.offsets import QueueOffsets as QueueOffsets
