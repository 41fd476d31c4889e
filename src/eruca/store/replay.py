# SPDX-License-Identifier: Apache-2.0
"""Records of the log into their queues and the index, once more.

Recovery feeds this the log piece by piece. What a queue or the index holds already is left alone,
so replaying twice is the same as replaying once. A record goes where it says it stood: its own
queue offset counts, not the order of arrival.
"""

from collections.abc import Callable
from typing import Final, final

from librt.strings import read_i32_be, read_i64_be
from mypy_extensions import i64

from eruca.store.consumequeue import ConsumeQueue
from eruca.store.writer import TopicQueues, Writer, in_queue, tags_code
from eruca.wire.properties import decode_properties
from eruca.wire.record import (
    BLANK,
    MAGIC_V1,
    MAGIC_V2,
    UNSOUND,
    Draft,
    Record,
    check,
    decode_record,
)

MORE: Final = 1  # The data ends inside a record.
SECTOR_SIZE: Final = 512  # What a disk writes wholly or not at all.
BATCH: Final = 0x80  # One record that holds many messages: it stands in a batch queue.

SCHEDULE_TOPIC: Final = b"SCHEDULE_TOPIC_XXXX"
LIGHT_PREFIX: Final = "%LMQ%"
MULTI_NAMES: Final = "INNER_MULTI_DISPATCH"
MULTI_OFFSETS: Final = "INNER_MULTI_QUEUE_OFFSET"
MULTI_MARK: Final = b"INNER_MULTI_QUEUE_OFFSET\x01"
DELAY_MARK: Final = b"DELAY\x01"


@final
class Replay:
    """Where records go, and what was seen. `stopped` tells why `run` returned."""

    __slots__ = (
        "_batch_topics",
        "_delays_ms",
        "_draft",
        "_start_queue",
        "count",
        "indexed_to",
        "last_ms",
        "last_offset",
        "misplaced",
        "queued_to",
        "stopped",
        "verify_body",
        "writer",
    )  # fmt: skip

    def __init__(
        self,
        writer: Writer,
        batch_topics: frozenset[bytes],
        delays_ms: tuple[int, ...],
        start_queue: Callable[[ConsumeQueue, int], None],
    ) -> None:
        self.writer = writer
        self.queued_to: i64 = -1  # Records up to here stand in their queues.
        self.indexed_to: i64 = -1  # Records up to here have all their keys in the index.
        self.verify_body = True
        self.stopped: i64 = MORE
        self.count: i64 = 0
        self.misplaced: i64 = 0  # Records whose queue lacks entries before them.
        self.last_offset: i64 = -1
        self.last_ms: i64 = 0
        self._batch_topics = batch_topics
        self._delays_ms = delays_ms
        self._start_queue = start_queue
        self._draft = Draft()

    def run(self, data: bytes, log_offset: i64, segment_left: i64) -> i64:
        """Enter the records in `data`, which lies at `log_offset`; how many bytes that were.

        `segment_left` is how many bytes the segment has from `log_offset` on. `stopped` becomes
        BLANK, UNSOUND or MORE.
        """
        at: i64 = 0
        end: i64 = len(data)
        while True:
            size = check(data, at, end, log_offset + at, self.verify_body)
            if size > 0:
                record = decode_record(data, int(at))
                if not self.verify_body or not is_torn(record):
                    self._enter(record)
                    at += size
                    continue
                size = UNSOUND
            self.stopped = size
            is_cut = size == UNSOUND and end < segment_left
            if is_cut and _goes_on(data, at, end, log_offset + at, segment_left - at):
                self.stopped = MORE
            return at

    def _enter(self, record: Record) -> None:
        self.count += 1
        self.last_offset = record.log_offset
        self.last_ms = record.store_ms
        writer = self.writer
        draft = self._draft
        draft.topic = record.topic
        draft.queue_id = record.queue_id
        draft.sys_flag = record.sys_flag
        draft.properties = record.properties
        draft.queue_offset = record.queue_offset
        draft.log_offset = record.log_offset
        draft.size = record.size
        draft.store_ms = record.store_ms
        draft.scan.read(record.properties)
        if not is_file_name(record.topic):
            return
        if record.log_offset > self.queued_to and in_queue(record.sys_flag):
            draft.tags_code = tags_code_of(draft, self._delays_ms)
            if record.sys_flag & BATCH == 0 and record.topic not in self._batch_topics:
                self._enqueue(writer.queues_of(record.topic), record.queue_id, record.queue_offset)
            if MULTI_MARK in record.properties:
                self._enqueue_multi(record.properties.decode("utf-8", "replace"))
        if record.log_offset > self.indexed_to:
            writer.add_keys(draft, writer.queues_of(record.topic))

    def _enqueue(self, queues: TopicQueues, queue_id: i64, offset: i64) -> None:
        queue = self.writer.queue(queues, queue_id)
        if offset < queue.max_offset or offset < 0:
            return
        if offset > queue.max_offset:
            if queue.min_offset == queue.max_offset:
                self._start_queue(queue, int(offset))
            else:  # Java: appended where the queue ends.
                self.misplaced += 1
        draft = self._draft
        queue.append(draft.log_offset, draft.size, draft.tags_code)

    def _enqueue_multi(self, properties: str) -> None:
        """A record may stand in more queues than its own, each with an offset of its own."""
        pairs = decode_properties(properties)
        names = pairs.get(MULTI_NAMES, "").split(",")
        offsets = pairs.get(MULTI_OFFSETS, "").split(",")
        if len(names) != len(offsets):
            return
        for i in range(len(names)):
            topic = names[i].encode()
            offset = offsets[i]
            if names[i].startswith(LIGHT_PREFIX) and is_file_name(topic) and offset.isdecimal():
                self._enqueue(self.writer.queues_of(topic), 0, i64(int(offset)))


