# SPDX-License-Identifier: Apache-2.0
"""What goes, what stays, and what a full disk does."""

import asyncio
from pathlib import Path

import pytest

from eruca.errors import DiskFull
from eruca.store.audit import audit
from eruca.store.disk import Disk
from eruca.store.files import local_hour
from eruca.store.store import Store

from .forgetful import ForgetfulDisk
from .places import HOST, MEMORY, StillClock, contents_of, draft_of, put, records_of, small_settings

ROOT = Path("/store")
HOUR_MS = 3_600_000
NOON_MS = 1_700_049_600_000  # 12:00 on a machine on UTC; tests use hours relative to it.


def opened(disk: ForgetfulDisk, clock: StillClock, **changes: object) -> Store:
    return Store(small_settings(ROOT, **changes), HOST, disk, clock, MEMORY)  # type: ignore[arg-type]


def fill(store: Store, count: int, topic: str = "orders") -> None:
    for number in range(count):
        properties = {"UNIQ_KEY": f"u-{number}", "KEYS": f"k-{number}"}
        put(store, draft_of(topic, 0, b"x" * 100, properties), store.clock.now_ms())


def run(store: Store, times: int = 1) -> None:
    async def scene() -> None:
        await store.flusher.catch_up()
        for _ in range(times):
            await store.retention.run()

    asyncio.run(scene())


def hour_of(clock: StillClock) -> str:
    return str(local_hour(clock.ms))


@pytest.fixture
def disk() -> ForgetfulDisk:
    return ForgetfulDisk()


@pytest.fixture
def clock() -> StillClock:
    return StillClock(NOON_MS)


def age(disk: ForgetfulDisk, store: Store, hours: list[float]) -> None:
    """Set how long ago the segments were last written to."""
    for segment, each in zip(store.log.segments, hours, strict=False):
        disk.changed[segment.path] = int(store.clock.now_ms() - each * HOUR_MS)


def test_old_segments_go_at_their_hour(disk: ForgetfulDisk, clock: StillClock) -> None:
    store = opened(disk, clock, delete_hours=hour_of(clock), kept_hours=72)
    fill(store, 200)
    age(disk, store, [100, 73, 71, 100, 100])
    end = int(store.log.end)
    run(store)
    assert [segment.base for segment in store.log.segments[:2]] == [2 * 8192, 3 * 8192]
    assert (store.log.begin, store.log.end) == (2 * 8192, end)  # None from the middle.
    asyncio.run(store.close())


def test_at_other_hours_they_stay(disk: ForgetfulDisk, clock: StillClock) -> None:
    other = str((int(hour_of(clock)) + 5) % 24)
    store = opened(disk, clock, delete_hours=other)
    fill(store, 200)
    age(disk, store, [100] * 5)
    run(store)
    assert store.log.begin == 0
    store.retention.clean_soon()  # By hand: the hour does not matter.
    run(store)
    assert len(store.log.segments) == 1
    asyncio.run(store.close())


def test_a_fuller_disk_has_less_patience(disk: ForgetfulDisk, clock: StillClock) -> None:
    other = str((int(hour_of(clock)) + 5) % 24)
    store = opened(disk, clock, delete_hours=other, delete_count_max=1)
    fill(store, 200)
    age(disk, store, [100, 1, 1, 1, 1])
    disk.ratio = 0.74
    run(store)
    assert store.log.begin == 0
    disk.ratio = 0.76  # What is old goes.
    run(store, 2)
    assert store.log.begin == 8192
    assert store.writable
    disk.ratio = 0.86  # The oldest goes, whatever its age.
    run(store)
    assert store.log.begin == 2 * 8192
    assert store.writable
    disk.ratio = 0.91  # And sends are refused.
    run(store)
    assert store.log.begin == 3 * 8192
    assert not store.writable
    disk.ratio = 0.5
    run(store)
    assert store.writable
    asyncio.run(store.close())


def test_only_what_is_synced_goes_and_never_the_last(
    disk: ForgetfulDisk, clock: StillClock
) -> None:
    store = opened(disk, clock, delete_count_max=100)
    fill(store, 200)
    disk.ratio = 0.95
    asyncio.run(store.retention.run())
    assert store.log.begin == 0
    run(store, 3)
    assert len(store.log.segments) == 1
    asyncio.run(store.close())


