# SPDX-License-Identifier: Apache-2.0
"""Stores for tests: small ones that cross every boundary, and the recorded ones."""

import asyncio
import gzip
import json
import struct
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eruca.clock import Clock
from eruca.config import StoreSettings
from eruca.store.disk import Disk
from eruca.store.reader import FOUND, read_slice
from eruca.store.store import Store
from eruca.store.writer import tags_code
from eruca.wire.record import Draft, Record, decode_record

GOLDEN = Path(__file__).parent.parent / "golden" / "stores"
HOST = bytes((127, 0, 0, 1)) + struct.pack(">i", 10911)
MEMORY = 1 << 30


class StillClock(Clock):
    """A clock that stands unless it is moved."""

    def __init__(self, ms: int = 1_700_000_000_000) -> None:
        self.ms = ms

    def now_ms(self) -> int:
        return self.ms

    def mono_ms(self) -> int:
        return self.ms


def small_settings(root: Path, **changes: Any) -> StoreSettings:
    """A segment for some 40 small records, 30 entries per queue file, 60 keys per index file."""
    settings: dict[str, Any] = {
        "segment_size": 8192,
        "message_size_max": 4000,
        "queue_segment_size": 600,
        "index_slot_count": 50,
        "index_entry_count": 60,
    }
    settings.update(changes)
    return StoreSettings(root=str(root), log_path=f"{root}/commitlog", **settings)


def open_store(
    root: Path, *, disk: Disk | None = None, clock: Clock | None = None, **changes: Any
) -> Store:
    settings = small_settings(root, **changes)
    return Store(settings, HOST, disk or Disk(), clock or StillClock(), MEMORY)


def close(store: Store) -> None:
    asyncio.run(store.close())


def abandon(store: Store) -> None:
    """What is left when the process is killed: the files as they are, nothing written any more."""
    store.disk.close(store._lock_id)


def draft_of(
    topic: str, queue_id: int = 0, body: bytes = b"body", properties: dict[str, str] | None = None
) -> Draft:
    draft = Draft()
    draft.topic = topic.encode()
    draft.queue_id = queue_id
    draft.born_host = HOST
    draft.body = body
    text = "".join(f"{key}\x01{value}\x02" for key, value in (properties or {}).items())
    draft.properties = text.encode()
    draft.scan.read(draft.properties)
    draft.tags_code = tags_code(draft)
    return draft


def put(store: Store, draft: Draft, now_ms: int = 1_700_000_000_000) -> Draft:
    """Append and settle."""
    store.writer.append(draft, store.writer.queues_of(draft.topic), now_ms)
    store.writer.settle()
    return draft


def records_of(store: Store, topic: str, queue_id: int, count_max: int = 32) -> Iterator[Record]:
    """Every record that the queue serves, through `read_slice` as a consumer would ask."""
    queue = store.queue(topic.encode(), queue_id)
    if queue is None:
        return
    offset = int(queue.min_offset)
    while offset < queue.max_offset:
        found = read_slice(
            store.log, queue, offset, count_max, 1 << 20, None, store.limits, store.log.end
        )
        assert found.next_offset > offset, f"{topic} {queue_id} stands still at {offset}"
        offset = int(found.next_offset)
        if found.status != FOUND:
            continue
        at = 0
        while at < len(found.body):
            record = decode_record(found.body, at)
            yield record
            at += int(record.size)


def contents_of(store: Store) -> dict[tuple[str, int], list[tuple[int, bytes]]]:
    """(queue offset, body) of everything served, by topic and queue; none that are empty."""
    served = {
        (topic.decode(), queue_id): [
            (int(record.queue_offset), record.body)
            for record in records_of(store, topic.decode(), queue_id)
        ]
        for topic, queues in store.writer.topics.items()
        for queue_id in queues.queues
    }
    return {place: queue for place, queue in served.items() if queue}


@dataclass(frozen=True)
class Recorded:
    """A recorded store, unpacked, and what is in it."""

    root: Path
    manifest: Any
    index_entry_count: int

    def open(self, **changes: Any) -> Store:
        changes = {
            "segment_size": 1048576,
            "message_size_max": 65536,
            "queue_segment_size": 6000,
            "index_slot_count": 500,
            "index_entry_count": self.index_entry_count,
            **changes,
        }
        return open_store(self.root, **changes)


def unpacked(name: str, directory: Path) -> Recorded:
    with tarfile.open(GOLDEN / f"{name}.tar.gz") as archive:
        archive.extractall(directory, filter="data")
    manifest_name = name.removesuffix("-unclean")
    manifest = json.loads(
        gzip.decompress((GOLDEN / f"{manifest_name}.manifest.json.gz").read_bytes())
    )
    return Recorded(directory / name, manifest, 2000 if name.endswith("-ext") else 1500)
