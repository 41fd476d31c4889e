# SPDX-License-Identifier: Apache-2.0
"""Questions that consumers rarely and operators often ask: by time, by key, by place in the log.

Time means when a message was stored. It grows along a queue, so two binary searches answer
everything; a step back of the clock makes them inexact there, as in Java.
"""

from typing import TYPE_CHECKING

from eruca.errors import CorruptRecord
from eruca.store.consumequeue import ConsumeQueue
from eruca.store.reader import store_ms_at
from eruca.wire.properties import KEYS, TAGS, UNIQUE_KEY, decode_properties
from eruca.wire.record import Record

if TYPE_CHECKING:
    from eruca.store.store import Store

TAG_PREFIX = "T#"  # Java: how a tag is asked for in the index.


def first_stored_from(store: "Store", queue: ConsumeQueue, ms: int) -> int:
    """The first offset stored at `ms` or later; the queue's end when there is none."""
    low, high = int(queue.min_offset), int(queue.max_offset)
    while low < high:
        middle = (low + high) // 2
        if store_ms_at(store.log, queue, middle) >= ms:
            high = middle
        else:
            low = middle + 1
    return low


def last_stored_to(store: "Store", queue: ConsumeQueue, ms: int) -> int:
    """The last offset stored at `ms` or earlier; the queue's first when there is none."""
    return max(first_stored_from(store, queue, ms + 1) - 1, int(queue.min_offset))


def earliest_ms(store: "Store", queue: ConsumeQueue) -> int:
    """When the oldest message of the queue was stored; -1 for an empty queue."""
    return int(store_ms_at(store.log, queue, queue.min_offset))


def find_messages(
    store: "Store", topic: str, key: str, begin_ms: int, end_ms: int, count_max: int
) -> list[Record]:
    """Messages of `topic` that carry `key`, newest first: a key, a unique key, or T# and a tag.

    The index knows only hashes, so the messages themselves are compared.
    """
    found: list[Record] = []
    seen: set[int] = set()
    wanted = count_max
    while count_max > 0:
        candidates = store.find(topic, key, begin_ms, end_ms, wanted)
        for log_offset in candidates:
            if log_offset in seen:
                continue
            seen.add(log_offset)
            record = _record_or_none(store, log_offset)
            if record is None or not begin_ms <= record.store_ms <= end_ms:
                continue
            if carries(record, topic, key):
                found.append(record)
                if len(found) == count_max:
                    return found
        if len(candidates) < wanted:
            return found
        wanted *= 2  # Some only shared the hash.
    return found


def carries(record: Record, topic: str, key: str) -> bool:
    """Whether the index has `record` under `key`."""
    if record.topic.decode("utf-8", "replace") != topic:
        return False
    properties = decode_properties(record.properties.decode("utf-8", "replace"))
    if key.startswith(TAG_PREFIX) and properties.get(TAGS) == key.removeprefix(TAG_PREFIX):
        return True
    return key == properties.get(UNIQUE_KEY) or key in properties.get(KEYS, "").split(" ")


def _record_or_none(store: "Store", log_offset: int) -> Record | None:
    try:
        return store.record_at(log_offset)
    except CorruptRecord:
        return None
