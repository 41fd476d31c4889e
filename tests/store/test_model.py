# SPDX-License-Identifier: Apache-2.0
"""Random lives of a store against a Python list: what was promised survives, nothing else appears.

Power may be cut at any time. What must hold then: the messages that are left are a prefix of those
written, at least as long as what was synced; queues have them densely and in order; every key finds
its message; the audit finds the directory sound; and recovering twice changes nothing.
"""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from eruca.store.audit import audit
from eruca.store.lookup import find_messages
from eruca.store.store import Store
from eruca.wire.record import PREPARED

from .forgetful import ForgetfulDisk
from .places import HOST, MEMORY, StillClock, contents_of, draft_of, small_settings

ROOT = "/store"


@dataclass(frozen=True)
class Written:
    topic: str
    queue_id: int
    body: bytes
    keys: tuple[str, ...]
    is_prepared: bool
    end: int


class StoreLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = ForgetfulDisk()
        self.clock = StillClock()
        self.written: list[Written] = []
        self.runner = asyncio.Runner()
        self.store = self.open()

    def open(self, **changes: Any) -> Store:
        place = small_settings(ROOT, **changes)  # type: ignore[arg-type]
        return Store(place, HOST, self.disk, self.clock, MEMORY)  # type: ignore[arg-type]

    def teardown(self) -> None:
        if self.disk.exists(f"{ROOT}/abort"):
            self.runner.run(self.store.close())
        self.runner.close()

    # What happens.

    @rule(
        topic=st.sampled_from(["orders", "%RETRY%billing", "a"]),
        queue_id=st.integers(0, 2),
        size=st.integers(0, 600),
        key_count=st.integers(0, 4),
        count=st.integers(1, 30),
        is_prepared=st.sampled_from([False, False, False, True]),
        ms=st.integers(0, 3000),
    )
    def put(
        self, topic: str, queue_id: int, size: int, key_count: int, count: int, is_prepared: bool,
        ms: int,
    ) -> None:  # fmt: skip
        for _ in range(count):
            number = len(self.written)
            keys = tuple(f"key-{number}-{i}" for i in range(key_count))
            properties = {"UNIQ_KEY": f"unique-{number}", "TAGS": f"tag-{number % 3}"}
            if keys:
                properties["KEYS"] = " ".join(keys)
            body = number.to_bytes(4, "big") + bytes([number % 251]) * size
            draft = draft_of(topic, queue_id, body, properties)
            draft.sys_flag = PREPARED if is_prepared else 0
            self.clock.ms += ms
            self.store.writer.append(draft, self.store.writer.queues_of(draft.topic), self.clock.ms)
            self.written.append(
                Written(topic, queue_id, body, keys, is_prepared, int(self.store.log.end))
            )

    @rule()
    def settle(self) -> None:
        self.store.writer.settle()

    @rule()
    def flush(self) -> None:
        self.store.writer.settle()
        self.runner.run(self.store.flusher.catch_up())
        assert self.store.log.flushed == self.store.log.end

    @rule()
    def write_out(self) -> None:
        self.store.writer.settle()
        self.write_round()

    def write_round(self) -> None:
        background = self.store._background

        async def rounds() -> None:
            background._write_out_some()
            while background._round:
                background._write_out_some()
            if background._tasks:  # A thread that makes files must not outlive its process.
                await asyncio.wait(background._tasks)
            for timer in background._timers.values():
                timer.cancel()

        self.runner.run(rounds())

    @rule()
    def checkpoint(self) -> None:
        self.store.writer.settle()
        self.write_round()
        assert self.runner.run(self.store._background._make_checkpoint())

    @rule()
    def close_and_open(self) -> None:
        self.runner.run(self.store.close())
        assert not self.disk.exists(f"{ROOT}/abort")
        self.check_audit()
        self.store = self.open()

    @rule()
    def kill(self) -> None:
        self.store.writer.settle()
        self.disk = self.disk.killed()
        self.store = self.open()
        self.check_everything(at_least=len(self.written))

    @rule(seed=st.integers(0, 2**32))
    def cut_power(self, seed: int) -> None:
        flushed = int(self.store.log.flushed)
        self.disk = self.disk.after_power_cut(Random(seed))
        before = self.disk.killed()
        self.store = self.open()
        left = sum(1 for each in self.written if each.end <= self.store.log.end)
        at_least = sum(1 for each in self.written if each.end <= flushed)
        del self.written[left:]
        self.check_everything(at_least=at_least)
        end, contents = int(self.store.log.end), contents_of(self.store)
        self.disk = self.disk.killed()  # Power comes back, and goes again.
        self.store = self.open()
        assert (int(self.store.log.end), contents_of(self.store)) == (end, contents)
        self.disk = before.after_power_cut(Random(seed + 1))
        self.store = self.open()
        assert (int(self.store.log.end), contents_of(self.store)) == (end, contents)

    @precondition(lambda self: len(self.written) > 0)
    @rule(name=st.sampled_from(["consumequeue", "index", "checkpoint"]))
    def lose(self, name: str) -> None:
        self.runner.run(self.store.close())
        self.disk.remove_tree(f"{ROOT}/{name}")
        self.store = self.open()
        self.check_everything(at_least=len(self.written))

    # What must hold.

    @invariant()
    def queues_hold_what_was_written(self) -> None:
        expected: dict[tuple[str, int], list[tuple[int, bytes]]] = {}
        for each in self.written:
            if not each.is_prepared:
                queue = expected.setdefault((each.topic, each.queue_id), [])
                queue.append((len(queue), each.body))
        assert contents_of(self.store) == expected

    def check_everything(self, at_least: int) -> None:
        assert len(self.written) >= at_least
        assert int(self.store.log.end) >= (self.written[-1].end if self.written else 0)
        for each in self.written:
            for key in each.keys:
                found = find_messages(self.store, each.topic, key, 0, 2**62, 10)
                assert [record.body for record in found] == [each.body]

    def check_audit(self) -> None:
        report = audit(self.disk, ROOT, f"{ROOT}/commitlog")  # type: ignore[arg-type]
        assert report.findings == [], report.findings[:3]
        assert report.record_count == len(self.written)


TestStoreLife = StoreLife.TestCase
TestStoreLife.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
