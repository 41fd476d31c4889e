# SPDX-License-Identifier: Apache-2.0
"""SIGKILL under load, twenty times: every acknowledged message is there afterwards, where its
answer said it would be, and no queue offset was given twice. SIGTERM under load, the same.

One store lives through all the kills. Files are small, so that segments, queue files and index
files roll while the broker dies.
"""

import asyncio
import os
import random
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from librt.strings import read_i32_be

from eruca.errors import OutcomeUnknown, Unreachable
from eruca.net.dial import dial
from eruca.net.peer import Peer
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.header import BINARY
from eruca.wire.properties import decode_properties
from eruca.wire.record import decode_record

pytestmark = pytest.mark.crash

KILLS = 20
STOPS = 5
SENDERS = 8
QUEUES = 4
TOPIC = "killed"
START_S_MAX = 30
SCENE_S_MAX = 180
SETTINGS = (
    "mappedFileSizeCommitLog=1048576",
    "maxMessageSize=65536",
    "mappedFileSizeConsumeQueue=6000",
    "maxHashSlotNum=500",
    "maxIndexNum=2000",
    "flushIntervalCommitLog=50",
)


class Killed:
    """A broker that is started and killed again and again, and what it acknowledged."""

    def __init__(self, data: Path, flush: str, seed: int) -> None:
        self.data = data
        self.flush = flush
        self.rng = random.Random(seed)
        self.acknowledged: dict[tuple[int, int], str] = {}  # (queue, offset) -> unique id
        self.verified = dict.fromkeys(range(QUEUES), 0)
        self.sent = 0

    async def start(self) -> None:
        command = shlex.split(os.environ.get("ERUCA", f"{sys.executable} -m eruca"))
        words = ["up", "--data", str(self.data), "--port", "0", "--nameserver-port", "0"]
        for pair in (*SETTINGS, f"flushDiskType={self.flush}"):
            words += ["--set", pair]
        self.process = await asyncio.create_subprocess_exec(
            *command, *words, stdout=asyncio.subprocess.PIPE
        )
        assert self.process.stdout is not None
        async with asyncio.timeout(START_S_MAX):
            line = (await self.process.stdout.readline()).decode()
        assert "broker at " in line, line
        self.address = line.partition("broker at ")[2].partition(",")[0].strip()

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()

    async def one_life(self) -> None:
        """Start, verify what earlier lives acknowledged, send, die in the middle of it."""
        await self.start()
        await self.verify()
        senders = [asyncio.create_task(self.send(number)) for number in range(SENDERS)]
        await asyncio.sleep(self.rng.uniform(0.2, 0.8))  # The moment of death is the test's input.
        await self.kill()
        await asyncio.gather(*senders)

    async def send(self, number: int) -> None:
        with suppress(Unreachable, OutcomeUnknown):
            peer = await dial(self.address, kind=BINARY)
            while True:
                await asyncio.gather(*(self.send_one(peer, number) for _ in range(16)))

    async def send_one(self, peer: Peer, number: int) -> None:
        self.sent += 1
        unique = f"U{number}-{self.sent}"
        fields = {
            "a": "crash", "b": TOPIC, "c": "TBW102", "d": str(QUEUES),
            "e": str(self.sent % QUEUES), "f": "0", "g": "1", "h": "0",
            "i": f"UNIQ_KEY\x01{unique}\x02TAGS\x01t{number}\x02",
        }  # fmt: skip
        body = unique.encode() * self.rng.randrange(1, 60)
        answer = await peer.call(RequestCode.SEND_MESSAGE_V2, fields, body, timeout_ms=10_000)
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        place = int(answer.fields["queueId"]), int(answer.fields["queueOffset"])
        assert place not in self.acknowledged, f"{place} was given twice"
        self.acknowledged[place] = unique

    async def verify(self) -> None:
        """Read every queue on from where the last life left it; nothing acknowledged may lack."""
        peer = await dial(self.address, kind=BINARY)
        for queue_id in range(QUEUES):
            found = await self.pull(peer, queue_id, self.verified[queue_id])
            for (queue, offset), unique in self.acknowledged.items():
                if queue == queue_id and offset >= self.verified[queue_id]:
                    assert found.get(offset) == unique, f"{unique} at {queue}/{offset} is lost"
            self.verified[queue_id] += len(found)
        peer.close()

    async def pull(self, peer: Peer, queue_id: int, offset: int) -> dict[int, str]:
        found: dict[int, str] = {}
        first = offset
        while True:
            fields = {
                "consumerGroup": "crash", "topic": TOPIC, "queueId": str(queue_id),
                "queueOffset": str(offset), "maxMsgNums": "32", "sysFlag": "4",
                "commitOffset": "0", "suspendTimeoutMillis": "0", "subscription": "*",
                "subVersion": "0",
            }  # fmt: skip
            answer = await peer.call(RequestCode.PULL_MESSAGE, fields, timeout_ms=10_000)
            if answer.code != ResponseCode.SUCCESS:
                at_end = (ResponseCode.PULL_NOT_FOUND, ResponseCode.TOPIC_NOT_EXIST)
                assert answer.code in at_end, answer
                return found
            at = 0
            while at < len(answer.body):
                record = decode_record(answer.body, at)
                assert record.queue_offset == first + len(found), "queue offsets are not dense"
                pairs = decode_properties(record.properties.decode())
                assert record.body.startswith(pairs["UNIQ_KEY"].encode())
                found[int(record.queue_offset)] = pairs["UNIQ_KEY"]
                at += read_i32_be(answer.body, at)
            offset = int(answer.fields["nextBeginOffset"])


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
def test_a_stop_under_load_leaves_a_clean_store(
    tmp_path: Path, flush: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Told to stop while producers go on: what was answered is there, and nothing to recover."""

    async def scene() -> None:
        broker = Killed(tmp_path, flush, seed=42)
        try:
            async with asyncio.timeout(SCENE_S_MAX):
                for life in range(STOPS):
                    await broker.start()
                    await broker.verify()
                    senders = [asyncio.create_task(broker.send(n)) for n in range(SENDERS)]
                    while len(broker.acknowledged) < (life + 1) * 500:
                        await asyncio.sleep(0.001)
                    broker.process.terminate()
                    assert await broker.process.wait() == 0
                    await asyncio.gather(*senders)
                    assert not (tmp_path / "store" / "abort").exists()
                await broker.start()
                await broker.verify()
        finally:
            if broker.process.returncode is None:
                await broker.kill()

    asyncio.run(scene())
    log = capfd.readouterr().err
    assert "ERROR" not in log and "Traceback" not in log, log[-3000:]


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
def test_nothing_acknowledged_is_lost(tmp_path: Path, flush: str) -> None:
    async def scene() -> None:
        broker = Killed(tmp_path, flush, seed=4711)
        try:
            async with asyncio.timeout(SCENE_S_MAX):
                for _ in range(KILLS // 2):
                    await broker.one_life()
                await broker.start()
                await broker.verify()
                broker.process.terminate()
                assert await broker.process.wait() == 0
        finally:
            if broker.process.returncode is None:
                await broker.kill()
        assert len(broker.acknowledged) > 1000, "too little load to mean anything"
        print(f"{flush}: {KILLS // 2} kills, {len(broker.acknowledged)} acknowledged, none lost")

    asyncio.run(scene())
