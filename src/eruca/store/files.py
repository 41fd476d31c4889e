# SPDX-License-Identifier: Apache-2.0
"""Where the store's files are, and how they are made, found and let go.

    <root>/commitlog/<20 digits>                       named by their first log offset
    <root>/consumequeue/<topic>/<queue id>/<20 digits> named by their first byte
    <root>/index/<yyyyMMddHHmmssSSS>
    <root>/config, checkpoint, abort, lock

Log segments and index files are mapped. Queue files are sparse and read and written in place, with
a bounded number of them open: a broker may have a million queues.
"""

import logging
from collections import OrderedDict
from datetime import datetime, timedelta
from struct import Struct
from typing import final

from eruca.store.consumequeue import ENTRY_SIZE, ConsumeQueue
from eruca.store.disk import Disk, MappedFile
from eruca.store.index import IndexFile, index_file_size
from eruca.store.segment import Segment

log = logging.getLogger("eruca.store")

OPEN_FILES_MAX = 512
PAGE_SIZE = 4096
INDEX_NAME_SIZE = 17
SYNC_ONE_BY_ONE_MAX = 1000
GAP = Struct(">qiq").pack(0, 0x7FFFFFFF, 0)  # Java: what stands before a queue's first entry.


def offset_name(offset: int) -> str:
    return f"{offset:020d}"


def is_offset_name(name: str) -> bool:
    return len(name) == 20 and name.isdigit()


@final
class SegmentFiles:
    """The files of the commit log."""

    def __init__(self, disk: Disk, directory: str, segment_size: int) -> None:
        self._disk = disk
        self.directory = directory
        self.segment_size = segment_size

    def make(self, base: int) -> Segment:
        """The segment that begins at `base`, made when missing. Raises DiskFull."""
        path = f"{self.directory}/{offset_name(base)}"
        return self._segment(base, self._disk.map(path, self.segment_size))

    def open(self) -> list[Segment]:
        """Everything that is there, oldest first.

        Only the last one is written to, so only that one is allocated, and brought to its full
        size if a crash left it shorter.
        """
        self._disk.make_directory(self.directory)
        self._disk.sync_parent(self.directory)
        names = [name for name in self._disk.names(self.directory) if is_offset_name(name)]
        for name in [name for name in names if self._disk.size(f"{self.directory}/{name}") == 0]:
            self._disk.remove(f"{self.directory}/{name}")  # Made just before a crash.
            names.remove(name)
        sizes = [self._disk.size(f"{self.directory}/{name}") for name in names]
        if sizes and sizes[0] != self.segment_size and sizes[0] % PAGE_SIZE == 0 < sizes[0]:
            log.warning("segments keep their size=%d configured=%d", sizes[0], self.segment_size)
            self.segment_size = sizes[0]
        segments = []
        for name, size in zip(names, sizes, strict=True):
            path = f"{self.directory}/{name}"
            is_last = name == names[-1]
            if is_last:
                size = max(size, self.segment_size)
            segments.append(self._segment(int(name), self._disk.map(path, size, allocate=is_last)))
        return segments

    def cut(self, segment: Segment, at: int) -> None:
        """Make everything from byte `at` of the segment on zero."""
        self._disk.cut(segment.path, at, int(segment.size))
        self._disk.allocate(segment.file_id, int(segment.size))

    def sync(self, segment: Segment) -> None:
        self._disk.sync(segment.file_id)

    def _segment(self, base: int, file: MappedFile) -> Segment:
        return Segment(base, file.size, file.path, file.map, file.file_id, self._disk.write_at)

    def release(self, segment: Segment) -> None:
        segment.release()
        self._disk.close(segment.file_id)

    def remove(self, segment: Segment) -> None:
        self.release(segment)
        self._disk.remove(segment.path)


