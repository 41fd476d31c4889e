# SPDX-License-Identifier: Apache-2.0
"""A whole broker without sockets and without waiting, and connections to it that tests hold.

    with Bench(directory) as bench:
        bench.topic("orders", 4)
        client = bench.link()
        answer = client.ask(RequestCode.GET_MAX_OFFSET, commands.GetMaxOffset("orders", 0))

Bytes go the whole way: a link's requests are encoded and given to a real `Peer`, whose transport
keeps what comes out. The clock stands still until a test moves it.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from eruca.broker.broker import Broker
from eruca.clock import Clock
from eruca.config import Machine, Settings
from eruca.net.peer import Peer, host_bytes
from eruca.store.disk import Disk
from eruca.wire import javajson
from eruca.wire.bodies import (
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    ProducerData,
    SubscriptionData,
    TopicConfig,
)
from eruca.wire.codes import VERSION, RequestCode
from eruca.wire.fields import from_json, to_json, written
from eruca.wire.header import RESPONSE_FLAG, Command, decode_frame, encode
from eruca.wire.properties import encode_properties
from eruca.wire.record import Draft, Record, decode_record

T = TypeVar("T")

NOW_MS = 1_800_000_000_000
MEMORY_SIZE = 1 << 30
TINY: dict[str, Any] = {
    "segment_size": 1 << 20,
    "queue_segment_size": 20 * 100,
    "index_slot_count": 100,
    "index_entry_count": 400,
    "message_size_max": 64 * 1024,
}


class FakeTimer:
    def cancel(self) -> None:
        pass


class FakeClock(Clock):
    """Time that moves when a test says so; what was to be called later is kept."""

    def __init__(self) -> None:
        self.ms = NOW_MS
        self.later: list[tuple[float, Callable[..., Any], tuple[Any, ...]]] = []

    def now_ms(self) -> int:
        return self.ms

    def mono_ms(self) -> int:
        return self.ms

    def call_later_ms(self, ms: float, call: Callable[..., Any], *args: Any) -> FakeTimer:
        self.later.append((ms, call, args))
        return FakeTimer()


class FakeTransport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__({"peername": address})
        self.written = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


class Link:
    """One connection to the broker, from the client's side."""

    def __init__(self, broker: Broker, address: tuple[str, int]) -> None:
        self.transport = FakeTransport(address)
        self._flusher = broker.store.flusher
        self.peer = Peer(broker.server.answer, hot=broker.hot, hold=self._flusher.hold)
        assert broker.server.on_connect is not None
        broker.server.on_connect(self.peer)
        self.peer.connection_made(self.transport)
        self.pushed: list[Command] = []  # What the broker asked of the client.
        self.answers: dict[int, Command] = {}
        self._opaque = 0

    def ask(
        self,
        code: int,
        header: object = None,
        body: object = b"",
        *,
        language: int = 0,
        flag: int = 0,
    ) -> Command:
        """The answer to a request, which comes in the same turn."""
        fields = header if isinstance(header, dict) else {} if header is None else written(header)
        data = body if isinstance(body, bytes) else javajson.dumps(to_json(body))
        self._opaque += 1
        request = Command(
            code, self._opaque, fields=fields, body=data, language=language, version=VERSION
        )
        request.flag = flag
        return self.say(request)

    def say(self, request: Command) -> Command:
        """The same for a ready request."""
        self.tell(request)
        return self.answers.pop(request.opaque)

    def tell(self, command: Command) -> None:
        """Send what gets no answer."""
        self.feed(encode(command))

    def feed(self, data: bytes) -> None:
        """The same with bytes: a round of the loop in which nobody else has anything to say."""
        self.peer.data_received(data)
        self._flusher.end_round()
        self.read()

    def read(self) -> None:
        """Sort what the broker has written."""
        data, self.transport.written = self.transport.written, b""
        while data:
            end = 4 + int.from_bytes(data[:4], "big")
            command = decode_frame(data[:end])
            data = data[end:]
            if command.flag & RESPONSE_FLAG:
                self.answers[command.opaque] = command
            else:
                self.pushed.append(command)

    def close(self) -> None:
        self.peer.connection_lost(None)

    # What clients do.

    def beat(
        self,
        *consumers: ConsumerData,
        client_id: str = "c@1",
        producers: tuple[str, ...] = (),
        fingerprint: int = 0,
        bare: bool = False,
        language: int = 0,
    ) -> Command:
        body = HeartbeatData(
            client_id,
            [ProducerData(each) for each in producers],
            list(consumers),
            fingerprint,
            bare,
        )
        return self.ask(RequestCode.HEART_BEAT, None, body, language=language)


class Bench:
    """One broker and what surrounds it."""

    def __init__(self, directory: Path, clock: FakeClock | None = None, **options: Any) -> None:
        settings = Settings().on(Machine("broker-g", "127.0.0.1", str(directory)))
        store_names = {each for each in options if hasattr(settings.store, each)}
        store = {**TINY, **{each: options[each] for each in store_names}}
        broker = {each: options[each] for each in options.keys() - store_names}
        self.settings = replace(
            settings,
            store=replace(settings.store, **store),
            broker=replace(settings.broker, **broker),
        )
        self.clock = clock or FakeClock()
        self.broker = Broker(self.settings, Disk(), self.clock, random.Random(7), MEMORY_SIZE)
        self.broker.topics.load()
        self.broker.groups.load()
        self.broker.offsets.load()
        self._port = 4000

    def __enter__(self) -> "Bench":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run(self.broker.stop())

    def link(self) -> Link:
        self._port += 1
        return Link(self.broker, ("192.0.2.9", self._port))

    def topic(self, name: str, queue_count: int = 1, **more: Any) -> TopicConfig:
        topic = TopicConfig(name, queue_count, queue_count, **more)
        assert self.broker.topics.update([topic]) is None
        return topic

    def put(
        self,
        topic: str,
        body: bytes = b"body",
        queue_id: int = 0,
        *,
        after_ms: int = 0,
        **properties: str,
    ) -> int:
        """Store a message, `after_ms` after the last one; where it lies in the log."""
        self.clock.ms += after_ms
        draft = Draft()
        draft.topic = topic.encode()
        draft.queue_id = queue_id
        draft.born_ms = self.clock.ms
        draft.born_host = host_bytes("192.0.2.9", 4000)
        draft.body = body
        draft.properties = encode_properties(properties).encode()
        self.broker.put(draft)
        self.broker.settle()
        return int(draft.log_offset)


def consumer(
    group: str,
    *topics: str,
    model: MessageModel = MessageModel.CLUSTERING,
    version: int = 1,
    pulls: bool = False,
) -> ConsumerData:
    """What a heartbeat says of one group."""
    kind = ConsumeType.CONSUME_ACTIVELY if pulls else ConsumeType.CONSUME_PASSIVELY
    return ConsumerData(
        group,
        kind,
        model,
        subscriptions=[SubscriptionData(each, "*", version=version) for each in topics],
    )


def read(kind: type[T], answer: Command) -> T:
    """The body of an answer as an object."""
    assert answer.code == 0, (answer.code, answer.remark)
    return from_json(kind, javajson.loads(answer.body))


def records(data: bytes) -> list[Record]:
    """The messages in a body."""
    found = []
    while data:
        found.append(decode_record(data))
        data = data[found[-1].size :]
    return found
