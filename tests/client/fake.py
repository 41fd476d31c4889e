# SPDX-License-Identifier: Apache-2.0
"""A server that plays back a script: name server and broker in one, in this process.

    async with FakeServer() as server:
        server.say(RequestCode.GET_MAX_OFFSET, GetMaxOffsetAnswer(7))
        async with server.session() as session: ...
        assert server.asked(RequestCode.GET_MAX_OFFSET)[0].fields["queueId"] == "0"

What is said for a code answers one request after the other; the last of it answers all that follow.
A code about which nothing was said is refused as not supported. SILENCE answers nothing, HANG_UP
closes the connection.
"""

from __future__ import annotations

import asyncio
import random
from types import TracebackType
from typing import Any, Final

from eruca.client.session import Session
from eruca.clock import Clock
from eruca.net.peer import Peer
from eruca.wire import javajson
from eruca.wire.bodies import BrokerData, ClusterInfo, QueueData, TopicRouteData
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import to_json, written
from eruca.wire.header import RESPONSE_FLAG, Command, encode

SILENCE: Final = object()
HANG_UP: Final = object()


class FakeServer:
    def __init__(self, broker_name: str = "broker-a") -> None:
        self.broker_name = broker_name
        self.requests: list[Command] = []
        self.connection_count = 0
        self._script: dict[int, list[Any]] = {}
        self._peers: list[Peer] = []

    async def __aenter__(self) -> FakeServer:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._accept, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        for peer in self._peers:
            peer.close()

    def say(
        self, code: int, answer: object = None, *, body: object = b"", status: int = 0,
        remark: str | None = None,
    ) -> None:  # fmt: skip
        """The next answer to `code`. A body that is not bytes is written as JSON."""
        if answer in (SILENCE, HANG_UP):
            self._script.setdefault(code, []).append(answer)
            return
        if not isinstance(body, bytes):
            body = javajson.dumps(to_json(body))
        fields = {} if answer is None else written(answer)
        reply = Command(
            status, 0, flag=RESPONSE_FLAG, remark=remark, fields=dict(fields), body=body
        )
        self._script.setdefault(code, []).append(reply)

    def say_cluster(self, *others: FakeServer) -> None:
        """Which brokers there are: this one and `others`."""
        brokers = {
            each.broker_name: BrokerData(each.broker_name, "c1", {0: each.address})
            for each in (self, *others)
        }
        cluster = ClusterInfo(brokers, {"c1": list(brokers)})
        self.say(RequestCode.GET_BROKER_CLUSTER_INFO, body=cluster)

    def say_route(self, *others: FakeServer, queue_count: int = 2, perm: int = 6) -> None:
        """Where topics live: on this server and on `others`."""
        servers = (self, *others)
        route = TopicRouteData(
            [QueueData(each.broker_name, queue_count, queue_count, perm) for each in servers],
            [BrokerData(each.broker_name, "c1", {0: each.address}) for each in servers],
        )
        self.say(RequestCode.GET_ROUTEINFO_BY_TOPIC, body=route)

    def asked(self, code: int) -> list[Command]:
        return [request for request in self.requests if request.code == code]

    def session(self, *others: FakeServer) -> Session:
        """A session to this name server, and to `others` if it fails."""
        addresses = [self.address, *(each.address for each in others)]
        return Session(addresses, Clock(), random.Random(7))

    def hang_up(self) -> None:
        for peer in self._peers:
            peer.abort()

    def _accept(self) -> Peer:
        self.connection_count += 1
        peer = Peer(self._serve)
        self._peers.append(peer)
        return peer

    def _serve(self, peer: Peer, request: Command) -> bytes:
        self.requests.append(request)
        script = self._script.get(request.code)
        if not script:
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            reply: Any = Command(code, 0, flag=RESPONSE_FLAG, remark="not in the script")
        else:
            reply = script.pop(0) if len(script) > 1 else script[0]
        if reply is HANG_UP:
            peer.abort()
        if reply in (SILENCE, HANG_UP) or request.is_oneway:
            return b""
        reply.opaque = request.opaque
        reply.kind = request.kind
        return encode(reply)