@final
class IndexFiles:
    """The files of the index."""

    def __init__(self, disk: Disk, directory: str, slot_count: int, entry_max: int) -> None:
        self._disk = disk
        self.directory = directory
        self.slot_count = slot_count
        self.entry_max = entry_max

    def make_directory(self) -> None:
        self._disk.make_directory(self.directory)

    def make(self, now_ms: int) -> IndexFile:
        """A new last file, named after the local time as Java names it. Raises DiskFull."""
        moment = datetime.fromtimestamp(now_ms / 1000)
        names = self.names()
        if names:  # Names give the order, whatever the clock does.
            moment = max(moment, _moment_of(names[-1]) + timedelta(milliseconds=1))
        name = f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"
        return self.open(name, is_last=True)

    def open(self, name: str, *, is_last: bool) -> IndexFile:
        path = f"{self.directory}/{name}"
        file = self._disk.map(path, self.file_size, allocate=is_last)
        return IndexFile(
            path, file.map, file.file_id, self._disk.write_at, self.slot_count, self.entry_max
        )

    @property
    def file_size(self) -> int:
        return index_file_size(self.slot_count, self.entry_max)

    def names(self) -> list[str]:
        names = self._disk.names(self.directory)
        return [name for name in names if len(name) == INDEX_NAME_SIZE and name.isdigit()]

    def sync(self, file: IndexFile) -> None:
        self._disk.sync(file.file_id)

    def release(self, file: IndexFile) -> None:
        file.seal()
        self._disk.close(file.file_id)

    def remove(self, file: IndexFile) -> None:
        self.release(file)
        self._disk.remove(file.path)


