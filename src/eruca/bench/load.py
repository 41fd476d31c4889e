# SPDX-License-Identifier: Apache-2.0
"""Putting load on a broker: one function for each kind of workload.

What is sent is made before the clock starts. Everything raises Unreachable and OutcomeUnknown when
the broker is not there or stops answering, and Refused when it takes no message at all.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from eruca.bench.connections import Load, Pipe, Puller, opened
from eruca.bench.machine import Meter
from eruca.bench.workload import (
    GROUP,
    QUEUE_COUNT,
    Marks,
    Workload,
    body_of,
    send_frame,
    send_frames,
)
from eruca.clock import Clock
from eruca.errors import OutcomeUnknown, Refused, Unreachable
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.wire import javajson
from eruca.wire.bodies import HeartbeatData, ProducerData
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.commands import GetMaxOffset, GetMaxOffsetAnswer
from eruca.wire.fields import parse, to_json
from eruca.wire.header import Command, decode_frame

SAMPLE_MS: Final = 100
DRAIN_MS_MAX: Final = 10_000
LONG_POLL_MS: Final = 1000
PACE_MS: Final = 1
REST_MS: Final = 1000
DIAL_COUNT: Final = 50
CREATE_COUNT: Final = 16
BODY_AT: Final = 88  # In a record with IPv4 hosts.


async def send(meter: Meter, workload: Workload, seconds: float) -> Load:
    """Keep the window of every connection full until the time is up."""
    load = Load()
    clock, address = meter.clock, meter.target.address
    marks = await _create(meter, workload, load)
    frames = send_frames(workload, clock.now_ms())

    def pipe_from(start: int) -> Callable[[], Pipe]:
        return lambda: Pipe(frames, start, workload, marks, load, clock)

    share = frames.cycle // workload.connections
    makes = [pipe_from(number * share) for number in range(workload.connections)]
    async with opened(address, makes) as pipes:
        meter.start()
        for pipe in pipes:
            pipe.start()
        await _sampled(load, meter, seconds)
        for pipe in pipes:
            pipe.stopped = True
        await _all([pipe.idle for pipe in pipes])
        meter.stop()
    return load


async def _create(meter: Meter, workload: Workload, load: Load) -> Marks:
    """Send a first message to each topic, which creates it; what its answer looks like."""
    peer = await dial(meter.target.address, kind=workload.header)
    clock = meter.clock
    begin_ns = clock.mono_ns()
    answers: list[Command] = []

    async def create(first: int) -> None:
        for number in range(first, workload.topic_count, CREATE_COUNT):
            sent = decode_frame(send_frame(workload, number, clock.now_ms()))
            answers.append(await _good(peer, sent.code, sent.fields, sent.body))

    await asyncio.gather(*(create(number) for number in range(CREATE_COUNT)))
    if workload.topic_count > 1:
        load.extra["create_seconds"] = (clock.mono_ns() - begin_ns) / 1e9
    peer.close()
    return Marks.like(answers[0])


async def pull(meter: Meter, workload: Workload, seconds: float) -> Load:
    """Read what is stored in the topic from its beginning, until the end or the time is up."""
    load = Load()
    size = 0

    def take(answer: Command, count: int) -> None:
        nonlocal size
        load.messages += count
        size += len(answer.body)

    makes = [puller_of(workload, queue_id, 0, take) for queue_id in range(QUEUE_COUNT)]
    async with opened(meter.target.address, makes) as pullers:
        meter.start()
        for puller in pullers:
            puller.start()
        reading = asyncio.gather(*(puller.idle for puller in pullers))
        await _sampled(load, meter, seconds, reading)
        for puller in pullers:
            puller.stopped = True
        await _all([reading])
        meter.stop()
    load.extra["mib_per_second"] = size / meter.seconds / (1 << 20)
    return load


async def end_to_end(meter: Meter, workload: Workload, seconds: float) -> Load:
    """Send at a fixed rate, each message with its time, to consumers that wait for it."""
    load = Load()
    clock, address = meter.clock, meter.target.address
    peer = await dial(address)
    await _create(meter, workload, load)

    def take(answer: Command, _: int) -> None:
        now_ns = clock.mono_ns()
        body, at = answer.body, 0
        while at < len(body):
            sent_ns = int.from_bytes(body[at + BODY_AT : at + BODY_AT + 8], "big")
            load.latencies.append((now_ns - sent_ns, 1))
            at += int.from_bytes(body[at : at + 4], "big")
            load.messages += 1

    makes = [puller_of(workload, queue_id, LONG_POLL_MS, take) for queue_id in range(QUEUE_COUNT)]
    async with opened(address, makes) as pullers:
        for queue_id, puller in enumerate(pullers):
            ask = GetMaxOffset(workload.topic, queue_id)
            answer = await _good(peer, RequestCode.GET_MAX_OFFSET, ask)
            puller.start(parse(GetMaxOffsetAnswer, answer.fields).offset)
        meter.start()
        sent = await _paced(peer, workload, clock, seconds)
        meter.stop()
        await _until(clock, lambda: load.messages >= sent)
        for puller in pullers:
            puller.stopped = True
        await _all([puller.idle for puller in pullers])
    peer.close()
    load.failed = sent - load.messages
    return load


async def _paced(peer: Peer, workload: Workload, clock: Clock, seconds: float) -> int:
    """Send `workload.rate` messages a second; how many that were."""
    sent = 0
    rest = body_of(workload.size)[8:]
    frames = [send_frame(workload, q, clock.now_ms(), bytes(8) + rest) for q in range(QUEUE_COUNT)]
    heads = [frame[: -len(rest) - 8] for frame in frames]
    begin_ns = clock.mono_ns()
    while (elapsed_ns := clock.mono_ns() - begin_ns) < seconds * 1e9:
        due = int(elapsed_ns * workload.rate / 1e9)
        for number in range(sent, due):
            stamp = clock.mono_ns().to_bytes(8, "big")
            peer.write(heads[number % QUEUE_COUNT] + stamp + rest)
        sent = max(sent, due)
        await clock.sleep_ms(PACE_MS)
    return sent


async def idle(meter: Meter, workload: Workload, seconds: float) -> Load:
    """Open connections that say who they are, and see what they cost the broker."""
    load = Load()
    before = meter.target.own_mib()
    meter.start()
    peers: list[Peer] = []

    async def open_some(first: int) -> None:
        for number in range(first, workload.connections, DIAL_COUNT):
            beat = HeartbeatData(f"127.0.0.1@{number}", [ProducerData(GROUP)])
            try:
                peers.append(await dial(meter.target.address))
                await _good(peers[-1], RequestCode.HEART_BEAT, None, javajson.dumps(to_json(beat)))
                load.messages += 1
            except (Unreachable, OutcomeUnknown, Refused):
                load.failed += 1

    await asyncio.gather(*(open_some(number) for number in range(DIAL_COUNT)))
    meter.stop()
    await meter.clock.sleep_ms(REST_MS)
    after = meter.target.own_mib()
    if before is not None and after is not None and load.messages:
        load.extra["kib_each"] = (after - before) * 1024 / load.messages
    for peer in peers:
        peer.close()
    return load


def puller_of(
    workload: Workload, queue_id: int, wait_ms: int, take: Callable[[Command, int], None]
) -> Callable[[], Puller]:
    return lambda: Puller(workload, queue_id, wait_ms, take)


async def _good(peer: Peer, code: int, ask: object, body: bytes = b"") -> Command:
    answer = await peer.call(code, ask, body, DRAIN_MS_MAX)
    if answer.code != ResponseCode.SUCCESS:
        raise Refused(answer.code, answer.remark or "")
    return answer


async def _sampled(
    load: Load, meter: Meter, seconds: float, end: asyncio.Future[Any] | None = None
) -> None:
    """Let the time pass, or `end` come, and note how far the load has got meanwhile."""
    while meter.passed_ns() < seconds * 1e9 and not (end and end.done()):
        if end:
            await asyncio.wait({end}, timeout=SAMPLE_MS / 1000)
        else:
            await meter.clock.sleep_ms(SAMPLE_MS)
        load.samples.append((meter.passed_ns(), load.messages))


async def _all(ends: Sequence[asyncio.Future[Any]]) -> None:
    """Wait until every connection has its last answer."""
    try:
        async with asyncio.timeout(DRAIN_MS_MAX / 1000):
            await asyncio.gather(*ends)
    except TimeoutError:
        raise OutcomeUnknown(f"answers are missing after {DRAIN_MS_MAX} ms") from None


async def _until(clock: Clock, done: Callable[[], bool]) -> None:
    deadline_ms = clock.mono_ms() + DRAIN_MS_MAX
    while not done() and clock.mono_ms() < deadline_ms:
        await clock.sleep_ms(SAMPLE_MS)
