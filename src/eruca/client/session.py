# SPDX-License-Identifier: Apache-2.0
"""What the clients of one process share: name servers, routes, connections.

A name server is used until it fails, then the next one is. A route is kept for half a minute, and
forgotten at once when somebody found it wrong (`forget`). There is one connection per address, made
when it is first needed; callers that need it at the same time wait for the same attempt.

    async with Session(["127.0.0.1:9876"], clock, rng) as session:
        ...

Producers, consumers and `Admin` are made on top of a session; none of them owns it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from types import TracebackType
from typing import Final, final

from eruca.client.routes import Route, route_of, template_route
from eruca.clock import Clock
from eruca.errors import BadField, OutcomeUnknown, Refused, Unreachable
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.wire import javajson
from eruca.wire.bodies import TopicRouteData
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import GetRouteInfo
from eruca.wire.fields import from_json
from eruca.wire.header import Command
from eruca.wire.ids import UniqueIds
from eruca.wire.names import TEMPLATE_TOPIC

TIMEOUT_MS: Final = 3000  # As the Java client.
ROUTE_AGE_MS_MAX: Final = 30_000

SUCCESS_ONLY: Final = frozenset({int(ResponseCode.SUCCESS)})

Dial = Callable[[str], Awaitable[Peer]]


@final
class Session:
    """Connections to one cluster."""

    def __init__(
        self,
        name_servers: Sequence[str],
        clock: Clock,
        rng: Random,
        *,
        address: str = "127.0.0.1",
        pid: int = 0,
        dial: Dial = dial,
    ) -> None:
        """`address` and `pid` only tell the messages of this process from those of others."""
        if not name_servers:
            raise BadField("name_servers", "is empty: at least one HOST:PORT is needed")
        self.clock = clock
        self.rng = rng
        self.ids = UniqueIds(address, pid, rng.getrandbits(32), clock.now_ms)
        self._name_servers = list(name_servers)
        rng.shuffle(self._name_servers)
        self._dial = dial
        self._routes: dict[str, Route] = {}
        self._peers: dict[str, asyncio.Task[Peer]] = {}

    async def __aenter__(self) -> "Session":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; what is waiting for an answer gets OutcomeUnknown."""
        tasks = list(self._peers.values())
        self._peers.clear()
        for task in tasks:
            if task.done():
                if not task.cancelled() and task.exception() is None:
                    task.result().close()
            else:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Connections.

    async def peer(self, address: str) -> Peer:
        """The connection to "host:port". Raises Unreachable."""
        task = self._peers.get(address)
        if task is None or (task.done() and (task.exception() or task.result().closed)):
            task = asyncio.get_running_loop().create_task(self._dialled(address))
            self._peers[address] = task
        return await asyncio.shield(task)

    async def _dialled(self, address: str) -> Peer:
        return await self._dial(address)

    async def ask(
        self,
        address: str,
        code: int,
        ask: object = None,
        body: bytes = b"",
        *,
        fine: frozenset[int] = SUCCESS_ONLY,
        timeout_ms: float = TIMEOUT_MS,
    ) -> Command:
        """Ask whoever listens at `address`; an answer whose code is not `fine` raises Refused."""
        peer = await self.peer(address)
        answer = await peer.call(code, ask, body, timeout_ms)
        if answer.code not in fine:
            raise Refused(answer.code, answer.remark or "")
        return answer

    # Name servers.

    async def ask_nameserver(self, code: int, ask: object = None, body: bytes = b"") -> Command:
        """Ask the first name server that answers. Raises Unreachable when none does."""
        for address in list(self._name_servers):
            try:
                return await self.ask(address, code, ask, body)
            except (Unreachable, OutcomeUnknown) as error:  # Asking changes nothing: ask another.
                problem = error
                self._name_servers.remove(address)
                self._name_servers.append(address)
        raise Unreachable(f"no name server answers: {problem}")

    async def ask_nameservers(self, code: int, ask: object = None) -> None:
        """Tell every name server: they know nothing of each other."""
        for address in list(self._name_servers):
            await self.ask(address, code, ask)

    # Routes.

    async def route(self, topic: str) -> Route:
        """Where `topic` lives. Raises Refused(TOPIC_NOT_EXIST), and Unreachable."""
        route = self._routes.get(topic)
        if route is None or self.clock.now_ms() - route.fetched_ms > ROUTE_AGE_MS_MAX:
            route = route_of(topic, await self._route_data(topic), self.clock.now_ms())
            self._routes[topic] = route
        return route

    async def publish_route(self, topic: str) -> Route:
        """The same, or for an unknown topic where its first message may go to create it."""
        try:
            return await self.route(topic)
        except Refused as refusal:
            if refusal.code != ResponseCode.TOPIC_NOT_EXIST:
                raise
            try:
                data = await self._route_data(TEMPLATE_TOPIC)
            except Refused:
                raise refusal from None
        return template_route(topic, data, self.clock.now_ms())

    def forget(self, topic: str) -> None:
        """The route turned out wrong: ask again next time."""
        self._routes.pop(topic, None)

    async def _route_data(self, topic: str) -> TopicRouteData:
        ask = GetRouteInfo(topic, standard_json_only=True)
        answer = await self.ask_nameserver(RequestCode.GET_ROUTEINFO_BY_TOPIC, ask)
        return from_json(TopicRouteData, javajson.loads(answer.body))
