# SPDX-License-Identifier: Apache-2.0
"""What we write for the same messages at the same times is what Java wrote, byte for byte."""

from pathlib import Path

import pytest

from eruca.store.replay import BATCH, tags_code_of
from eruca.store.store import DELAYS_MS, Store
from eruca.store.walk import log_files, walk
from eruca.wire.record import Draft, Record, decode_record

from .places import Recorded, close, unpacked


def draft_again(record: Record) -> Draft:
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
    draft.scan.read(record.properties)
    draft.store_ms = record.store_ms
    draft.tags_code = tags_code_of(draft, DELAYS_MS)
    return draft


def write_again(recorded: Recorded, store: Store) -> None:
    """The recorded messages through the writer, as the broker would pass them."""
    directory = f"{recorded.root}/commitlog"
    for stretch in walk(store.disk, log_files(store.disk, directory), 0):
        if stretch.size:
            record = decode_record(stretch.data, stretch.at)
            draft = draft_again(record)
            store.log.store_host = record.store_host
            if draft.sys_flag & BATCH:  # These count messages, not records.
                offset = int(record.queue_offset)
                queues = store.writer.queues_of(draft.topic)
                store.writer.queue(queues, draft.queue_id).start_at(offset, offset)
            store.writer.append(draft, store.writer.queues_of(draft.topic), record.store_ms)
            assert (draft.log_offset, draft.size) == (record.log_offset, record.size)
    store.writer.settle()


@pytest.fixture(params=["golden-store", "golden-store-ext"])
def rewritten(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """(Java's directory, ours)"""
    recorded = unpacked(request.param, tmp_path)
    ours = Recorded(tmp_path / "ours", recorded.manifest, recorded.index_entry_count)
    store = ours.open()
    write_again(recorded, store)
    close(store)
    return recorded.root, ours.root


def test_the_log_is_the_same(rewritten: tuple[Path, Path]) -> None:
    java, ours = rewritten
    for file in (java / "commitlog").iterdir():
        assert (ours / "commitlog" / file.name).read_bytes() == file.read_bytes()


def test_queues_are_the_same(rewritten: tuple[Path, Path]) -> None:
    """But for light queues, which only the broker fills, and addresses of extended ones."""
    java, ours = rewritten
    batch_topics = [path.name for path in (java / "batchconsumequeue").glob("*")]
    extended = (java / "consumequeue_ext").exists()
    for file in (java / "consumequeue").glob("*/*/*"):
        place = file.relative_to(java)
        if place.parts[1].startswith("%LMQ%") or place.parts[1] in batch_topics:
            continue
        theirs, mine = file.read_bytes(), (ours / place).read_bytes()
        if extended:
            theirs, mine = without_tags(theirs), without_tags(mine)
        assert mine == theirs, place


def test_the_index_is_the_same(rewritten: tuple[Path, Path]) -> None:
    java, ours = rewritten
    theirs = [file.read_bytes() for file in sorted((java / "index").iterdir())]
    assert [file.read_bytes() for file in sorted((ours / "index").iterdir())] == theirs


def without_tags(entries: bytes) -> bytes:
    return b"".join(entries[at : at + 12] for at in range(0, len(entries), 20))


def test_rebuilt_queues_and_index_are_the_same(tmp_path: Path) -> None:
    """Recovery, from the log alone, ends with Java's bytes too; light queues included."""
    java = unpacked("golden-store", tmp_path / "java")
    ours = unpacked("golden-store", tmp_path / "ours")
    for name in ("consumequeue", "index"):
        (ours.root / name).rename(tmp_path / name)
    close(ours.open())
    for file in (java.root / "consumequeue").glob("*/*/*"):
        assert (ours.root / file.relative_to(java.root)).read_bytes() == file.read_bytes()
    theirs = [file.read_bytes() for file in sorted((java.root / "index").iterdir())]
    assert [file.read_bytes() for file in sorted((ours.root / "index").iterdir())] == theirs
