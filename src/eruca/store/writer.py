# SPDX-License-Identifier: Apache-2.0
"""One message in: into the log, its queue and the index, in the same turn.

There is no dispatcher that runs behind the log, so a reader who sees a record in the log sees it
in its queue. After a crash replay.py enters what the queues and the index had not kept.

A turn, which serves one connection, takes the promise that its answers make. A round of the loop,
which serves all that had something to say, ends with `settle`: one write for all its turns. No
answer may leave before that (flush.py sees to it).
"""

from collections.abc import Callable
from typing import Final, final

from mypy_extensions import i64

from eruca.store.commitlog import CommitLog
from eruca.store.consumequeue import ConsumeQueue, QueueFiles
from eruca.store.index import Index
from eruca.wire.properties import fold, signed_32
from eruca.wire.record import COMMITTED, ROLLED_BACK, TRANSACTION_MASK, Draft

SPACE: Final = 32
NO_PROMISE: Final = -1


@final
class TopicQueues:
    """The queues of one topic, what came in, and the beginnings of its index keys, hashed."""

    __slots__ = ("key_hash", "put_count", "put_size", "queues", "tag_key_hash", "topic")

    def __init__(self, topic: bytes) -> None:
        self.topic = topic
        self.queues: dict[int, ConsumeQueue] = {}
        self.key_hash: i64 = fold(0, topic + b"#", 0, len(topic) + 1)
        self.tag_key_hash: i64 = fold(self.key_hash, b"T#", 0, 2)
        self.put_count: i64 = 0
        self.put_size: i64 = 0


def tags_code(draft: Draft) -> i64:
    """What a queue entry keeps of the tags: Java's hash of their text, 0 without any."""
    scan = draft.scan
    if scan.tags_end <= scan.tags_at:
        return 0
    return signed_32(fold(0, draft.properties, scan.tags_at, scan.tags_end))


@final
class Writer:
    """The way into the store."""

    __slots__ = (
        "_files",
        "_mark_at",
        "_mark_step",
        "_promise",
        "_unsettled",
        "arrived",
        "index",
        "log",
        "on_arrival",
        "on_mark",
        "topics",
    )  # fmt: skip

    def __init__(self, log: CommitLog, index: Index | None, files: QueueFiles) -> None:
        self.log = log
        self.index = index
        self.topics: dict[bytes, TopicQueues] = {}
        self.arrived: list[ConsumeQueue] = []  # Watched queues that grew in this round.
        self.on_arrival: Callable[[list[ConsumeQueue]], None] | None = None
        self._promise: i64 = NO_PROMISE
        self._files = files
        self._unsettled = False
        self.on_mark: Callable[[], None] | None = None
        self._mark_step: i64 = 0
        self._mark_at: i64 = 0

    def mark_every(self, size: int, on_mark: Callable[[], None]) -> None:
        """Have `on_mark` called at the end of a round whenever the log has `size` bytes more."""
        self._mark_step = size
        self._mark_at = self.log.end + size
        self.on_mark = on_mark

    def queues_of(self, topic: bytes) -> TopicQueues:
        found = self.topics.get(topic)
        if found is None:
            found = self.topics[topic] = TopicQueues(topic)
        return found

    def queue(self, queues: TopicQueues, queue_id: i64) -> ConsumeQueue:
        found = queues.queues.get(int(queue_id))
        if found is None:
            found = ConsumeQueue(queues.topic, int(queue_id), self._files)
            queues.queues[int(queue_id)] = found
        return found

    def append(self, draft: Draft, queues: TopicQueues, now_ms: i64) -> None:
        """Store `draft`; its offsets are set. Raises what `CommitLog.append` raises.

        The caller takes the promise at the end of its turn; its answers wait until it is kept.
        """
        self.append_to(self.queue(queues, draft.queue_id), draft, queues, now_ms)

    def append_to(
        self, queue: ConsumeQueue, draft: Draft, queues: TopicQueues, now_ms: i64
    ) -> None:
        """The same, when the queue is known already."""
        stands = in_queue(draft.sys_flag)
        draft.queue_offset = queue.max_offset if stands else 0
        self.log.append(draft, now_ms)
        self._unsettled = True
        queues.put_count += 1
        queues.put_size += draft.size
        if draft.scan.waits:
            self._promise = self.log.end
        elif self._promise == NO_PROMISE:
            self._promise = 0
        if stands:
            queue.append(draft.log_offset, draft.size, draft.tags_code)
            if queue.watched and queue not in self.arrived:
                self.arrived.append(queue)
        self.add_keys(draft, queues)

    def take_promise(self) -> i64:
        """End a turn: the log position that must be durable before its answers leave.

        0 when the system has only to know of what was written; NO_PROMISE when nothing was.
        """
        promise = self._promise
        self._promise = NO_PROMISE
        return promise

    def settle(self) -> None:
        """End a round: what was appended is written, and whoever waits for it is told."""
        if not self._unsettled:
            return
        self.log.settle()
        self._unsettled = False
        if self.index is not None:
            self.index.settle()
        if len(self.arrived) > 0:
            arrived = self.arrived
            self.arrived = []
            if self.on_arrival is not None:
                self.on_arrival(arrived)
        if self.log.end >= self._mark_at and self.on_mark is not None:
            self._mark_at = self.log.end + self._mark_step
            self.on_mark()

    def add_keys(self, draft: Draft, queues: TopicQueues) -> None:
        """Enter a record of the log into the index: unique key, keys, tag, in Java's order."""
        index = self.index
        if index is None or draft.sys_flag & TRANSACTION_MASK == ROLLED_BACK:
            return
        scan = draft.scan
        text = draft.properties
        if scan.unique_end > scan.unique_at:
            h = fold(queues.key_hash, text, scan.unique_at, scan.unique_end)
            index.put(h, draft.log_offset, draft.store_ms)
        at = scan.keys_at
        while at < scan.keys_end:
            end = at
            while end < scan.keys_end and i64(text[end]) != SPACE:
                end += 1
            if end > at:
                index.put(fold(queues.key_hash, text, at, end), draft.log_offset, draft.store_ms)
            at = end + 1
        if scan.tags_end > scan.tags_at:
            h = fold(queues.tag_key_hash, text, scan.tags_at, scan.tags_end)
            index.put(h, draft.log_offset, draft.store_ms)


def in_queue(sys_flag: i64) -> bool:
    """Whether a record stands in its queue: prepared and rolled back ones do not."""
    kind = sys_flag & TRANSACTION_MASK
    return kind == 0 or kind == COMMITTED
