# SPDX-License-Identifier: Apache-2.0
"""What may be deleted, and when; and when there is no room for more.

    disk is full to      percent_max        old segments go, at any hour
                         percent_clean      the oldest go, whatever their age
                         percent_refuse     and sends are refused until there is room

Otherwise segments go at the hours of `delete_hours` once they are older than `kept_hours`. Always
the oldest first, never one that is not synced, never the last. Queues and index follow the log:
what lies wholly below its beginning is removed, a few milliseconds at a time.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from eruca.store.consumequeue import ENTRY_SIZE, ConsumeQueue
from eruca.store.files import local_hour

if TYPE_CHECKING:
    from eruca.store.store import Store

log = logging.getLogger("eruca.store")

HOUR_MS: Final = 3_600_000
MANUAL_ROUNDS: Final = 20  # As Java: a request by hand holds for so many runs.
STEP_MS: Final = 2
STEP_INTERVAL_MS: Final = 20


@final
class Retention:
    """Cleans when it is run; Background runs it."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._manual_rounds = 0
        self._swept_to = int(store.log.begin)
        self._stopped = False

    def stop(self) -> None:
        """Leave the rest to the next start: the store is being closed."""
        self._stopped = True

    def used_percent(self) -> float:
        """How full the disk is that is fuller: the log's or the queues'."""
        store = self._store
        paths = (store.segment_files.directory, store.queue_directory.directory)
        return max(store.disk.used_ratio(path) for path in paths) * 100

    def look_for_room(self) -> float:
        """Say in `disk_full` whether the store may be written to."""
        percent = self.used_percent()
        was_full = self._store.disk_full
        self._store.disk_full = percent >= self._store.settings.disk_percent_refuse
        if self._store.disk_full != was_full:
            what = "refused" if self._store.disk_full else "accepted again"
            log.warning("sends are %s disk_used_percent=%.1f", what, percent)
        return percent

    async def run(self) -> None:
        """Remove what may go now, at most `delete_count_max` segments."""
        store, settings = self._store, self._store.settings
        percent = self.look_for_room()
        is_forced = settings.clean_by_force and percent >= settings.disk_percent_clean
        is_due = is_forced or percent >= settings.disk_percent_max or self._is_hour()
        if self._manual_rounds > 0:
            self._manual_rounds -= 1
            is_due = True
        if is_due:
            await self._remove_segments(is_forced)
        if self._swept_to < store.log.begin:
            begin = int(store.log.begin)
            await self._remove_index_files(begin)
            if await self._sweep_queues(begin):
                self._swept_to = begin

    # By hand.

    def clean_soon(self) -> None:
        """Remove what is old enough at the next runs, whatever the hour."""
        self._manual_rounds = MANUAL_ROUNDS

    def drop_expired_queues(self, is_kept: Callable[[bytes], bool]) -> int:
        """Drop queues all of whose messages are gone, in topics that are not kept; how many.

        Java: such a queue begins at 0 again with its next message.
        """
        store = self._store
        count = 0
        for topic, queues in list(store.writer.topics.items()):
            if is_kept(topic):
                continue
            for queue_id, queue in list(queues.queues.items()):
                if queue.min_offset == queue.max_offset > 0:
                    store.drop_queue(queue)
                    del queues.queues[queue_id]
                    count += 1
            if not queues.queues:
                store.remove_topic(topic)
        return count

    def drop_unused_topics(self, is_kept: Callable[[bytes], bool]) -> list[bytes]:
        """Drop the queues of all topics that are not kept; their names."""
        unused = [topic for topic in self._store.writer.topics if not is_kept(topic)]
        for topic in unused:
            self._store.remove_topic(topic)
        return unused

    # Segments.

    def _is_hour(self) -> bool:
        hour = local_hour(self._store.clock.now_ms())
        return hour in [int(each) for each in self._store.settings.delete_hours.split(";")]

    async def _remove_segments(self, is_forced: bool) -> None:
        store = self._store
        for _ in range(store.settings.delete_count_max):
            segment = store.log.segments[0]
            is_durable = segment.base + segment.size <= store.log.flushed
            if len(store.log.segments) < 2 or not is_durable:
                return
            if not is_forced and not self._is_old(segment.path):
                return
            store.log.drop_first()
            log.info("segment removed path=%s forced=%s", segment.path, is_forced)
            await store.lazy_thread.run(store.segment_files.remove, segment)

    def _is_old(self, path: str) -> bool:
        age_ms = self._store.clock.now_ms() - self._store.disk.changed_ms(path)
        return age_ms >= self._store.settings.kept_hours * HOUR_MS

    # What follows the log.

    async def _remove_index_files(self, begin: int) -> None:
        index = self._store.index
        while index is not None and len(index.files) > 1 and index.files[0].end_offset < begin:
            file = index.files.pop(0)
            await self._store.lazy_thread.run(self._store.index_files.remove, file)
            log.info("index file removed path=%s", file.path)

    async def _sweep_queues(self, begin: int) -> bool:
        clock = self._store.clock
        stop_ns = clock.mono_ns() + STEP_MS * 1_000_000
        for topic in list(self._store.writer.topics):
            queues = self._store.writer.topics.get(topic)
            for queue in [] if queues is None else list(queues.queues.values()):
                if self._stopped:
                    return False
                self._trim(queue, begin)
                if clock.mono_ns() >= stop_ns:
                    await clock.sleep_ms(STEP_INTERVAL_MS)
                    stop_ns = clock.mono_ns() + STEP_MS * 1_000_000
        return True

    def _trim(self, queue: ConsumeQueue, begin: int) -> None:
        """Move the queue's first offset up to the first record that the log still has."""
        low, high = int(queue.min_offset), int(queue.max_offset)
        if low == high or queue.log_offset_of(low) >= begin:
            return
        while low < high:
            middle = (low + high) // 2
            if queue.log_offset_of(middle) >= begin:
                high = middle
            else:
                low = middle + 1
        directory = self._store.queue_directory
        per_file = directory.file_size // ENTRY_SIZE
        if queue.min_offset // per_file != low // per_file:
            directory.remove_below(queue, low)
        queue.min_offset = low
