# SPDX-License-Identifier: Apache-2.0
"""The load generator: frames that repeat, answers that are counted however they are chopped."""

import asyncio
from typing import Any

import pytest

from eruca.bench.connections import Load, Pipe
from eruca.bench.workload import (
    CYCLE,
    OPAQUE,
    WORKLOADS,
    Frames,
    Marks,
    Workload,
    pull_frame,
    send_frames,
)
from eruca.clock import Clock
from eruca.wire.codes import RequestCode
from eruca.wire.header import BINARY, JSON, RESPONSE_FLAG, Command, decode_frame, encode

FIELDS = {"msgId": "7F00000100002A9F0000000000000000", "queueId": "0", "queueOffset": "12"}


def answer(kind: int, code: int, offset: int = 0) -> Command:
    fields = {**FIELDS, "queueOffset": str(offset)}
    return Command(code, OPAQUE, kind=kind, flag=RESPONSE_FLAG, language=0, fields=fields)


class FakeTransport:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


def piped(marks: Marks, chunks: list[bytes], batch: int = 1, window: int = 8) -> tuple[Load, int]:
    """What a connection counts in `chunks`, and how many requests it wrote."""

    async def run() -> tuple[Load, int]:
        load, transport = Load(), FakeTransport()
        frames = Frames(bytes(10 * (CYCLE + window)), 10, CYCLE)
        workload = Workload("w", "", batch=batch, in_flight=window)
        pipe = Pipe(frames, 0, workload, marks, load, Clock())
        pipe.connection_made(transport)  # type: ignore[arg-type]
        pipe.start()
        for chunk in chunks:
            pipe.data_received(chunk)
        return load, sum(map(len, transport.written)) // 10

    return asyncio.run(run())


@pytest.mark.parametrize("kind", [BINARY, JSON])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 13, 100, 10_000])
def test_answers_are_counted_in_any_chunks(kind: int, size: int) -> None:
    stream = b"".join(encode(answer(kind, 2 if i % 5 == 0 else 0, i)) for i in range(40))
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    load, written = piped(Marks.like(answer(kind, 0)), chunks, window=40)
    assert (load.messages, load.failed) == (32, 8)
    assert written == 80  # Each answer made room for another request.
    assert sum(count for _, count in load.latencies) == 40


def test_a_batch_counts_for_all_its_messages() -> None:
    load, _ = piped(Marks.like(answer(BINARY, 0)), [encode(answer(BINARY, 0))], batch=32)
    assert load.messages == 32


def test_percentiles_weigh_messages() -> None:
    load = Load(latencies=[(1_000_000, 98), (5_000_000, 1), (9_000_000, 1)])
    assert load.percentile_ms(0.5) == 1.0
    assert load.percentile_ms(0.99) == 5.0
    assert load.percentile_ms(1.0) == 9.0
    assert Load().percentile_ms(0.5) is None


def test_windows_repeat_without_a_seam() -> None:
    frames = send_frames(WORKLOADS["send"], 1_700_000_000_000)
    sent = b"".join(frames.window(number, 7) for number in range(0, 7 * CYCLE, 7))
    assert sent == frames.window(0, CYCLE) * 7


@pytest.mark.parametrize("name", ["send", "send-json", "send-1k", "batch", "queues"])
def test_frames_are_requests_that_a_broker_understands(name: str) -> None:
    workload = WORKLOADS[name]
    frames = send_frames(workload, 1_700_000_000_000)
    requests = [decode_frame(frames.window(number, 1)) for number in range(frames.cycle)]
    code = RequestCode.SEND_BATCH_MESSAGE if name == "batch" else RequestCode.SEND_MESSAGE_V2
    assert {request.code for request in requests} == {code}
    assert {request.opaque for request in requests} == {OPAQUE}
    assert {request.kind for request in requests} == {workload.header}
    if workload.topic_count > 1:
        assert len({request.fields["b"] for request in requests}) == workload.topic_count
    else:
        assert {request.fields["e"] for request in requests} == {"0", "1", "2", "3"}
    if name == "batch":
        assert requests[0].body.count(b"abcdefghij") >= 32
    else:
        assert len({request.fields["i"] for request in requests}) == frames.cycle
        assert {len(request.body) for request in requests} == {workload.size}


def test_pulls_wait_only_when_asked_to() -> None:
    flags: dict[int, Any] = {
        wait_ms: decode_frame(pull_frame(WORKLOADS["pull"], 1, 5, wait_ms)).fields
        for wait_ms in (0, 1000)
    }
    assert (flags[0]["sysFlag"], flags[1000]["sysFlag"]) == ("4", "6")
    assert flags[0]["queueOffset"] == "5"
