"""Which ports the peers of the tests get."""

from __future__ import annotations

from tests.support.processes import free_ports, own_ports


def test_processes_that_run_tests_side_by_side_share_no_port() -> None:
    ranges = [own_ports(f"gw{number}") for number in range(8)]

    all_ports = [port for each in ranges for port in each]

    assert len(set(all_ports)) == len(all_ports)
    assert set(all_ports) < set(own_ports(""))
    assert own_ports("gw8") == own_ports("gw0")


def test_a_port_and_its_neighbours_are_handed_out_once() -> None:
    first, second = free_ports((-2, 0, 1)), free_ports((-2, 0, 1))

    assert not {first - 2, first, first + 1} & {second - 2, second, second + 1}
