"""A port is given once in a while, is free, and lies below those of clients."""

import socket

from tests.ports import free_port


def test_a_port_is_free_and_not_given_again_at_once() -> None:
    ports = [free_port() for _ in range(100)]
    assert len({*ports}) == 100
    for port in ports:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


def test_no_client_is_given_it() -> None:
    with open("/proc/sys/net/ipv4/ip_local_port_range") as told:
        lowest = int(told.read().split()[0])
    assert free_port(1) + 1 < lowest


def test_one_in_use_is_passed_over_with_those_that_it_follows() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port() + 2))
        assert free_port(3) > taken.getsockname()[1]
