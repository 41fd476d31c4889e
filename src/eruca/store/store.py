# SPDX-License-Identifier: Apache-2.0
"""The door to everything on disk: open, append, read, find, close.

The broker appends through `writer` and reads through `reader.read_slice`; both are compiled and
work on the objects that this module wires together. What remains here is life and death: taking
the directory, recovering it, writing out in the background, and leaving it so that the next
start, Eruca's or Java's, trusts it.

    root/lock    held as long as the store is open
    root/abort   there as long as it is open: whoever finds it must recover
"""

import logging
from collections.abc import Callable
from typing import Final, final

from eruca.clock import Clock
from eruca.config import FlushMode, StoreSettings
from eruca.errors import CorruptRecord, DiskFull
from eruca.store.ahead import Ahead
from eruca.store.background import Background
from eruca.store.checkpoint import Checkpoint
from eruca.store.consumequeue import ConsumeQueue, QueueFiles
from eruca.store.disk import Disk
from eruca.store.extended import plain_tags
from eruca.store.files import IndexFiles, QueueDirectory, SegmentFiles
from eruca.store.flush import DiskThread, Flusher
from eruca.store.index import IndexFile
from eruca.store.pages import Pages
from eruca.store.reader import Limits
from eruca.store.recovery import Place, recover
from eruca.store.retention import Retention
from eruca.store.segment import Segment
from eruca.wire.answers import with_flush_timeout
from eruca.wire.properties import fold
from eruca.wire.record import Record, check, decode_record

log = logging.getLogger("eruca.store")

FLUSHES_PER_WINDOW: Final = 8  # The disk works while a window fills, not only when it is full.
RECORD_OVERHEAD_MAX: Final = 64 * 1024  # Java: so much more than the body may a record have.
DELAYS_MS: Final = (
    1_000, 5_000, 10_000, 30_000, *(60_000 * minutes for minutes in range(1, 11)),
    1_200_000, 1_800_000, 3_600_000, 7_200_000,
)  # fmt: skip


