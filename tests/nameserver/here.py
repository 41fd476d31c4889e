# SPDX-License-Identifier: Apache-2.0
"""A name server without sockets, files or time, and the requests that tests send it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from eruca.clock import Clock
from eruca.config import Machine, Settings
from eruca.nameserver.nameserver import Nameserver
from eruca.nameserver.requests import TABLE
from eruca.net.peer import Peer
from eruca.net.server import Server
from eruca.store.disk import Disk
from eruca.wire import commands, javajson, registration
from eruca.wire.bodies import DataVersion, RegisterBrokerBody, TopicConfig, TopicTable
from eruca.wire.codes import VERSION, RequestCode
from eruca.wire.fields import from_json, to_json, written
from eruca.wire.header import Command, decode_frame


class FakeTimer:
    def cancel(self) -> None:
        pass


class FakeClock:
    """Time that moves when a test says so."""

    def __init__(self) -> None:
        self.ms = 1_000_000
        self.later: list[tuple[float, Callable[..., Any]]] = []

    def now_ms(self) -> int:
        return self.ms

    def mono_ms(self) -> int:
        return self.ms

    def call_later_ms(self, ms: float, call: Callable[..., Any], *args: Any) -> FakeTimer:
        self.later.append((ms, call))
        return FakeTimer()


class FakeDisk:
    """Files in a dictionary; `full` makes every write fail."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.full = False

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def make_directory(self, path: str) -> None:
        pass

    def replace(self, path: str, data: bytes, *, keep_backup: bool = False) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        if keep_backup and path in self.files:
            self.files[path + ".bak"] = self.files[path]
        self.files[path] = data


class FakePeer:
    def __init__(self, address: str = "192.0.2.9:4711") -> None:
        self.address = address
        self.on_close: list[Callable[[Any], None]] = []
        self.sent: list[tuple[int, object]] = []
        self.closed = False

    def send_oneway(self, code: int, answer: object = None, body: bytes = b"") -> None:
        self.sent.append((code, answer))

    def close(self) -> None:
        self.closed = True
        for told in self.on_close:
            told(self)


class Bench:
    """One name server and what surrounds it."""

    def __init__(self, disk: FakeDisk | None = None, **options: Any) -> None:
        settings = Settings().on(Machine(home="/data"))
        self.clock = FakeClock()
        self.disk = disk or FakeDisk()
        self.dialled: list[str] = []
        self.peer = FakePeer()
        self.ns = Nameserver(
            replace(settings, nameserver=replace(settings.nameserver, **options)),
            cast(Disk, self.disk),
            cast(Clock, self.clock),
        )
        self.ns.load()
        self.server = Server(self.ns, TABLE, cast(Clock, self.clock))

    def answer(self, request: Command, peer: FakePeer | None = None) -> Command:
        return decode_frame(self.server.answer(cast(Peer, peer or self.peer), request))

    def ask(
        self,
        code: int,
        header: object = None,
        body: bytes = b"",
        *,
        peer: FakePeer | None = None,
        version: int = VERSION,
    ) -> Command:
        fields = {} if header is None else written(header)
        request = Command(code, 7, fields=fields, body=body, version=version)
        return self.answer(request, peer)

    def register(self, *topics: TopicConfig, peer: FakePeer | None = None, **said: Any) -> Command:
        """Register a broker; what is not `said` is that of the master of broker-a."""
        ask, body = broker(*topics, **said)
        return self.ask(RequestCode.REGISTER_BROKER, ask, body, peer=peer)

    def route(self, topic: str, **said: Any) -> Any:
        """The route as the text of its JSON says it, or None."""
        version = said.pop("version", VERSION)
        answer = self.ask(
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            commands.GetRouteInfo(topic, **said),
            version=version,
        )
        return javajson.loads(answer.body) if answer.code == 0 else None


def broker(
    *topics: TopicConfig, body: RegisterBrokerBody | None = None, version: int = 1, **said: Any
) -> tuple[commands.RegisterBroker, bytes]:
    """Header and body of a registration."""
    ask = commands.RegisterBroker(
        **{
            "broker_name": "broker-a",
            "broker_address": "192.0.2.1:10911",
            "cluster": "c1",
            "ha_address": "192.0.2.1:10912",
            "broker_id": 0,
            "acting_master": False,
            **said,
        }
    )
    if body is None:
        body = table(*topics, version=version)
    return ask, registration.encode(body, compressed=ask.compressed)


def table(*topics: TopicConfig, version: int = 1, state: int = 0) -> RegisterBrokerBody:
    return RegisterBrokerBody(
        TopicTable({topic.name: topic for topic in topics}, DataVersion(state, 1000, version))
    )


def topic(name: str, perm: int = 6, queues: int = 4, sys_flag: int = 0) -> TopicConfig:
    return TopicConfig(name, queues, queues, perm, sys_flag=sys_flag)


TWO = (topic("orders"), topic("bills"))


def read(kind: type[Any], answer: Command) -> Any:
    """The body of an answer as an object."""
    return from_json(kind, javajson.loads(answer.body))


def json(body: object) -> bytes:
    return javajson.dumps(to_json(body))
