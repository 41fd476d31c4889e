# SPDX-License-Identifier: Apache-2.0
"""A slice of one queue out: whole records as they lie in the log, without decoding any.

The limits are Java's: the number and the bytes asked for; 256 KiB and 32 messages per answer while
the data is likely in memory, 64 KiB and 8 when it is not; at most 800 entries looked at. The first
message that matches is always returned, whatever its size.
"""

from typing import Final, final

from librt.strings import read_i32_be, read_i64_be
from mypy_extensions import i64

from eruca.errors import CorruptRecord
from eruca.store.commitlog import CommitLog
from eruca.store.consumequeue import ENTRY_SIZE, ConsumeQueue

FOUND: Final = 0
NO_MATCHED_MESSAGE: Final = 1
NO_MESSAGE_IN_QUEUE: Final = 2
OFFSET_TOO_SMALL: Final = 3
OFFSET_OVERFLOW_ONE: Final = 4
OFFSET_OVERFLOW_BADLY: Final = 5
MESSAGE_WAS_REMOVING: Final = 6
NO_MATCHED_LOGIC_QUEUE: Final = 7
OFFSET_RESET: Final = 8

STATUS_NAMES: Final = (
    b"FOUND", b"NO_MATCHED_MESSAGE", b"NO_MESSAGE_IN_QUEUE", b"OFFSET_TOO_SMALL",
    b"OFFSET_OVERFLOW_ONE", b"OFFSET_OVERFLOW_BADLY", b"MESSAGE_WAS_REMOVING",
    b"NO_MATCHED_LOGIC_QUEUE", b"OFFSET_RESET",
)  # fmt: skip

SCAN_COUNT_MIN: Final = 800  # maxFilterMessageSize 16000 bytes / 20
ANSWER_SIZE_MAX: Final = 128 * 1024 * 1024


@final
class Limits:
    """How much one answer may hold."""

    __slots__ = ("disk_count", "disk_size", "memory_count", "memory_size", "memory_span")

    def __init__(
        self,
        memory_size: int,
        memory_count: int,
        disk_size: int,
        disk_count: int,
        memory_span: int,
    ) -> None:
        self.memory_size: i64 = memory_size
        self.memory_count: i64 = memory_count
        self.disk_size: i64 = disk_size
        self.disk_count: i64 = disk_count
        self.memory_span: i64 = memory_span  # How far behind the end data is taken to be cached.


@final
class Slice:
    """What was read. `far_behind`: the data is likely not in memory any more."""

    __slots__ = ("body", "count", "far_behind", "next_offset", "status")

    def __init__(self, status: i64, next_offset: i64) -> None:
        self.status: i64 = status
        self.next_offset: i64 = next_offset
        self.count: i64 = 0
        self.body = b""
        self.far_behind = False


def read_slice(
    log: CommitLog,
    queue: ConsumeQueue,
    offset: i64,
    count_max: i64,
    size_max: i64,
    tag_codes: frozenset[int] | None,
    limits: Limits,
    visible: i64,
) -> Slice:
    """Up to `count_max` records from `offset` on whose tags code is in `tag_codes` (None: all).

    Nothing beyond log offset `visible` is shown: with synchronous flush that is what is durable,
    so no consumer can commit an offset that a power cut would give to another message.
    """
    if queue.max_offset == 0:
        return Slice(NO_MESSAGE_IN_QUEUE, 0)
    if offset < queue.min_offset:
        return Slice(OFFSET_TOO_SMALL, queue.min_offset)
    if offset == queue.max_offset:
        return Slice(OFFSET_OVERFLOW_ONE, offset)
    if offset > queue.max_offset:
        return Slice(OFFSET_OVERFLOW_BADLY, queue.max_offset)
    scan_count = count_max if count_max > SCAN_COUNT_MIN else SCAN_COUNT_MIN
    if tag_codes is None:
        scan_count = count_max if count_max > 0 else 1
    entries = queue.entries(offset, scan_count)
    if size_max < 100:
        size_max = 100
    return _gather(log, entries, offset, count_max, size_max, tag_codes, limits, visible)


def _gather(
    log: CommitLog,
    entries: bytes,
    offset: i64,
    count_max: i64,
    size_max: i64,
    tag_codes: frozenset[int] | None,
    limits: Limits,
    visible: i64,
) -> Slice:
    result = Slice(NO_MATCHED_MESSAGE, offset)
    parts: list[bytes] = []
    total: i64 = 0
    run_at: i64 = 0  # Records that lie side by side in the log are read at once.
    run_end: i64 = -1
    at: i64 = 0
    end: i64 = len(entries)
    while at + ENTRY_SIZE <= end and result.count < count_max:
        log_offset = read_i64_be(entries, at)
        size = i64(read_i32_be(entries, at + 8))
        if log_offset < log.begin or size <= 0 or log_offset + size > log.end:
            if result.count == 0:  # Retention was faster, or the entry is damaged.
                result.status = MESSAGE_WAS_REMOVING
            result.next_offset += 1
            at += ENTRY_SIZE
            continue
        if log_offset + size > visible:
            if at == 0:
                result.status = OFFSET_OVERFLOW_ONE
            break
        behind = log.end - log_offset
        if result.count > 0 and _is_full(behind, total + size, result.count, size_max, limits):
            break
        at += ENTRY_SIZE
        result.next_offset += 1
        if tag_codes is not None and int(read_i64_be(entries, at - 8)) not in tag_codes:
            continue
        if log_offset != run_end:
            if run_end >= 0:
                parts.append(log.read(run_at, run_end - run_at))
            run_at = log_offset
        run_end = log_offset + size
        total += size
        result.count += 1
        result.far_behind = behind > limits.memory_span
    if run_end >= 0:
        parts.append(log.read(run_at, run_end - run_at))
        result.status = FOUND
        result.body = parts[0] if len(parts) == 1 else b"".join(parts)
    return result


def _is_full(behind: i64, size: i64, count: i64, size_max: i64, limits: Limits) -> bool:
    if size > size_max or size > ANSWER_SIZE_MAX:
        return True
    if behind > limits.memory_span:
        return size > limits.disk_size or count >= limits.disk_count
    return size > limits.memory_size or count >= limits.memory_count


def store_ms_at(log: CommitLog, queue: ConsumeQueue, offset: i64) -> i64:
    """When the message at `offset` was stored; -1 when it is not there."""
    log_offset = queue.log_offset_of(offset)
    if log_offset < log.begin:
        return -1
    try:
        head = log.read(log_offset, 76)
    except CorruptRecord:
        return -1
    born_size: i64 = 20 if i64(read_i32_be(head, 36)) & 0x10 else 8
    return read_i64_be(head, 48 + born_size)
