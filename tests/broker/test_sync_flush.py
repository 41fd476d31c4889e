# SPDX-License-Identifier: Apache-2.0
"""Synchronous flush: neither producer nor consumer hears of a message before it is on the disk."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eruca.broker.broker import Broker
from eruca.clock import Clock
from eruca.config import FlushMode, Machine, Settings
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.store.disk import Disk
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import Command, decode_frame, encode

from .here import MEMORY_SIZE, TINY, records

LIMIT_S = 20


class SlowDisk(Disk):  # type: ignore[misc]
    """Syncs of the flush thread wait until a test lets them."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.waiting = threading.Event()

    def sync(self, file_id: int) -> None:
        if threading.current_thread().name.startswith("flush"):
            self.waiting.set()
            assert self.gate.wait(LIMIT_S)
        super().sync(file_id)


Story = Callable[[Broker, SlowDisk, str], Awaitable[None]]


def play(directory: Path, story: Story) -> None:
    async def run() -> None:
        settings = Settings().on(Machine("broker-a", "127.0.0.1", str(directory)))
        settings = replace(
            settings,
            server=replace(settings.server, bind_address="127.0.0.1"),
            broker=replace(settings.broker, listen_port=0),
            store=replace(
                settings.store,
                flush_mode=FlushMode.SYNC,
                flush_interval_ms=1_000_000,  # Nothing happens just because time passes.
                **TINY,
            ),
        )
        disk = SlowDisk()
        broker = Broker(settings, disk, Clock(), random.Random(7), MEMORY_SIZE)
        port = await broker.start()
        try:
            await story(broker, disk, f"127.0.0.1:{port}")
        finally:
            disk.gate.set()
            await broker.stop()

    asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def send_fields() -> dict[str, str]:
    return {
        "a": "g", "b": "orders", "c": "TBW102", "d": "1", "e": "0", "f": "0", "g": "1", "h": "0",
        "i": "UNIQ_KEY\x01U1\x02",
    }  # fmt: skip


async def pull(peer: Peer, wait_ms: int) -> Command:
    fields = {
        "consumerGroup": "g", "topic": "orders", "queueId": "0", "queueOffset": "0",
        "maxMsgNums": "32", "sysFlag": "6", "commitOffset": "0",
        "suspendTimeoutMillis": str(wait_ms), "subscription": "*", "subVersion": "0",
    }  # fmt: skip
    return await peer.call(RequestCode.PULL_MESSAGE, fields, timeout_ms=LIMIT_S * 1000)


@pytest.mark.parametrize("one_way", [False, True])
def test_nobody_hears_of_it_before_it_is_on_the_disk(tmp_path: Path, one_way: bool) -> None:
    async def story(broker: Broker, disk: SlowDisk, address: str) -> None:
        broker.topics.ensure("orders")
        producer, consumer = await dial(address), await dial(address)
        reading = asyncio.ensure_future(pull(consumer, 10_000))
        while broker.waiting.count == 0:
            await asyncio.sleep(0.001)
        sending: asyncio.Future[Command] | None = None
        if one_way:
            producer.send_oneway(RequestCode.SEND_MESSAGE_V2, send_fields(), b"safe")
        else:
            call = producer.call(RequestCode.SEND_MESSAGE_V2, send_fields(), b"safe")
            sending = asyncio.ensure_future(call)
        assert await asyncio.to_thread(disk.waiting.wait, LIMIT_S)
        early = await pull(await dial(address), 0)
        assert early.code == ResponseCode.PULL_NOT_FOUND and not early.body
        assert not reading.done() and (sending is None or not sending.done())
        disk.gate.set()
        assert [record.body for record in records((await reading).body)] == [b"safe"]
        assert sending is None or (await sending).code == 0

    play(tmp_path, story)


def test_one_sync_serves_many(tmp_path: Path) -> None:
    async def story(broker: Broker, disk: SlowDisk, address: str) -> None:
        broker.topics.ensure("orders")
        producers = [await dial(address) for _ in range(20)]
        calls = [
            asyncio.ensure_future(peer.call(RequestCode.SEND_MESSAGE_V2, send_fields(), b"x"))
            for peer in producers
        ]
        while broker.store.log.end == 0 or not disk.waiting.is_set():
            await asyncio.sleep(0.001)
        assert not any(call.done() for call in calls)
        disk.gate.set()
        answers = await asyncio.gather(*calls)
        assert sorted(int(each.fields["queueOffset"]) for each in answers) == list(range(20))

    play(tmp_path, story)


def test_what_was_promised_is_answered_before_the_connection_closes(tmp_path: Path) -> None:
    async def story(broker: Broker, disk: SlowDisk, address: str) -> None:
        broker.topics.ensure("orders")
        host, port = address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        sent = Command(RequestCode.SEND_MESSAGE_V2, 7, fields=send_fields(), body=b"x")
        writer.write(encode(sent) + b"\xff" * 8)  # A frame that no further byte could mend.
        assert await asyncio.to_thread(disk.waiting.wait, LIMIT_S)
        disk.gate.set()
        answer = decode_frame(await reader.read())  # Up to the end of the connection.
        assert (answer.opaque, answer.code) == (7, ResponseCode.SUCCESS)
        writer.close()

    play(tmp_path, story)
