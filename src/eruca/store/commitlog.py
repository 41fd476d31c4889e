# SPDX-License-Identifier: Apache-2.0
"""The commit log: every message of every topic, in one append-only run of bytes.

    segment 0              segment 1              segment 2 (made ahead)
    | r | r | r | blank    | r | r | r | r  ...
    begin                              flushed  end

Always true:
    begin <= flushed <= end
    a byte below `end` never changes
    a record never crosses a segment; what is left of a full one is a single blank record

Records are gathered and written at once, when a round of the loop ends or somebody reads them.
Not thread-safe: the event loop is the only caller.
"""

from collections.abc import Callable
from typing import final

from librt.strings import BytesWriter
from mypy_extensions import i64

from eruca.errors import CorruptRecord, MessageTooLarge
from eruca.store.segment import Segment
from eruca.wire.record import (
    BLANK_SIZE_MIN,
    STORE_HOST_V6,
    Draft,
    record_size,
    write_blank,
    write_record,
)


@final
class CommitLog:
    """Appends records and reads them. Segments come from the `make_segment` it was given."""

    __slots__ = (
        "_gathered",
        "_gathered_at",
        "_last",
        "_make_segment",
        "_room",
        "begin",
        "end",
        "flushed",
        "last_ms",
        "last_offset",
        "record_size_max",
        "segments",
        "store_host",
    )  # fmt: skip

    def __init__(
        self,
        segments: list[Segment],
        store_host: bytes,
        record_size_max: int,
        make_segment: Callable[[int], Segment],
    ) -> None:
        self.segments = segments
        self.store_host = store_host
        self.record_size_max: i64 = record_size_max
        self._make_segment = make_segment
        self.begin: i64 = segments[0].base
        self.end: i64 = self.begin  # Until `resume` knows better.
        self.flushed: i64 = self.begin
        self.last_offset: i64 = -1  # The newest record, and when it was stored.
        self.last_ms: i64 = 0
        self._last = segments[-1]
        self._room: i64 = 0
        self._gathered = BytesWriter()
        self._gathered_at: i64 = 0

    def resume(self, end: int) -> None:
        """Go on at `end`, which lies in the last segment; everything before it is durable."""
        last = self.segments[-1]
        assert last.base <= end < last.base + last.size
        self.begin = self.segments[0].base
        self.end = end
        self.flushed = end
        self._last = last
        self._room = last.base + last.size - end
        self._gathered_at = end

    def append(self, draft: Draft, now_ms: i64) -> None:
        """Write `draft` at the end; its size, log offset and store time are set here.

        Readers may see it at once. It survives a power cut only when `flushed` has passed it:
        whoever promised the producer more than memory waits for that. Raises MessageTooLarge,
        and DiskFull when the next segment finds no room; then nothing was written.
        """
        size = record_size(draft, self.store_host)
        if size > self.record_size_max:
            raise MessageTooLarge(f"record of {size} bytes, limit {self.record_size_max}")
        if size + BLANK_SIZE_MIN > self._room:
            self._roll(size)
        if len(self.store_host) > 8:
            draft.sys_flag |= STORE_HOST_V6
        draft.size = size
        draft.log_offset = self.end
        draft.store_ms = now_ms
        write_record(self._gathered, draft, self.store_host)
        self.last_offset = self.end
        self.last_ms = now_ms
        self.end += size
        self._room -= size

    def reserve(self, size: i64) -> None:
        """Make sure that `size` bytes of records fit into one segment: a batch is never split."""
        if size + BLANK_SIZE_MIN > self._room:
            self._roll(size)

    def settle(self) -> None:
        """Write what was gathered."""
        size: i64 = len(self._gathered)
        if size > 0:
            self._last.write(self._gathered_at - self._last.base, self._gathered.getvalue())
            self._gathered_at += size
            self._gathered = BytesWriter()

    def read(self, offset: i64, size: i64) -> bytes:
        """The `size` bytes at log offset `offset`. Raises CorruptRecord outside the log."""
        end = offset + size
        if offset < self.begin or end > self.end or size < 0:
            raise CorruptRecord(int(offset), f"outside the log {self.begin}..{self.end}")
        if end > self._gathered_at:
            self.settle()
        segment = self.segment_at(offset)
        at = offset - segment.base
        if at + size > segment.size:
            raise CorruptRecord(int(offset), "crosses the end of its segment")
        return segment.read(at, at + size)

    def segment_at(self, offset: i64) -> Segment:
        """The segment that holds `offset`, which lies inside the log."""
        if offset >= self._last.base:
            return self._last
        low: i64 = 0
        high: i64 = len(self.segments) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.segments[middle].base <= offset:
                low = middle
            else:
                high = middle - 1
        return self.segments[low]

    def drop_first(self) -> Segment:
        """Forget the oldest segment, for retention. The last one always stays."""
        assert len(self.segments) > 1
        dropped = self.segments.pop(0)
        self.begin = self.segments[0].base
        if self.flushed < self.begin:
            self.flushed = self.begin
        return dropped

    def _roll(self, size: i64) -> None:
        """Fill the last segment with a blank record and go on in the next one."""
        full = self._last
        if size + BLANK_SIZE_MIN > full.size:
            raise MessageTooLarge(f"{size} bytes do not fit into a segment of {full.size}")
        following = self._make_segment(int(full.base + full.size))  # May raise: before any change.
        assert self._room >= BLANK_SIZE_MIN
        write_blank(self._gathered, self._room)
        self.settle()
        self.segments.append(following)
        self._last = following
        self._room = following.size
        self.end = following.base
        self._gathered_at = following.base