def test_queues_and_index_follow_the_log(disk: ForgetfulDisk, clock: StillClock) -> None:
    store = opened(disk, clock, delete_count_max=2)
    fill(store, 150, "orders")
    fill(store, 1, "gone")
    store.writer.topics[b"gone"].queues[0].write_out()
    fill(store, 150, "orders")
    store.writer.topics[b"orders"].queues[0].write_out()
    disk.ratio = 0.86
    index_count = len(disk.names("/store/index"))
    run(store, 3)
    queue = store.queue(b"orders", 0)
    assert queue is not None
    first = int(queue.min_offset)
    assert first > 0 and queue.log_offset_of(first) >= store.log.begin
    assert [int(record.queue_offset) for record in records_of(store, "orders", 0)] == [
        *range(first, 300)
    ]
    names = disk.names("/store/consumequeue/orders/0")
    assert int(names[0]) // 20 < first <= int(names[0]) // 20 + 60
    assert len(disk.names("/store/index")) < index_count
    gone = store.queue(b"gone", 0)
    assert gone is not None and (gone.min_offset, gone.max_offset) == (1, 1)
    contents = contents_of(store)
    asyncio.run(store.close())
    assert audit(disk, "/store", "/store/commitlog").is_sound  # type: ignore[arg-type]
    store = opened(disk, clock)
    assert contents_of(store) == contents
    gone = store.queue(b"gone", 0)
    assert gone is not None and gone.max_offset == 1  # The numbering stays.
    assert store.retention.drop_expired_queues(lambda topic: topic == b"gone") == 0
    assert store.retention.drop_expired_queues(lambda topic: False) == 1
    assert store.queue(b"gone", 0) is None
    assert disk.names("/store/consumequeue") == ["orders"]
    asyncio.run(store.close())


def test_topics_that_nobody_knows_are_dropped(disk: ForgetfulDisk, clock: StillClock) -> None:
    store = opened(disk, clock)
    fill(store, 5, "known")
    fill(store, 5, "unknown")
    assert store.retention.drop_unused_topics(lambda topic: topic == b"known") == [b"unknown"]
    fill(store, 1, "known")
    asyncio.run(store.close())
    assert disk.names("/store/consumequeue") == ["known"]


def test_a_full_disk_refuses_the_next_segment_and_nothing_is_lost(
    disk: ForgetfulDisk, clock: StillClock
) -> None:
    store = opened(disk, clock)
    fill(store, 30)
    written = contents_of(store)
    disk.is_full = True
    with pytest.raises(DiskFull):
        fill(store, 100)
    assert not store.writable
    store.writer.settle()
    during = contents_of(store)
    assert len(during["orders", 0]) > len(written["orders", 0])  # What fitted was taken.
    assert store.find("orders", "k-3", 0, 2**62, 9)
    disk.is_full = False
    run(store)
    assert store.writable
    fill(store, 100)
    count = len(during["orders", 0]) + 100
    assert len(contents_of(store)["orders", 0]) == count
    asyncio.run(store.close())
    assert audit(disk, "/store", "/store/commitlog").findings == []  # type: ignore[arg-type]
    store = opened(disk, clock)
    assert len(contents_of(store)["orders", 0]) == count
    asyncio.run(store.close())


def test_closing_on_a_full_disk_is_a_crash_that_loses_nothing(
    disk: ForgetfulDisk, clock: StillClock
) -> None:
    store = opened(disk, clock, segment_size=1 << 20)
    fill(store, 50)
    disk.is_full = True
    fill(store, 50)
    assert store.index is not None and store.index.is_behind
    asyncio.run(store.close())
    assert disk.exists("/store/abort")
    disk.is_full = False
    store = opened(disk, clock, segment_size=1 << 20)
    assert len(contents_of(store)["orders", 0]) == 100
    for number in range(50):
        assert len(store.find("orders", f"k-{number}", 0, 2**62, 9)) == 2
    asyncio.run(store.close())


def test_the_ratio_is_that_of_df(tmp_path: Path) -> None:
    assert 0.0 < Disk().used_ratio(str(tmp_path)) <= 1.0
