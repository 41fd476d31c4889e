# SPDX-License-Identifier: Apache-2.0
"""From whatever the last owner left to a store that can be written to.

    log      |---- trusted: synced, in queues and index ----|---- walked ----| cut
             begin                                        start             end

A clean stop is taken at its word: queues and index are as they lie, and only the last record is
walked. After a crash queues are cut back to what was synced, index files that were not full are
dropped, and the log is walked from the record that the checkpoint names, every record checked. The
first one in doubt ends the log: what follows is cut away on the disk before anything is accepted,
so a later crash cannot bring it back. Everything walked is entered into queues and index again.

Where the trusted part itself must be read (a directory that is missing, an index file dropped) a
damaged record costs what is left of its segment, never what comes after it.

Nothing here decides by time: running it twice, or being killed in it, ends in the same state.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from eruca.clock import Clock
from eruca.config import StoreSettings
from eruca.store.checkpoint import Checkpoint
from eruca.store.commitlog import CommitLog
from eruca.store.consumequeue import QueueFiles
from eruca.store.disk import Disk
from eruca.store.extent import NO_CUT, Extent, extent_of
from eruca.store.files import IndexFiles, QueueDirectory, SegmentFiles
from eruca.store.index import HEADER_SIZE, Index, IndexFile
from eruca.store.replay import UNSOUND, Replay, is_torn
from eruca.store.segment import Segment
from eruca.store.writer import TopicQueues, Writer
from eruca.wire.record import BLANK, check, decode_record

log = logging.getLogger("eruca.store")

WINDOW_SIZE: Final = 4 * 1024 * 1024
PROGRESS_INTERVAL_MS: Final = 1000
NOTHING: Final = 2**62  # As `queued_to`: no record needs a queue.


@dataclass(frozen=True, slots=True)
class Place:
    """What recovery works on."""

    settings: StoreSettings
    disk: Disk
    clock: Clock
    segment_files: SegmentFiles
    queue_directory: QueueDirectory
    index_files: IndexFiles
    queue_files: QueueFiles
    make_segment: Callable[[int], Segment]
    make_index_file: Callable[[], IndexFile | None]
    delays_ms: tuple[int, ...]


class Distrust(Exception):
    """A clean stop was claimed, but the files contradict each other."""


def recover(
    place: Place, checkpoint: Checkpoint, store_host: bytes, record_size_max: int, is_clean: bool
) -> tuple[Writer, Checkpoint]:
    """Open what is there. `checkpoint` is what the file says, `is_clean` that no abort file was.

    Whoever calls has put an abort file there, so being killed in here is a crash like any other.
    """
    segments = place.segment_files.open()
    if not segments:
        segments = [place.segment_files.make(0)]
    has_queues = place.disk.is_directory(place.queue_directory.directory)
    has_index = place.disk.is_directory(place.index_files.directory) or not place.settings.index
    trusted = checkpoint.record_offset
    if not has_queues or not has_index:
        log.info("derived files are missing queues=%s index=%s", has_queues, has_index)
        checkpoint = replace(checkpoint, record_offset=0, index_ms=0)
        place.disk.replace(f"{place.settings.root}/checkpoint", checkpoint.encode())
    place.queue_directory.open()
    if place.settings.index:
        place.index_files.make_directory()
    while True:
        commit_log = CommitLog(segments, store_host, record_size_max, place.make_segment)
        recovery = _Recovery(place, commit_log, checkpoint, trusted, is_clean)
        recovery.rebuild_queues = not has_queues
        recovery.rebuild_index = not has_index
        try:
            return recovery.run()
        except Distrust as doubt:
            log.error("not as after a clean stop, recovering as after a crash: %s", doubt)
            recovery.let_go()
            trusted = min(trusted, recovery.end)
            is_clean = False


class _Recovery:
    def __init__(
        self,
        place: Place,
        commit_log: CommitLog,
        checkpoint: Checkpoint,
        trusted: int,
        is_clean: bool,
    ) -> None:
        self._place = place
        self._log = commit_log
        self._checkpoint = checkpoint  # As it is on the disk.
        self._trusted = trusted
        self._is_clean = is_clean
        self.rebuild_queues = False
        self.rebuild_index = False
        self._index_begin: int | None = None  # From where keys are missing, if they are.
        self._queue_end = -1  # Log offset of the last record that stands in a queue.
        self._trusted_index_ms = 0
        self._told_ms = place.clock.mono_ms()
        self.end = 0
        self._start = int(commit_log.begin)
        if not is_clean:
            log.warning("the last owner did not close the store: recovering")
            self._start = self._start_at(trusted)
            self._lower_checkpoint(self._start, checkpoint.index_ms)
        index = None
        if place.settings.index:
            index = Index(self._open_index(), place.make_index_file)
        self._writer = Writer(commit_log, index, place.queue_files)
        batch_directory = f"{place.settings.root}/batchconsumequeue"
        self._replay = Replay(
            self._writer,
            frozenset(name.encode() for name in place.disk.names(batch_directory)),
            place.delays_ms,
            place.queue_directory.start_at,
        )

    def run(self) -> tuple[Writer, Checkpoint]:
        self._load_queues()
        if self._is_clean:
            self._start = self._start_at(max(self._trusted, self._queue_end))
        self._rebuild()
        self.end = self._walk()
        self._distrust_if_ahead()
        if self._checkpoint.record_offset >= self.end:
            self._lower_checkpoint(self._start, self._trusted_index_ms)
        self._cut(self.end)
        self._log.resume(self.end)
        self._log.last_offset = self._replay.last_offset
        self._log.last_ms = self._replay.last_ms
        self._writer.settle()
        log.info(
            "store open begin=%d end=%d walked=%d records=%d topics=%d",
            self._log.begin, self.end, self.end - self._start, self._replay.count,
            len(self._writer.topics),
        )  # fmt: skip
        return self._writer, self._checkpoint

    def let_go(self) -> None:
        self._place.queue_files.dirty.clear()
        if self._writer.index is not None:
            for file in self._writer.index.files:
                self._place.index_files.release(file)

    # Where to begin.

    def _start_at(self, wanted: int) -> int:
        """`wanted` if a sound record lies there; else the start of its segment, or an older one."""
        segments = self._log.segments
        candidates = [s for s in segments if s.base <= wanted] or segments[:1]
        for segment in reversed(candidates):
            is_inside = segment.base < wanted < segment.base + segment.size
            if is_inside and self._sound_size(segment, wanted) > 0:
                return wanted
            if self._sound_size(segment, int(segment.base)) != UNSOUND:
                return int(segment.base)
        return int(segments[0].base)

    def _sound_size(self, segment: Segment, log_offset: int) -> int:
        at = log_offset - int(segment.base)
        head = self._place.disk.peek(segment.path, at, 8)
        size = int.from_bytes(head[:4], "big", signed=True)
        size = max(8, min(size, int(segment.size) - at))
        data = self._place.disk.peek(segment.path, at, size)
        size = int(check(data, 0, len(data), log_offset, True))
        return UNSOUND if size > 0 and is_torn(decode_record(data)) else size

    # Queues.

    def _load_queues(self) -> None:
        place = self._place
        directory = place.queue_directory.directory
        begin = int(self._log.begin)
        cut_at = NO_CUT if self._is_clean else self._start
        count = 0
        for topic in place.disk.names(directory):
            queues = self._writer.queues_of(topic.encode())
            for queue_id in place.disk.names(f"{directory}/{topic}"):
                path = f"{directory}/{topic}/{queue_id}"
                if not queue_id.isdecimal():
                    continue
                extent = extent_of(place.disk, path, place.queue_directory.file_size, begin, cut_at)
                if extent is not None:
                    self._load_queue(queues, int(queue_id), extent)
                    count += 1
                    self._tell("queues", count)
            if not queues.queues:
                del self._writer.topics[queues.topic]

    def _load_queue(self, queues: TopicQueues, queue_id: int, extent: Extent) -> None:
        queue = self._writer.queue(queues, queue_id)
        queue.start_at(extent.min_offset, extent.max_offset)
        self._queue_end = max(self._queue_end, extent.last_log_offset)
        if extent.is_damaged:
            log.error("queue damaged, rebuilding topic=%r queue=%d", queues.topic, queue_id)
            self._lower_checkpoint(0, self._checkpoint.index_ms)
            self.rebuild_queues = True
        is_empty = extent.last_log_offset < 0
        if extent.is_damaged or (is_empty and not self._is_clean):
            # Even the names of its files are doubtful: its records tell where it begins.
            self._place.queue_directory.cut(queue, 0)
            del queues.queues[queue_id]
        elif not self._is_clean:
            self._place.queue_directory.cut(queue, extent.max_offset)

    # Index.

    def _open_index(self) -> list[IndexFile]:
        """The files to trust; the others are removed, and `_index_begin` says what that costs."""
        place = self._place
        files: list[IndexFile] = []
        names = place.index_files.names()
        for name in names:
            file = self._open_index_file(name, is_last=name == names[-1])
            if file is None:
                break
            files.append(file)
            self._trusted_index_ms = int(file.end_ms)
        dropped = names[len(files) :]
        if dropped:
            self._index_begin = int(files[-1].end_offset) if files else int(self._log.begin)
            self._lower_checkpoint(self._index_begin, self._trusted_index_ms)
            log.info("index files dropped, rebuilding files=%s from=%d", dropped, self._index_begin)
        for name in dropped:
            place.disk.remove(f"{place.index_files.directory}/{name}")
        return files

    def _open_index_file(self, name: str, *, is_last: bool) -> IndexFile | None:
        files = self._place.index_files
        path = f"{files.directory}/{name}"
        if self._place.disk.size(path) != files.file_size:
            return None
        header = self._place.disk.peek(path, 0, HEADER_SIZE)
        end_ms = int.from_bytes(header[8:16], "big", signed=True)
        end_offset = int.from_bytes(header[24:32], "big", signed=True)
        next_entry = int.from_bytes(header[36:40], "big", signed=True)
        if next_entry > files.entry_max:
            return None
        if not self._is_clean:
            is_synced = next_entry == files.entry_max and end_ms <= self._checkpoint.index_ms
            if not is_synced or end_offset >= self._start:
                return None
        return files.open(name, is_last=is_last)

    # The log.

    def _rebuild(self) -> None:
        """Enter the trusted part of the log into what lacks it."""
        replay, index = self._replay, self._writer.index
        begin = self._start
        if self.rebuild_queues:
            begin = int(self._log.begin)
        if index is not None and self._index_begin is None and self.rebuild_index:
            self._index_begin = int(self._log.begin)
        if self._index_begin is not None:
            begin = min(begin, max(self._index_begin, int(self._log.begin)))
        if index is not None:
            replay.indexed_to = index.end_offset
            if self._index_begin is not None and index.files:
                self._finish_last_indexed(index)
        replay.queued_to = -1 if self.rebuild_queues else NOTHING
        replay.verify_body = False
        at = begin
        while at < self._start:
            at = self._run(at, self._start)
            if at < self._start:
                segment = self._log.segment_at(at)
                following = int(segment.base + segment.size)
                log.error("damaged record, segment skipped from=%d to=%d", at, following)
                at = following

    def _finish_last_indexed(self, index: Index) -> None:
        """The last file may have become full in the middle of a record's keys: add the others."""
        offset = index.end_offset
        if offset < self._log.begin:
            return
        segment = self._log.segment_at(offset)
        size = self._sound_size(segment, offset)
        if size <= 0:
            return
        data = self._place.disk.peek(segment.path, offset - int(segment.base), size)
        keys = Index([], _no_file)
        self._replay.writer = Writer(self._log, keys, self._place.queue_files)
        self._replay.queued_to = NOTHING
        self._replay.indexed_to = -1
        self._replay.run(data, offset, size)
        self._replay.writer = self._writer
        self._replay.indexed_to = offset
        for hashed, log_offset, store_ms in keys.waiting[index.files[-1].last_keys_of(offset) :]:
            index.put(hashed, log_offset, store_ms)

    def _walk(self) -> int:
        """Check and enter everything from `_start` on; where the log ends."""
        self._replay.queued_to = self._start - 1
        if self._is_clean and not self.rebuild_queues:
            # What is missing up to here was removed by somebody, as a deleted topic's queues are.
            self._replay.queued_to = max(self._queue_end, self._trusted or -1)
        self._replay.verify_body = self._place.settings.check_crc
        self._replay.count = 0
        last = self._log.segments[-1]
        end = self._run(self._start, int(last.base + last.size))
        if self._replay.misplaced:
            log.error("records beyond the end of their queue count=%d", self._replay.misplaced)
        return end

    def _run(self, at: int, stop: int) -> int:
        """Replay from `at` to `stop`; where it ended, which is before `stop` only after damage.

        A blank record leads to the next segment, and to `stop` from the last one.
        """
        size = WINDOW_SIZE
        while at < stop:
            segment = self._log.segment_at(at)
            segment_end = int(segment.base + segment.size)
            left = min(segment_end, stop) - at
            if left <= 0:
                return at  # The segment that should be here is missing.
            data = self._place.disk.peek(segment.path, at - int(segment.base), min(size, left))
            used = int(self._replay.run(data, at, segment_end - at))
            at += used
            self._tell("log", at, stop)
            if self._replay.stopped == BLANK:
                at = segment_end
            elif self._replay.stopped == UNSOUND or len(data) < min(size, left):
                return at
            elif used == 0:
                if size >= left:
                    return at
                size *= 2
        return min(at, stop)

    # The end.

    def _distrust_if_ahead(self) -> None:
        """Queues and index must not lead behind the end of the log."""
        if not self._is_clean:
            return
        index = self._writer.index
        if self._queue_end >= self.end:
            raise Distrust(f"a queue leads to {self._queue_end}, the log ends at {self.end}")
        if index is not None and index.end_offset >= self.end:
            raise Distrust(f"the index leads to {index.end_offset}, the log ends at {self.end}")

    def _cut(self, end: int) -> None:
        """Remove what lies behind `end` on the disk, and have everything before it synced."""
        files = self._place.segment_files
        segments = self._log.segments
        while len(segments) > 1 and segments[-1].base > end:
            log.info("segment behind the end removed path=%s", segments[-1].path)
            files.remove(segments.pop())
        last = segments[-1]
        at = end - int(last.base)
        behind = any(self._place.disk.peek(last.path, at, 8))
        if behind:
            log.warning("log cut at=%d", end)
        if at < last.size and (behind or not self._is_clean):
            files.cut(last, at)
        for segment in segments:
            if segment.base + segment.size > self._start:
                files.sync(segment)
        self._place.disk.sync_path(files.directory)
        if at >= last.size:  # It ends with a blank record, and no other followed.
            segments.append(files.make(end))

    def _lower_checkpoint(self, record_offset: int, index_ms: int) -> None:
        """Trust less, on the disk, before what was trusted is taken away."""
        lowered = replace(
            self._checkpoint,
            record_offset=min(self._checkpoint.record_offset, record_offset),
            index_ms=min(self._checkpoint.index_ms, index_ms),
        )
        if lowered != self._checkpoint:
            self._checkpoint = lowered
            path = f"{self._place.settings.root}/checkpoint"
            self._place.disk.replace(path, lowered.encode())

    def _tell(self, what: str, done: int, of: int | None = None) -> None:
        now_ms = self._place.clock.mono_ms()
        if now_ms - self._told_ms >= PROGRESS_INTERVAL_MS:
            self._told_ms = now_ms
            log.warning("recovering %s done=%d of=%s", what, done, of)


def _no_file() -> IndexFile | None:
    return None
