# SPDX-License-Identifier: Apache-2.0
"""Open a connection to another server."""

import asyncio

from eruca.errors import Unreachable
from eruca.net.peer import Peer, Serve, serve_nothing
from eruca.wire.header import JSON

CONNECT_TIMEOUT_MS = 3000  # As the Java client.


def split_address(address: str) -> tuple[str, int]:
    """("host", port) of "host:port"; raises Unreachable when it is not that."""
    host, colon, port = address.strip().rpartition(":")
    if not colon or not port.isdigit():
        raise Unreachable(f"{address!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


async def dial(address: str, serve: Serve = serve_nothing, *, kind: int = JSON) -> Peer:
    """A connection to "host:port". Raises Unreachable."""
    host, port = split_address(address)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_MS / 1000):
            _, peer = await loop.create_connection(lambda: Peer(serve, kind=kind), host, port)
    except (OSError, TimeoutError) as error:
        raise Unreachable(f"{address}: {error or 'no connection in time'}") from None
    return peer
