# SPDX-License-Identifier: Apache-2.0
"""Is a store directory sound? Reads everything, needs no broker, writes nothing.

The log is walked once. Each record must stand in its queue at its own offset, and each queue must
have as many entries that lead into the log as the log has records for it: so entries and records
are one to one. The index must hold the keys of the records, in the order of the log.

What a crash leaves and recovery repairs is a note; what should never be is an error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from eruca.store.auditindex import IndexAudit
from eruca.store.checkpoint import Checkpoint
from eruca.store.consumequeue import ENTRY_SIZE
from eruca.store.disk import Disk
from eruca.store.extended import ADDRESS_MAX
from eruca.store.extent import ENTRY, GAP_SIZE, Extent, extent_of
from eruca.store.files import is_offset_name
from eruca.store.replay import BATCH, LIGHT_PREFIX, MULTI_NAMES, MULTI_OFFSETS, SCHEDULE_TOPIC
from eruca.store.walk import log_files, walk
from eruca.store.writer import in_queue
from eruca.wire.checksum import crc32
from eruca.wire.properties import TAGS, decode_properties, java_hash
from eruca.wire.record import Record, decode_record

FINDINGS_MAX: Final = 1000
CACHED_BLOCKS_MAX: Final = 4096
BLOCK_COUNT: Final = 128
PROPERTY_CRC: Final = "__CRC32#"
PROPERTY_CRC_SIZE: Final = 20


@dataclass(frozen=True, slots=True)
class Finding:
    is_error: bool
    where: str
    problem: str


@dataclass(slots=True)
class Report:
    """What was seen. Sound means: no error."""

    segment_count: int = 0
    log_begin: int = 0
    log_end: int = 0
    record_count: int = 0
    queue_count: int = 0
    entry_count: int = 0
    index_file_count: int = 0
    key_count: int = 0
    error_count: int = 0
    note_count: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        return self.error_count == 0

    def error(self, where: str, problem: str) -> None:
        self.error_count += 1
        self._add(Finding(True, where, problem))

    def note(self, where: str, problem: str) -> None:
        self.note_count += 1
        self._add(Finding(False, where, problem))

    def _add(self, finding: Finding) -> None:
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)


def audit(
    disk: Disk,
    root: str,
    log_path: str,
    progress: Callable[[int, int], None] | None = None,
    *,
    index_slot_count: int = 0,
) -> Report:
    """Check the store in `root`. `progress` hears how many bytes of the log are done, of all.

    `index_slot_count` is found out by itself if the log still has the first record indexed.
    """
    return _Audit(disk, root, log_path, progress or (lambda done, of: None), index_slot_count).run()


class _Audit:
    def __init__(
        self,
        disk: Disk,
        root: str,
        log_path: str,
        progress: Callable[[int, int], None],
        index_slot_count: int,
    ) -> None:
        self._disk = disk
        self._root = root
        self._progress = progress
        self._report = Report()
        self._files = log_files(disk, log_path)
        self._was_closed = not disk.exists(f"{root}/abort")
        self._checkpoint = Checkpoint.decode(disk.read(f"{root}/checkpoint"))
        self._queues = _Queues(disk, f"{root}/consumequeue", self._log_begin)
        self._index = IndexAudit(disk, f"{root}/index", self._record_at, index_slot_count)
        names = disk.names(f"{root}/batchconsumequeue")
        self._batch_topics = frozenset(name.encode() for name in names)
        self._without_queue: dict[str, int] = {}

    @property
    def _log_begin(self) -> int:
        return self._files[0].base if self._files else 0

    def run(self) -> Report:
        report = self._report
        report.segment_count = len(self._files)
        report.log_begin = report.log_end = self._log_begin
        self._check_files()
        total = sum(file.size for file in self._files)
        for stretch in walk(self._disk, self._files, self._log_begin):
            if stretch.size == 0:
                self._damage(stretch.log_offset, stretch.is_end)
                continue
            record = decode_record(stretch.data, stretch.at)
            report.log_end = stretch.log_offset + stretch.size
            report.record_count += 1
            self._check_record(record, stretch.data[stretch.at : stretch.at + stretch.size])
            self._progress(report.log_end - report.log_begin, total)
        self._progress(total, total)
        self._check_queues()
        self._check_index()
        self._check_checkpoint()
        return report

    # The log.

    def _record_at(self, log_offset: int) -> Record | None:
        for file in self._files:
            if file.base <= log_offset < file.base + file.size:
                for stretch in walk(self._disk, [file], log_offset, verify=False):
                    if stretch.log_offset == log_offset and stretch.size:
                        return decode_record(stretch.data, stretch.at)
                    break
        return None

    def _check_files(self) -> None:
        if not self._files:
            self._report.note(self._root, "there is no log")
        for before, file in zip(self._files, self._files[1:], strict=False):
            if before.base + before.size != file.base:
                self._report.error(file.path, f"does not follow {before.path}")

    def _damage(self, log_offset: int, is_end: bool) -> None:
        """No record at `log_offset`: the end of the log, or a hole in it."""
        has_data_behind = any(
            file.base > log_offset and any(self._disk.peek(file.path, 0, 8)) for file in self._files
        )
        if has_data_behind:
            self._report.error(f"log {log_offset}", "no sound record, and the log goes on behind")
        elif not is_end and self._was_closed:
            self._report.error(f"log {log_offset}", "no sound record, and not the end either")
        elif not is_end:
            self._report.note(f"log {log_offset}", "torn end: recovery cuts it here")

    def _check_record(self, record: Record, data: bytes) -> None:
        where = f"log {record.log_offset}"
        text = record.properties.decode("utf-8", "replace")
        properties = decode_properties(text)
        crc = properties.get(PROPERTY_CRC)
        if crc is not None and crc != property_crc(data):
            self._report.error(where, "property CRC does not match")
        self._index.expect(record, properties)
        if not in_queue(record.sys_flag):
            return
        is_batch = record.sys_flag & BATCH != 0 or record.topic in self._batch_topics
        if not is_batch:
            topic = record.topic.decode("utf-8", "replace")
            self._check_entry(record, properties, topic, record.queue_id, record.queue_offset)
        for topic, offset in other_queues(properties):
            self._check_entry(record, properties, topic, 0, offset)

    # Queues.

    def _check_entry(
        self, record: Record, properties: dict[str, str], topic: str, queue_id: int, offset: int
    ) -> None:
        report = self._report
        where = f"queue {topic}/{queue_id} offset {offset}"
        entry = self._queues.entry(topic, queue_id, offset)
        if entry is None:
            if not self._queues.has(topic, queue_id):
                self._without_queue[topic] = self._without_queue.get(topic, 0) + 1
            elif not self._was_closed and record.log_offset >= self._checkpoint.record_offset:
                report.note(where, f"missing, recovery adds it: record at {record.log_offset}")
            else:
                report.error(where, f"missing: record at {record.log_offset}")
            return
        log_offset, size, code = entry
        if (log_offset, size) != (record.log_offset, record.size):
            report.error(
                where,
                f"leads to {log_offset} size {size}, "
                f"the record is at {record.log_offset} size {record.size}",
            )
        elif code > ADDRESS_MAX and record.topic != SCHEDULE_TOPIC:
            tags = properties.get(TAGS)
            if code != (java_hash(tags) if tags else 0):
                report.error(where, f"tags code {code} is not that of {tags!r}")

    def _check_queues(self) -> None:
        report = self._report
        for topic, count in self._without_queue.items():
            problem = f"no such queue, {count} records are left of it: was the topic deleted?"
            report.note(f"topic {topic}", problem)
        for (topic, queue_id), queue in self._queues.all():
            report.queue_count += 1
            held = queue.extent.max_offset - queue.extent.min_offset
            report.entry_count += held
            if held != queue.matched:
                beyond = list(self._queues.entries_beyond(topic, queue_id, report.log_end))
                self._check_beyond(f"queue {topic}/{queue_id}", beyond, held, queue.matched)

    def _check_beyond(self, where: str, beyond: list[int], held: int, matched: int) -> None:
        """Entries without records: recovery cuts those that lead behind the end of the log."""
        report = self._report
        for offset in beyond:
            if self._was_closed:
                report.error(f"{where} offset {offset}", "leads nowhere")
            else:
                report.note(f"{where} offset {offset}", "leads nowhere, recovery cuts it")
        if self._was_closed or held != matched + len(beyond):
            problem = f"{held} entries lead into the log, which has {matched} records"
            report.error(where, problem)

    # Index and checkpoint.

    def _check_index(self) -> None:
        report = self._report
        report.index_file_count = self._index.file_count
        report.key_count = self._index.key_count
        for where, problem in self._index.finish():
            if not self._was_closed and self._index.is_unfinished(where):
                report.note(where, f"{problem}; recovery rebuilds it")
            else:
                report.error(where, problem)
        if self._index.missing_count:
            problem = f"{self._index.missing_count} keys of the log are not in it"
            report.note("index", problem)

    def _check_checkpoint(self) -> None:
        path = f"{self._root}/checkpoint"
        data = self._disk.read(path)
        if data is None:
            self._report.note(path, "missing: recovery walks the whole log")
        elif len(data) != 4096:
            self._report.error(path, f"has {len(data)} bytes, not 4096")
        elif self._checkpoint.record_offset >= self._report.log_end > 0:
            problem = f"trusts {self._checkpoint.record_offset}, the log ends before"
            self._report.error(path, problem)


@dataclass(slots=True)
class _Queue:
    extent: Extent
    matched: int = 0


class _Queues:
    """Queue files, read in blocks of which some are kept."""

    def __init__(self, disk: Disk, directory: str, log_begin: int) -> None:
        self._disk = disk
        self._directory = directory
        self._blocks: dict[tuple[str, int, int], bytes] = {}
        self._known: dict[tuple[str, int], _Queue] = {}
        self.file_size = 0
        for topic in disk.names(directory):
            for name in disk.names(f"{directory}/{topic}"):
                path = f"{directory}/{topic}/{name}"
                if name.isdecimal() and self._size_of_files(path):
                    extent = extent_of(disk, path, self.file_size, log_begin)
                    if extent is not None:
                        self._known[topic, int(name)] = _Queue(extent)

    def has(self, topic: str, queue_id: int) -> bool:
        return (topic, queue_id) in self._known

    def all(self) -> Iterator[tuple[tuple[str, int], _Queue]]:
        yield from self._known.items()

    def entry(self, topic: str, queue_id: int, offset: int) -> tuple[int, int, int] | None:
        """(log offset, size, tags code) at `offset`, counted as matched; None if not there."""
        queue = self._known.get((topic, queue_id))
        if queue is None or not queue.extent.min_offset <= offset < queue.extent.max_offset:
            return None
        queue.matched += 1
        return self._read(topic, queue_id, offset)

    def entries_beyond(self, topic: str, queue_id: int, log_end: int) -> Iterator[int]:
        """Offsets of entries that lead behind the end of the log, or nowhere."""
        extent = self._known[topic, queue_id].extent
        for offset in range(extent.min_offset, extent.max_offset):
            log_offset, size, _ = self._read(topic, queue_id, offset)
            if size <= 0 or size == GAP_SIZE or log_offset + size > log_end:
                yield offset

    def _read(self, topic: str, queue_id: int, offset: int) -> tuple[int, int, int]:
        block_number = offset // BLOCK_COUNT
        block = self._blocks.get((topic, queue_id, block_number))
        if block is None:
            if len(self._blocks) >= CACHED_BLOCKS_MAX:
                self._blocks.clear()
            block = self._read_block(topic, queue_id, block_number)
            self._blocks[topic, queue_id, block_number] = block
        log_offset, size, code = ENTRY.unpack_from(block, offset % BLOCK_COUNT * ENTRY_SIZE)
        return log_offset, size, code

    def _read_block(self, topic: str, queue_id: int, number: int) -> bytes:
        at, end = number * BLOCK_COUNT * ENTRY_SIZE, (number + 1) * BLOCK_COUNT * ENTRY_SIZE
        block = b""
        while at < end:
            base = at - at % self.file_size
            size = min(end, base + self.file_size) - at
            path = f"{self._directory}/{topic}/{queue_id}/{base:020d}"
            block += self._disk.peek(path, at - base, size).ljust(size, b"\0")
            at += size
        return block

    def _size_of_files(self, directory: str) -> int:
        if not self.file_size:
            for name in self._disk.names(directory):
                if is_offset_name(name):
                    self.file_size = self._disk.size(f"{directory}/{name}")
                    break
        return self.file_size


def other_queues(properties: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The light queues in which a record stands beside its own, and its offsets there."""
    names = properties.get(MULTI_NAMES, "").split(",")
    offsets = properties.get(MULTI_OFFSETS, "").split(",")
    if len(names) == len(offsets):
        for name, offset in zip(names, offsets, strict=True):
            if name.startswith(LIGHT_PREFIX) and "/" not in name and offset.isdecimal():
                yield name, int(offset)


def property_crc(data: bytes) -> str:
    """The CRC that Java appends to the properties: ten digits, the lowest first."""
    crc = crc32(data[:-PROPERTY_CRC_SIZE]) & 0x7FFFFFFF
    return str(crc)[::-1].ljust(10, "0")