@final
class QueueDirectory:
    """The files of all consume queues."""

    def __init__(self, disk: Disk, directory: str, file_size: int) -> None:
        self._disk = disk
        self.directory = directory
        self.file_size = file_size
        self._open: OrderedDict[str, int] = OrderedDict()
        self._unsynced: set[str] = set()
        self._grown: set[str] = set()

    def open(self) -> None:
        """Make the directory; if queues are in it, their files keep their size."""
        self._disk.make_directory(self.directory)
        for topic in self._disk.names(self.directory):
            for queue_id in self._disk.names(f"{self.directory}/{topic}"):
                path = f"{self.directory}/{topic}/{queue_id}"
                for name in self._disk.names(path):
                    size = self._disk.size(f"{path}/{name}")
                    if is_offset_name(name) and size % ENTRY_SIZE == 0 < size:
                        if size != self.file_size:
                            log.warning("queue files keep their size=%d", size)
                            self.file_size = size
                        return

    def path_of(self, queue: ConsumeQueue) -> str:
        return f"{self.directory}/{queue.topic.decode()}/{queue.queue_id}"

    def read_at(self, queue: ConsumeQueue, at: int, size: int) -> bytes:
        """`size` bytes of the queue's files from byte `at` on; zeros where there are none."""
        parts = []
        while size > 0:
            base = at - at % self.file_size
            wanted = min(size, base + self.file_size - at)
            path = f"{self.path_of(queue)}/{offset_name(base)}"
            found = b""
            if path in self._open or self._disk.exists(path):
                found = self._disk.read_at(self._file(path), at - base, wanted)
            parts.append(found.ljust(wanted, b"\0"))
            at += wanted
            size -= wanted
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def write_at(self, queue: ConsumeQueue, at: int, data: bytes) -> None:
        """Write entries. Raises DiskFull; then some of `data` may have been written."""
        directory = self.path_of(queue)
        while data:
            base = at - at % self.file_size
            room = base + self.file_size - at
            path = f"{directory}/{offset_name(base)}"
            self._disk.write_at(self._file(path), at - base, data[:room])
            self._unsynced.add(path)
            at += min(room, len(data))
            data = data[room:]

    def begins_file(self, queue: ConsumeQueue) -> bool:
        """Whether what is written next to the queue goes to a file that may be missing."""
        return int(queue.tail_from) * ENTRY_SIZE % self.file_size == 0

    def next_file(self, queue: ConsumeQueue) -> str:
        """The file that what is written next to the queue goes to."""
        at = int(queue.tail_from) * ENTRY_SIZE
        return f"{self.path_of(queue)}/{offset_name(at - at % self.file_size)}"

    def make_files(self, paths: list[str]) -> None:
        """Make those that are missing. Runs in a disk thread; tell `has_grown` afterwards."""
        for path in paths:
            self._disk.make_directory(path.rpartition("/")[0])
            self._disk.close(self._disk.open(path, self.file_size))

    def has_grown(self, queue: ConsumeQueue) -> None:
        """Files were made in the queue's directory."""
        self._has_grown(self.path_of(queue))

    def start_at(self, queue: ConsumeQueue, offset: int) -> None:
        """Begin an empty queue at `offset`; its file gets entries that lead nowhere before it."""
        at = offset * ENTRY_SIZE
        base = at - at % self.file_size
        if at > base:
            self.write_at(queue, base, GAP * ((at - base) // ENTRY_SIZE))
        queue.start_at(offset, offset)

    def cut(self, queue: ConsumeQueue, offset: int) -> None:
        """Remove the entries of `offset` and later from the files, which a crash has left.

        Whoever made them may not have synced their names either.
        """
        at = offset * ENTRY_SIZE
        directory = self.path_of(queue)
        self._has_grown(directory)
        names = [name for name in self._disk.names(directory) if is_offset_name(name)]
        for name in names:
            base = int(name)
            if base >= at:
                self.remove_file(f"{directory}/{name}")
            elif base + self.file_size > at:
                self._disk.cut(f"{directory}/{name}", max(at - base, 0), self.file_size)
                self._unsynced.add(f"{directory}/{name}")

    def remove_below(self, queue: ConsumeQueue, offset: int) -> None:
        """Remove the files that end before `offset`: one entry before it keeps the numbering."""
        directory = self.path_of(queue)
        for name in self._disk.names(directory):
            if is_offset_name(name) and int(name) + self.file_size < offset * ENTRY_SIZE:
                self.remove_file(f"{directory}/{name}")

    def take_unsynced(self) -> list[str]:
        """Files written to, then directories grown, since the last time, for `sync_paths`."""
        paths = sorted(self._unsynced) + sorted(self._grown, reverse=True)
        self._unsynced.clear()
        self._grown.clear()
        return paths

    def sync_paths(self, paths: list[str]) -> None:
        """Make those durable. Runs in a disk thread, and opens them for itself."""
        if len(paths) > SYNC_ONE_BY_ONE_MAX:
            self._disk.sync_all()
            return
        for path in paths:
            self._disk.sync_path(path)

    def remove_file(self, path: str) -> None:
        self._forget(path)
        self._disk.remove(path)

    def remove_queue(self, queue: ConsumeQueue) -> None:
        directory = self.path_of(queue)
        for path in [path for path in self._open if path.startswith(directory + "/")]:
            self._forget(path)
        self._disk.remove_tree(directory)

    def close(self) -> None:
        for file_id in self._open.values():
            self._disk.close(file_id)
        self._open.clear()

    def _file(self, path: str) -> int:
        file_id = self._open.get(path)
        if file_id is not None:
            self._open.move_to_end(path)
            return file_id
        if len(self._open) >= OPEN_FILES_MAX:
            _, oldest = self._open.popitem(last=False)
            self._disk.close(oldest)
        if not self._disk.exists(path):
            directory = path.rpartition("/")[0]
            self._disk.make_directory(directory)
            self._has_grown(directory)
        file_id = self._open[path] = self._disk.open(path, self.file_size)
        return file_id

    def _has_grown(self, directory: str) -> None:
        self._grown.update((directory, directory.rpartition("/")[0], self.directory))

    def _forget(self, path: str) -> None:
        self._unsynced.discard(path)
        file_id = self._open.pop(path, None)
        if file_id is not None:
            self._disk.close(file_id)


def local_hour(now_ms: int) -> int:
    """The hour of the day here, for those who clean by it."""
    return datetime.fromtimestamp(now_ms / 1000).hour


def _moment_of(name: str) -> datetime:
    moment = datetime.strptime(name[:14], "%Y%m%d%H%M%S")
    return moment + timedelta(milliseconds=int(name[14:]))