@final
class Store:
    """One store directory, open. `memory` is how many bytes of it the system may cache."""

    def __init__(
        self,
        settings: StoreSettings,
        store_host: bytes,
        disk: Disk,
        clock: Clock,
        memory: int,
        *,
        delays_ms: tuple[int, ...] = DELAYS_MS,
    ) -> None:
        self.settings = settings
        self.disk = disk
        self.clock = clock
        self.delays_ms = delays_ms
        self.on_change: Callable[[], None] = lambda: None  # Of `writable`.
        self._disk_full = False
        self._broken = False  # Something could not be written for another reason.
        self.segment_files = SegmentFiles(disk, settings.log_path, settings.segment_size)
        self.queue_directory = QueueDirectory(
            disk, f"{settings.root}/consumequeue", settings.queue_segment_size // 20 * 20
        )
        self.index_files = IndexFiles(
            disk, f"{settings.root}/index", settings.index_slot_count, settings.index_entry_count
        )
        self.queue_files = QueueFiles(self._read_entries, self._write_entries)
        self._abort_path = f"{settings.root}/abort"
        self.ahead = Ahead(self.segment_files, clock)
        self._pages = Pages(disk, clock)
        names = disk.names(f"{settings.root}/consumequeue_ext")
        self._extended = frozenset(name.encode() for name in names)
        self.limits = Limits(
            settings.memory_pull_size_max,
            settings.memory_pull_count_max,
            settings.disk_pull_size_max,
            settings.disk_pull_count_max,
            memory * settings.memory_percent // 100,
        )
        is_sync = settings.flush_mode is FlushMode.SYNC
        self.dirty_size_max = 0 if is_sync else settings.dirty_size_max
        disk.make_directory(settings.root)
        disk.sync_parent(settings.root)
        self._lock_id = disk.lock(f"{settings.root}/lock")
        try:
            self._open(store_host)
        except BaseException:
            disk.close(self._lock_id)
            raise

    def _open(self, store_host: bytes) -> None:
        """Recover what is there and wire the parts together."""
        settings = self.settings
        is_clean = not self.disk.exists(self._abort_path)
        owner_id = str(self.disk.owner_id()).encode()
        self.disk.replace(self._abort_path, owner_id, keep_backup=True)
        self.writer, checkpoint = recover(
            Place(
                settings,
                self.disk,
                self.clock,
                self.segment_files,
                self.queue_directory,
                self.index_files,
                self.queue_files,
                self.make_segment,
                self._make_index_file,
                self.delays_ms,
            ),
            Checkpoint.decode(self.disk.read(f"{settings.root}/checkpoint")),
            store_host,
            settings.message_size_max + RECORD_OVERHEAD_MAX,
            is_clean,
        )
        self.log = self.writer.log
        self.index = self.writer.index
        self._flush_thread = DiskThread("flush")
        self.lazy_thread = DiskThread("disk")  # For what nobody waits for.
        self.flusher = Flusher(
            self.writer,
            self.segment_files,
            self._flush_thread,
            self.clock,
            interval_ms=settings.flush_interval_ms,
            dirty_size_max=settings.dirty_size_max,
            timeout_ms=settings.sync_flush_ms_max,
            late_answers=with_flush_timeout,
        )
        self.flusher.on_failure = lambda: self.on_change()
        self.retention = Retention(self)
        self._background = Background(self, checkpoint)

    @property
    def writable(self) -> bool:
        """Whether messages are taken. If not, reading goes on."""
        return not self._disk_full and not self._broken and self.flusher.failed is None

    @property
    def disk_full(self) -> bool:
        return self._disk_full

    @disk_full.setter
    def disk_full(self, full: bool) -> None:
        self._disk_full = full
        self.on_change()

    # Life.

    def start(self) -> None:
        """Begin the background work; needs a running loop."""
        self.retention.look_for_room()
        self.flusher.start()
        self.ahead.start(self.log)
        step = self.settings.dirty_size_max // FLUSHES_PER_WINDOW
        self.writer.mark_every(step, self._grown)
        self._background.start()

    async def close(self) -> None:
        """Write, sync and checkpoint everything, so that the next start need not recover."""
        await self.ahead.close()
        await self._pages.close()
        is_sound = await self._background.close()
        self._flush_thread.close()
        self.lazy_thread.close()
        for segment in self.log.segments:
            self.segment_files.release(segment)
        if self.index is not None:
            for file in self.index.files:
                self.index_files.release(file)
        self.queue_directory.close()
        if is_sound:
            self.disk.remove(self._abort_path)
            self.disk.sync_path(self.settings.root)
        self.disk.close(self._lock_id)

    def _grown(self) -> None:
        """The log has one more part of what may be dirty."""
        self.flusher.request()
        self._pages.reached(self.log)

    # Reading.

    def queue(self, topic: bytes, queue_id: int) -> ConsumeQueue | None:
        queues = self.writer.topics.get(topic)
        return None if queues is None else queues.queues.get(queue_id)

    def record_at(self, log_offset: int) -> Record:
        """The record that begins at `log_offset`. Raises CorruptRecord when none does."""
        return decode_record(self.record_bytes(log_offset))

    def record_bytes(self, log_offset: int) -> bytes:
        """The same as it lies in the log, and as a pull answer would carry it."""
        if log_offset < self.log.begin or log_offset + 8 > self.log.end:
            raise CorruptRecord(log_offset, "outside the log")
        size = int.from_bytes(self.log.read(log_offset, 4), "big", signed=True)
        if size <= 0 or log_offset + size > self.log.end:
            raise CorruptRecord(log_offset, f"names a size of {size}")
        data = self.log.read(log_offset, size)
        if check(data, 0, len(data), log_offset, False) != size:
            raise CorruptRecord(log_offset, "is not the beginning of a record")
        return data

    def find(self, topic: str, key: str, begin_ms: int, end_ms: int, count_max: int) -> list[int]:
        """Log offsets of records that may carry `key`, newest first: compare before believing."""
        if self.index is None:
            return []
        text = f"{topic}#{key}".encode()
        found = self.index.find(fold(0, text, 0, len(text)), begin_ms, end_ms, count_max)
        return [offset for offset in found if offset >= self.log.begin]

    # Removing.

    def remove_topic(self, topic: bytes) -> None:
        """Drop the queues of a topic; its records go with their segments."""
        queues = self.writer.topics.pop(topic, None)
        if queues is None:
            return
        for queue in queues.queues.values():
            self.drop_queue(queue)
        self.disk.remove_tree(f"{self.queue_directory.directory}/{topic.decode()}")

    def drop_queue(self, queue: ConsumeQueue) -> None:
        """Remove a queue's files; the caller forgets the queue."""
        queue.forget_tail()
        self.queue_directory.remove_queue(queue)

    # What the log, the queues and the index ask for.

    def make_segment(self, base: int) -> Segment:
        """The next segment, for the log's roll. Raises DiskFull."""
        ready = self.ahead.take(base)
        if ready is not None:
            return ready
        try:
            return self.segment_files.make(base)
        except DiskFull as error:
            self._found_full(error)
            raise

    def _found_full(self, error: DiskFull) -> None:
        if not self.disk_full:
            log.error("the disk is full, sends are refused error=%s", error)
        self.disk_full = True

    def _make_index_file(self) -> IndexFile | None:
        try:
            return self.index_files.make(self.clock.now_ms())
        except DiskFull as error:
            self._found_full(error)
            return None

    def _read_entries(self, queue: ConsumeQueue, at: int, size: int) -> bytes:
        entries = self.queue_directory.read_at(queue, at, size)
        if queue.topic in self._extended:
            return plain_tags(entries, self.record_at, self.delays_ms)
        return entries

    def _write_entries(self, queue: ConsumeQueue, at: int, data: bytes) -> bool:
        try:
            self.queue_directory.write_at(queue, at, data)
        except DiskFull as error:
            self._found_full(error)
            return False
        except OSError as error:
            self._broken = True
            self.on_change()
            log.error("queue entries cannot be written, sends are refused error=%s", error)
            return False
        return True
