# SPDX-License-Identifier: Apache-2.0
"""Delay levels: messages that become visible later.

A message with a delay level is stored in SCHEDULE_TOPIC_XXXX, queue level - 1, with its real topic
and queue among its properties; the tags code of its queue entry is the time it is due. Within
a level all wait equally long, so the oldest is always due first, and one timer per level, set to
the moment its next message is due, is all the scheduling there is.

delayOffset.json says how far each level has been delivered. It is saved every few seconds, so
after a crash some messages are delivered twice, never lost.
"""

import logging
from collections.abc import Callable
from typing import final

from librt.strings import read_i64_be

from eruca.broker.persisted import StateFile
from eruca.clock import Clock, Timer
from eruca.errors import CorruptRecord, ErucaError
from eruca.store.consumequeue import ENTRY_SIZE, ConsumeQueue
from eruca.store.store import Store
from eruca.wire.bodies import DataVersion
from eruca.wire.names import SCHEDULE_TOPIC
from eruca.wire.properties import DELAY, REAL_QUEUE_ID, REAL_TOPIC, decode_properties
from eruca.wire.record import Draft, Record
from eruca.wire.reports import DelayOffsetTable

log = logging.getLogger("eruca.broker")

SCHEDULE_TOPIC_BYTES = SCHEDULE_TOPIC.encode()
BATCH_MAX = 256  # Deliveries per turn of the loop; then others have theirs.
RETRY_MS = 100


def draft_of(record: Record) -> Draft:
    """A draft that stores `record` again, as it is."""
    draft = Draft()
    draft.topic = record.topic
    draft.queue_id = record.queue_id
    draft.flag = record.flag
    draft.sys_flag = record.sys_flag
    draft.born_ms = record.born_ms
    draft.born_host = record.born_host
    draft.reconsume_count = record.reconsume_count
    draft.prepared_offset = record.prepared_offset
    draft.body = record.body
    draft.properties = record.properties
    return draft


@final
class Delays:
    """The levels, their offsets and their timers."""

    def __init__(
        self,
        store: Store,
        file: StateFile,
        clock: Clock,
        levels_ms: tuple[int, ...],
        put: Callable[[Draft], None],
        settle: Callable[[], object],
    ) -> None:
        self._store = store
        self._file = file
        self._clock = clock
        self.levels_ms = levels_ms
        self._put = put
        self._settle = settle
        self._timers: dict[int, Timer] = {}
        found = file.load(DelayOffsetTable) or DelayOffsetTable()
        self.offsets = found.offsets
        self._version = found.data_version or DataVersion()
        self._changed = False

    def delay_ms(self, level: int) -> int:
        """How long a message of `level` waits; levels beyond the last are the last."""
        return self.levels_ms[min(level, len(self.levels_ms)) - 1]

    def start(self) -> None:
        for level in range(1, len(self.levels_ms) + 1):
            self._run(level)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.save()

    def arrived(self, queue: ConsumeQueue) -> None:
        """A message came into a level: wake it if it sleeps."""
        level = int(queue.queue_id) + 1
        if level not in self._timers and level <= len(self.levels_ms):
            self._arm(level, 0)

    def save(self) -> None:
        if self._changed:
            self._version = self._version.next(self._clock.now_ms())
            self._changed = not self._file.save(self.as_table())

    def as_table(self) -> DelayOffsetTable:
        return DelayOffsetTable(self.offsets, self._version)

    def _arm(self, level: int, wait_ms: float) -> None:
        self._timers[level] = self._clock.call_later_ms(wait_ms, self._run, level)

    def _run(self, level: int) -> None:
        """Deliver what is due and sleep until the next message is."""
        self._timers.pop(level, None)
        queue = self._store.writer.queue(
            self._store.writer.queues_of(SCHEDULE_TOPIC_BYTES), level - 1
        )
        queue.watched = True
        offset = self.offsets.get(level, 0)
        offset = min(max(offset, queue.min_offset), queue.max_offset)
        entries = queue.entries(offset, BATCH_MAX)
        wait_ms: float | None = None
        for at in range(0, len(entries) - ENTRY_SIZE + 1, ENTRY_SIZE):
            now_ms = self._clock.now_ms()
            due_ms = min(int(read_i64_be(entries, at + 12)), now_ms + self.delay_ms(level))
            if due_ms > now_ms:
                wait_ms = due_ms - now_ms
                break
            if not self._deliver(read_i64_be(entries, at)):
                wait_ms = RETRY_MS
                break
            offset += 1
        if offset != self.offsets.get(level, 0):
            self.offsets[level] = offset
            self._changed = True
            self._settle()
        if wait_ms is None and offset < queue.max_offset:
            wait_ms = 0
        if wait_ms is not None:
            self._arm(level, wait_ms)

    def _deliver(self, log_offset: int) -> bool:
        """Put one due message where it belongs; False to try again a little later."""
        try:
            record = self._store.record_at(log_offset)
        except CorruptRecord as error:
            log.error("a delayed message is lost: it is not in the log any more error=%s", error)
            return True
        pairs = decode_properties(record.properties.decode("utf-8", "replace"))
        topic, queue_id = pairs.get(REAL_TOPIC), pairs.get(REAL_QUEUE_ID)
        if not topic or queue_id is None or DELAY not in pairs or not queue_id.isdigit():
            log.error("a delayed message names no topic offset=%d", log_offset)
            return True
        draft = draft_of(record)
        draft.topic = topic.encode()
        draft.queue_id = int(queue_id)
        try:
            self._put(draft)
        except ErucaError as error:
            log.warning("a delayed message waits offset=%d error=%s", log_offset, error)
            return False
        return True
