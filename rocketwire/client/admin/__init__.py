"""What operators ask of name servers and brokers: ``open_admin`` and the values that are its own.

The words: a call takes the *address* of a broker where only that broker is meant, and ``broker`` or
``cluster`` where mqadmin has ``-b`` and ``-c``.
"""

from __future__ import annotations

from rocketwire.client.admin.admin import Admin as Admin
from rocketwire.client.admin.admin import open_admin as open_admin
from rocketwire.client.admin.auth import acl_of as acl_of
from rocketwire.client.admin.fanout import leaving_out as leaving_out
from rocketwire.client.admin.message_tracks import MessageTrack as MessageTrack
from rocketwire.client.admin.message_tracks import TrackType as TrackType
from rocketwire.client.admin.message_tracks import message_tracks as message_tracks
from rocketwire.client.admin.offset_resets import NOW as NOW
from rocketwire.client.admin.offsets import QueueOffsets as QueueOffsets
from rocketwire.client.admin.storage_engine import RocksDBConfig as RocksDBConfig
from rocketwire.client.admin.storage_engine import TimerEngine as TimerEngine
