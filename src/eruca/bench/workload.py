# SPDX-License-Identifier: Apache-2.0
"""The canonical workload: ten questions about one broker, and why these.

Messages have 128 bytes, a tag and a unique key, which is what most users send; requests have binary
headers except where JSON is the question. Nothing here is tuned to a broker: Java's gets the same
frames. `figure` names the number that answers the question.

`load` puts the load on, `run` measures around it, `report` shows the figures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eruca.client.producer import batch_part
from eruca.client.routes import DEFAULT_QUEUE_COUNT
from eruca.message import Message
from eruca.wire.codes import RequestCode
from eruca.wire.commands import PullMessage, SendMessageV2
from eruca.wire.fields import written
from eruca.wire.header import BINARY, JSON, Command, encode
from eruca.wire.hot import PULL_SUBSCRIBES, PULL_SUSPENDS
from eruca.wire.names import TEMPLATE_TOPIC

GROUP: Final = "eruca-bench"
QUEUE_COUNT: Final = DEFAULT_QUEUE_COUNT
OPAQUE: Final = 0x6C6F6164  # One for all requests: answers are counted by it, not parsed.
CYCLE: Final = 64  # Different frames before the first one is sent again.

HIGHER: Final = True
LOWER: Final = False


@dataclass(frozen=True, slots=True)
class Workload:
    """One question. `figure` is the member of the result that answers it."""

    name: str
    why: str
    kind: str = "send"  # or pull, e2e, idle
    figure: str = "per_second"
    better: bool = HIGHER
    connections: int = 8
    in_flight: int = 64
    size: int = 128
    batch: int = 1  # messages per request, or per answer
    header: int = BINARY
    topic: str = "bench"
    topic_count: int = 1
    rate: int = 0  # messages a second, where that is given


WORKLOADS: Final = {
    each.name: each
    for each in (
        Workload("send", "what a broker takes: 8 connections, 64 in flight each"),
        Workload(
            "send-sync",
            "64 connections that wait for each answer",
            connections=64,
            in_flight=1,
        ),
        Workload(
            "send-1",
            "what one caller who waits will feel",
            figure="p50_ms",
            better=LOWER,
            connections=1,
            in_flight=1,
        ),
        Workload("send-1k", "send with 1 KiB: what copying costs", size=1024),
        Workload("send-json", "send with the headers that Java clients use", header=JSON),
        Workload(
            "batch",
            "32 messages a request: mostly the store",
            connections=4,
            in_flight=8,
            batch=32,
            topic="bench-batch",
        ),
        Workload(
            "pull",
            "reading a backlog, 32 messages an answer",
            kind="pull",
            connections=QUEUE_COUNT,
            batch=32,
            topic="bench-batch",
        ),
        Workload(
            "e2e",
            "from send to waiting consumer, 2000 messages a second",
            kind="e2e",
            figure="p99_ms",
            better=LOWER,
            batch=32,
            topic="bench-e2e",
            rate=2000,
        ),
        Workload(
            "idle",
            "what 2000 connections cost that only send heartbeats",
            kind="idle",
            figure="kib_each",
            better=LOWER,
            connections=2000,
        ),
        Workload(
            "queues", "5000 topics in turn: what open queues cost",
            topic="bench-queues", topic_count=5000,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frames:
    """Requests of equal size, one behind the other, long enough to cut any window out of it."""

    blob: bytes
    size: int
    cycle: int

    def window(self, number: int, count: int) -> bytes:
        """`count` frames, beginning with the one whose turn is `number`."""
        at = number % self.cycle * self.size
        return self.blob[at : at + count * self.size]


def body_of(size: int) -> bytes:
    return bytes(ord("a") + i % 26 for i in range(size))


def send_frames(workload: Workload, now_ms: int) -> Frames:
    """What the connections of a sending workload have to say."""
    return frames_of(lambda number: send_frame(workload, number, now_ms), workload)


def frames_of(frame: Callable[[int], bytes], workload: Workload) -> Frames:
    cycle = max(CYCLE, workload.topic_count)
    frames = [frame(number) for number in range(cycle)]
    assert len({len(each) for each in frames}) == 1
    return Frames(b"".join(frames + frames[: workload.in_flight]), len(frames[0]), cycle)


def send_frame(workload: Workload, number: int, now_ms: int, body: bytes = b"") -> bytes:
    """Request `number` of a workload: queues, or topics, take turns."""
    topic, queue_id = workload.topic, number % QUEUE_COUNT
    if workload.topic_count > 1:
        topic, queue_id = f"{workload.topic}-{number:06}", 0
    body = body or body_of(workload.size)
    text = Message(topic, body, tag="TagA").property_text(f"7F000001000018B4AAC20000{number:08X}")
    code = RequestCode.SEND_MESSAGE_V2
    if workload.batch > 1 and workload.kind == "send":
        code = RequestCode.SEND_BATCH_MESSAGE
        part = batch_part(Message(topic, body, tag="TagA"), f"{number:032X}")
        text, body = "", part * workload.batch
    header = SendMessageV2(
        producer_group=GROUP,
        topic=topic,
        default_topic=TEMPLATE_TOPIC,
        default_queue_count=QUEUE_COUNT,
        queue_id=queue_id,
        sys_flag=0,
        born_ms=now_ms,
        flag=0,
        properties=text,
        reconsume_count=0,
        unit_mode=False,
        batch=code == RequestCode.SEND_BATCH_MESSAGE,
    )
    return request(code, header, body, workload.header)


def pull_frame(workload: Workload, queue_id: int, queue_offset: int, wait_ms: int) -> bytes:
    header = PullMessage(
        group=GROUP,
        topic=workload.topic,
        queue_id=queue_id,
        queue_offset=queue_offset,
        count_max=workload.batch,
        sys_flag=PULL_SUBSCRIBES | (PULL_SUSPENDS if wait_ms else 0),
        commit_offset=0,
        wait_ms=wait_ms,
        subscription_version=0,
        subscription="*",
        expression_type="TAG",
    )
    return request(RequestCode.PULL_MESSAGE, header, b"", BINARY)


def request(code: int, header: object, body: bytes, kind: int) -> bytes:
    return encode(Command(code, OPAQUE, kind=kind, fields=written(header), body=body))


@dataclass(frozen=True, slots=True)
class Marks:
    """Two byte strings by which answers are counted: each has `every`, a success has `good`."""

    every: bytes
    good: bytes

    @staticmethod
    def like(answer: Command) -> "Marks":
        """The marks in all answers that look like this first one."""
        if answer.kind == JSON:
            return Marks(b'"opaque":%d' % OPAQUE, b'{"code":0,')
        every = OPAQUE.to_bytes(4, "big") + answer.flag.to_bytes(4, "big")
        head = bytes((0, 0, answer.language & 0xFF)) + answer.version.to_bytes(2, "big")
        return Marks(every, head + every)
