# SPDX-License-Identifier: Apache-2.0
"""Where each group is on each queue.

    offsets       "topic@group" -> queue -> the next offset to consume; saved every few seconds
    pull offsets  the same for the next offset to be handed out; memory only
    resets        where an administrator put a group; handed out at its next pull, memory only

A crash forgets the commits since the last save: their messages are consumed again. Topics and
groups have no `@` in their names; the group of a broadcast offset does ("group@broadcast"), and
such keys count for no group.

Java keeps the table in lmqConsumerOffset.json instead of consumerOffset.json when enableLmq is on,
and groups of light queues in a part of their own. Whichever is newer is read, the one that the
setting names is written.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Final

from eruca.broker.persisted import StateFile
from eruca.clock import Clock
from eruca.config import BrokerSettings
from eruca.wire.bodies import DataVersion
from eruca.wire.kept import KeptOffsets
from eruca.wire.names import LMQ_PREFIX
from eruca.wire.reports import OffsetTable

log = logging.getLogger("eruca.broker")

NO_OFFSET: Final = -1

Table = dict[str, dict[int, int]]


class Offsets:
    """The places of all groups."""

    def __init__(
        self, settings: BrokerSettings, file: StateFile, lmq_file: StateFile, clock: Clock
    ) -> None:
        self.settings = settings
        self.version = DataVersion()
        self.table: Table = {}
        self.pull_table: Table = {}
        self.resets: Table = {}
        self.commit_count = 0
        self.file, self._other_file = (lmq_file, file) if settings.lmq else (file, lmq_file)
        self._clock = clock
        self._saved_count = 0
        self._versioned_count = 0

    # The warm path: once per pull.

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Remember that everything before `offset` is consumed."""
        try:
            self.table[f"{topic}@{group}"][queue_id] = offset
        except KeyError:
            self.table[f"{topic}@{group}"] = {queue_id: offset}
        self.commit_count += 1

    def commit_pull(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        try:
            self.pull_table[f"{topic}@{group}"][queue_id] = offset
        except KeyError:
            self.pull_table[f"{topic}@{group}"] = {queue_id: offset}

    # Questions.

    def find(self, group: str, topic: str, queue_id: int) -> int:
        """The group's offset, or NO_OFFSET. A reset that waits to be handed out counts."""
        key = f"{topic}@{group}"
        if self.resets and self.settings.server_side_reset:
            reset = self.resets.get(key, {}).get(queue_id)
            if reset is not None:
                return reset
        return self.table.get(key, {}).get(queue_id, NO_OFFSET)

    def find_pull(self, group: str, topic: str, queue_id: int) -> int:
        return self.pull_table.get(f"{topic}@{group}", {}).get(queue_id, NO_OFFSET)

    def of(self, group: str, topic: str) -> dict[int, int]:
        """All offsets of a group on a topic."""
        return dict(self.table.get(f"{topic}@{group}", {}))

    def topics_of(self, group: str) -> list[str]:
        """Topics on which the group has offsets."""
        return sorted(topic for topic, each in self._pairs() if each == group)

    def groups_of(self, topic: str) -> list[str]:
        """Groups that have offsets on the topic."""
        return sorted(group for each, group in self._pairs() if each == topic)

    def lowest(
        self, topic: str, without: set[str], min_offset_of: Callable[[int], int]
    ) -> dict[int, int]:
        """The lowest offset per queue of all groups but `without`, of those still in the store."""
        lowest: dict[int, int] = {}
        for group in self.groups_of(topic):
            if group in without:
                continue
            for queue_id, offset in self.table[f"{topic}@{group}"].items():
                if offset >= min_offset_of(queue_id):
                    lowest[queue_id] = min(offset, lowest.get(queue_id, offset))
        return lowest

    def as_table(self) -> OffsetTable:
        """What slaves and tools get."""
        topics: dict[str, list[str]] = {}
        for topic, group in self._pairs():
            topics.setdefault(group, []).append(topic)
        return OffsetTable(self.table, self.version, self.pull_table, topics)

    # Resets, copies, removals.

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Put the group to `offset`; a consumer that reads the queue is told at its next pull."""
        self.resets.setdefault(f"{topic}@{group}", {})[queue_id] = offset
        self.commit(group, topic, queue_id, offset)

    def has_reset(self, group: str, topic: str, queue_id: int) -> bool:
        """Whether a reset waits: commits of the consumer, who does not know, are to be ignored."""
        return bool(self.resets) and queue_id in self.resets.get(f"{topic}@{group}", {})

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The reset that a pull must hand out; it waits no longer."""
        if not self.resets:
            return None
        key = f"{topic}@{group}"
        waiting = self.resets.get(key)
        if waiting is None:
            return None
        offset = waiting.pop(queue_id, None)
        if not waiting:
            del self.resets[key]
        return offset

    def clone(self, source_group: str, target_group: str, topic: str) -> None:
        """Put one group where another is."""
        offsets = self.table.get(f"{topic}@{source_group}")
        if offsets is not None:
            self.table[f"{topic}@{target_group}"] = dict(offsets)
            self.commit_count += 1

    def clear_pull(self, group: str, topic: str) -> None:
        self.pull_table.pop(f"{topic}@{group}", None)

    def remove_group(self, group: str) -> None:
        self._remove(lambda key: key.partition("@")[2] == group)

    def remove_topic(self, topic: str) -> None:
        self._remove(lambda key: key.partition("@")[0] == topic)

    def _remove(self, is_doomed: Callable[[str], bool]) -> None:
        for table in (self.table, self.pull_table, self.resets):
            for key in [key for key in table if is_doomed(key)]:
                log.info("offsets removed key=%s offsets=%s", key, table.pop(key))
                self.commit_count += 1

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for key in self.table:
            topic, _, group = key.partition("@")
            if "@" not in group:
                yield topic, group

    # Keeping.

    def load(self) -> None:
        """Read the newer of the two files. Raises ConfigError when one does not read."""
        found, other = self.file.load(KeptOffsets), self._other_file.load(KeptOffsets)
        if other is not None and (found is None or _rank(other) > _rank(found)):
            log.warning("offsets are read from %s, and kept in another file", self._other_file.path)
            found = other
            self.commit_count += 1
        if found is None:
            return
        self.table = found.offsets
        for key, offset in (found.lmq_offsets or {}).items():
            self.table[key] = {0: offset}  # Java: a light queue is one queue.
        self.version = found.version

    def save_if_dirty(self) -> None:
        if self.commit_count == self._saved_count:
            return
        self._advance_version()
        count = self.commit_count
        if self.file.save(self._kept()):
            self._saved_count = count

    def _advance_version(self) -> None:
        """Java: once in so many commits, since slaves copy the table whenever it advances."""
        step = self.settings.offset_version_step
        if not self._saved_count or self.commit_count - self._versioned_count >= step:
            self._versioned_count = self.commit_count
            self.version = self.version.next(self._clock.now_ms())

    def _kept(self) -> KeptOffsets:
        if not self.settings.lmq:
            return KeptOffsets(self.table, self.version)
        light = {key for key in self.table if key.partition("@")[2].startswith(LMQ_PREFIX)}
        plain = {key: each for key, each in self.table.items() if key not in light}
        return KeptOffsets(
            plain, self.version, {key: max(self.table[key].values()) for key in light}
        )


def _rank(kept: KeptOffsets) -> tuple[int, int, int]:
    version = kept.version
    return version.state_version, version.counter, version.timestamp
