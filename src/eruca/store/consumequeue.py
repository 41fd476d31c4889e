# SPDX-License-Identifier: Apache-2.0
"""A consume queue: where message n of one queue lies in the commit log.

    an entry:  | log offset:64 | record size:32 | tags code:64 |

Entry n stands at byte 20n of a run of files of fixed size. Its second field is the size of the
whole record, not of the body. The newest entries live in memory as a tail and are written out in
blocks: the log has them too, so their durability may be lazy (recovery appends what is missing).

Always true:
    min_offset <= tail_from <= max_offset; entries from tail_from on are in the tail
"""

from collections.abc import Callable
from typing import Final, final

from librt.strings import BytesWriter, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i32, i64

ENTRY_SIZE: Final = 20
TAIL_SIZE_MAX: Final = 8000  # 400 entries: a write costs 2 us, so 5 ns each.

BLOCK_COUNT: Final = 400  # Entries read at once for whoever reads on.
BLOCKS_MAX: Final = 256  # Queues that keep a block, so 2 MB in all.
BLOCK_READ_MIN: Final = 8  # Fewer are a search, not a reading.

ReadAt = Callable[["ConsumeQueue", int, int], bytes]
WriteAt = Callable[["ConsumeQueue", int, bytes], bool]


@final
class QueueFiles:
    """How queues reach their files: given by the store, since this module opens none.

    `read_at` answers all bytes that were asked for, zeros where the files have none. `write_at`
    answers False when there is no room.
    """

    __slots__ = ("dirty", "read_at", "reading", "write_at")

    def __init__(self, read_at: ReadAt, write_at: WriteAt) -> None:
        self.read_at = read_at
        self.write_at = write_at
        self.dirty: list[ConsumeQueue] = []  # Queues with a tail.
        self.reading: list[ConsumeQueue] = []  # Queues with a block, the oldest first.


@final
class ConsumeQueue:
    """One queue of one topic."""

    __slots__ = (
        "_block",
        "_block_from",
        "_files",
        "_tail",
        "max_offset",
        "min_offset",
        "queue_id",
        "tail_from",
        "topic",
        "watched",
    )  # fmt: skip

    def __init__(self, topic: bytes, queue_id: int, files: QueueFiles) -> None:
        self.topic = topic
        self.queue_id: i64 = queue_id
        self.min_offset: i64 = 0
        self.max_offset: i64 = 0
        self.tail_from: i64 = 0
        self.watched = False  # Somebody wants to hear of what arrives.
        self._files = files
        self._tail: BytesWriter | None = None
        self._block = b""  # Entries that were read from the file, and from where on.
        self._block_from: i64 = 0

    def start_at(self, min_offset: int, max_offset: int) -> None:
        """Take over what the files hold."""
        self.min_offset = min_offset
        self.max_offset = max_offset
        self.tail_from = max_offset
        self._tail = None
        self._block = b""

    def append(self, log_offset: i64, size: i64, tags_code: i64) -> None:
        """Add the entry of queue offset `max_offset`."""
        tail = self._tail
        if tail is None:
            tail = self._tail = BytesWriter()
            self._files.dirty.append(self)
        write_i64_be(tail, log_offset)
        write_i32_be(tail, i32(size))
        write_i64_be(tail, tags_code)
        self.max_offset += 1
        if len(tail) >= TAIL_SIZE_MAX:
            self.write_out(keep=True)

    def write_out(self, *, keep: bool = False) -> bool:
        """Write the tail to its file; False when there is no room, and then it stays in memory.

        `keep` says that the queue stays in the list of dirty ones, whoever made it so.
        """
        tail = self._tail
        if tail is None:
            return True
        if len(tail) > 0:
            at = int(self.tail_from * ENTRY_SIZE)
            if not self._files.write_at(self, at, tail.getvalue()):
                return False
            self.tail_from = self.max_offset
        self._tail = BytesWriter() if keep else None
        return True

    def forget_tail(self) -> None:
        """Write nothing any more: the queue is being removed."""
        self._tail = None

    def entries(self, offset: i64, count: i64) -> bytes:
        """The entries of queue offsets [offset, offset + count), as far as they exist."""
        end = offset + count
        if end > self.max_offset:
            end = self.max_offset
        if offset < self.min_offset or offset >= end:
            return b""
        tail = self._tail
        if tail is None or end <= self.tail_from:
            return self._written(offset, end)
        kept = tail.getvalue()
        if offset >= self.tail_from:
            at = (offset - self.tail_from) * ENTRY_SIZE
            return kept[at : at + (end - offset) * ENTRY_SIZE]
        older = self._written(offset, self.tail_from)
        return older + kept[: (end - self.tail_from) * ENTRY_SIZE]

    def _written(self, offset: i64, end: i64) -> bytes:
        """Entries that stand in the file: from the block in memory, if they are in it."""
        if end - offset < BLOCK_READ_MIN:
            return self._files.read_at(
                self, int(offset * ENTRY_SIZE), int((end - offset) * ENTRY_SIZE)
            )
        at = (offset - self._block_from) * ENTRY_SIZE
        size = (end - offset) * ENTRY_SIZE
        if at < 0 or at + size > len(self._block):
            self._read_block(offset, end)
            at = 0
        return self._block[at : at + size]

    def _read_block(self, offset: i64, end: i64) -> None:
        last = offset + BLOCK_COUNT
        if last > self.tail_from:
            last = self.tail_from
        if last < end:
            last = end
        reading = self._files.reading
        if len(self._block) == 0:
            if len(reading) >= BLOCKS_MAX:
                reading.pop(0)._block = b""
            reading.append(self)
        size = int((last - offset) * ENTRY_SIZE)
        self._block = self._files.read_at(self, int(offset * ENTRY_SIZE), size)
        self._block_from = offset

    def log_offset_of(self, offset: i64) -> i64:
        """Where message `offset` lies in the log; -1 when the queue does not hold it."""
        entry = self.entries(offset, 1)
        return read_i64_be(entry, 0) if len(entry) == ENTRY_SIZE else -1