def tags_code_of(draft: Draft, delays_ms: tuple[int, ...]) -> i64:
    """The tags code of a stored record: for a delayed message, when it is due."""
    if draft.topic == SCHEDULE_TOPIC and DELAY_MARK in draft.properties:
        level = decode_properties(draft.properties.decode("utf-8", "replace")).get("DELAY", "")
        if level.isdecimal() and int(level) > 0:
            number = min(int(level), len(delays_ms))
            return draft.store_ms + i64(delays_ms[number - 1])
    return tags_code(draft)


def is_torn(record: Record) -> bool:
    """Whether a sector of what the body's CRC does not cover never reached the disk.

    Segments are zeros before they are written, so such a sector is zeros to its end, or to the
    record's. Topic and properties stand at the end of a record; what stands before the body
    cannot be missing without the sizes not adding up.
    """
    end = record.log_offset + record.size
    at = end - 2 - len(record.properties) - len(record.topic)
    sector = at + SECTOR_SIZE - 1
    sector -= sector % SECTOR_SIZE
    text = record.topic + b"??" + record.properties
    while sector < end:
        sector_end = sector + SECTOR_SIZE
        if sector_end > end:
            sector_end = end
        if text[sector - at : sector_end - at].count(0) == sector_end - sector:
            return True
        sector = sector_end
    return False


def is_file_name(topic: bytes) -> bool:
    """Whether a directory may bear this name: a damaged record must not lead out of the store."""
    return 0 < len(topic) < 256 and b"/" not in topic and b"\0" not in topic and topic[0] != 46


def _goes_on(data: bytes, at: i64, end: i64, log_offset: i64, segment_left: i64) -> bool:
    """Whether what begins at `at` looks like a record of which the data holds only a part."""
    left = end - at
    if left < 36:
        return segment_left > left
    size = i64(read_i32_be(data, at))
    magic = i64(read_i32_be(data, at + 4))
    if magic != MAGIC_V1 and magic != MAGIC_V2:
        return False
    return left < size <= segment_left and read_i64_be(data, at + 28) == log_offset


__all__ = ["BLANK", "MORE", "UNSOUND", "Replay", "is_file_name", "tags_code_of"]
