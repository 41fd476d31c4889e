# SPDX-License-Identifier: Apache-2.0
"""The address at which others reach this machine, and ports that nobody uses."""

import socket

# Never sent to: a datagram socket only looks up the route when it is connected.
_ELSEWHERE = ("192.0.2.1", 9)  # Reserved for documentation.


def local_address() -> str:
    """The address of the interface that leads out, or 127.0.0.1 when none does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return "127.0.0.1"
        address: str = probe.getsockname()[0]
        return address


def host_name() -> str:
    return socket.gethostname()


def free_port(address: str = "127.0.0.1") -> int:
    """A port that is free now: for a server that must know its port before it listens."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port
