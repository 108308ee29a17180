"""A connection as the tables know it."""

from rocketwire.wire.message.host import Host
from rocketwire_broker.tables.members import Peer


def test_requests_to_a_peer_have_numbers_of_their_own_within_31_bits() -> None:
    peer = Peer(1, "127.0.0.1:5", Host(bytes(4), 5))
    assert (peer.new_opaque(), peer.new_opaque()) == (1, 2)

    peer.next_opaque = 0x7FFFFFFF
    assert peer.new_opaque() == 0
