# SPDX-License-Identifier: Apache-2.0
"""Damage of every kind, and what is left after it."""

import shutil
import struct
from pathlib import Path

import pytest

from eruca.store.audit import Report, audit
from eruca.store.checkpoint import Checkpoint
from eruca.store.disk import Disk
from eruca.store.files import GAP
from eruca.store.store import Store

from .places import HOST, abandon, close, contents_of, draft_of, open_store, put, records_of


def fill(store: Store, count: int, topic: str = "orders", size: int = 100) -> list[int]:
    """So many records with keys; their log offsets."""
    offsets = []
    for _ in range(count):
        queue = store.queue(topic.encode(), 0)
        number = 0 if queue is None else int(queue.max_offset)
        body = b"%d:" % number + b"x" * size
        keys = {"UNIQ_KEY": f"u-{number}", "KEYS": f"k-{number}", "TAGS": "t"}
        offsets.append(int(put(store, draft_of(topic, 0, body, keys)).log_offset))
    return offsets


def numbers_of(store: Store, topic: str = "orders") -> list[int]:
    return [int(record.body.partition(b":")[0]) for record in records_of(store, topic, 0)]


def flip(root: Path, log_offset: int, segment_size: int = 8192) -> None:
    path = root / "commitlog" / f"{log_offset // segment_size * segment_size:020d}"
    data = bytearray(path.read_bytes())
    data[log_offset % segment_size] ^= 1
    path.write_bytes(data)


def checked(root: Path) -> Report:
    return audit(Disk(), str(root), f"{root}/commitlog")


def test_nothing_is_needed_to_begin(tmp_path: Path) -> None:
    store = open_store(tmp_path / "deep" / "store")
    assert store.log.end == 0
    close(store)
    assert checked(tmp_path / "deep" / "store").is_sound


def test_a_killed_store_has_everything(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, 200)
    abandon(store)
    for _ in range(3):
        store = open_store(tmp_path)
        assert numbers_of(store) == list(range(200))
        abandon(store)
    close(open_store(tmp_path))
    assert checked(tmp_path).findings == []


@pytest.mark.parametrize("at", [3, 7, 11, 35, 87, 100])
def test_the_log_ends_at_the_first_doubt(tmp_path: Path, at: int) -> None:
    """A bit flipped in size, magic, CRC, own offset, body size, body."""
    store = open_store(tmp_path)
    offsets = fill(store, 100)
    abandon(store)
    flip(tmp_path, offsets[60] + at)
    store = open_store(tmp_path)
    assert store.log.end == offsets[60]
    assert numbers_of(store) == list(range(60))
    close(store)
    assert checked(tmp_path).findings == []


def test_what_was_cut_never_comes_back(tmp_path: Path) -> None:
    """New records up to where an old one began must not make that one whole again."""
    store = open_store(tmp_path)
    offsets = fill(store, 100)
    abandon(store)
    flip(tmp_path, offsets[60] + 100)
    store = open_store(tmp_path)
    assert fill(store, 1) == [offsets[60]]  # Just as long as the one that was cut.
    abandon(store)
    store = open_store(tmp_path)
    assert numbers_of(store) == list(range(61))
    close(store)


def test_a_torn_end_of_the_properties_is_seen(tmp_path: Path) -> None:
    """The CRC covers the body only; a sector of zeros behind it is a doubt, too."""
    store = open_store(tmp_path)
    put(store, draft_of("orders", 0, b"1", {"KEYS": "k" * 2000}))
    end = int(store.log.end)
    torn = put(store, draft_of("orders", 0, b"2", {"KEYS": "k" * 2000}))
    abandon(store)
    path = tmp_path / "commitlog" / f"{0:020d}"
    data = bytearray(path.read_bytes())
    sector = (int(torn.log_offset) + 1200) // 512 * 512
    data[sector : sector + 512] = bytes(512)
    path.write_bytes(data)
    store = open_store(tmp_path)
    assert store.log.end == end
    close(store)


def test_zeros_that_a_user_sent_are_no_doubt(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, draft_of("orders", 0, bytes(3000), {"KEYS": "\0" * 700}))
    put(store, draft_of("orders", 0, b"", {}))
    abandon(store)
    store = open_store(tmp_path)
    assert len(list(records_of(store, "orders", 0))) == 2
    close(store)


def test_damage_in_the_trusted_part_costs_no_more_than_its_segment(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    offsets = fill(store, 200)
    close(store)
    flip(tmp_path, offsets[60] + 3)  # Its size.
    shutil.rmtree(tmp_path / "index")
    end = offsets[-1]
    store = open_store(tmp_path)
    assert store.log.last_offset == end
    queue = store.queue(b"orders", 0)
    assert queue is not None and (queue.min_offset, queue.max_offset) == (0, 200)
    assert store.find("orders", "k-199", 0, 2**62, 9) == [end]
    assert store.find("orders", "k-0", 0, 2**62, 9) == [0]
    assert store.find("orders", "k-60", 0, 2**62, 9) == []
    close(store)
    assert [finding.where for finding in checked(tmp_path).findings] == [
        "log 13967", "queue orders/0",
    ]  # fmt: skip


def test_a_clean_stop_that_is_none_is_found_out(tmp_path: Path) -> None:
    """The last segments are gone, though queues and checkpoint say otherwise."""
    store = open_store(tmp_path)
    fill(store, 200)
    close(store)
    segments = sorted((tmp_path / "commitlog").iterdir())
    for path in segments[2:]:
        path.unlink()
    store = open_store(tmp_path)
    kept = numbers_of(store)
    assert 0 < len(kept) < 200 and kept == list(range(len(kept)))
    assert fill(store, 1) == [2 * 8192]
    assert store.find("orders", "k-199", 0, 2**62, 9) == []
    close(store)
    assert checked(tmp_path).findings == []


def test_without_a_log_queues_begin_anew(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, 50)
    close(store)
    shutil.rmtree(tmp_path / "commitlog")
    store = open_store(tmp_path)
    assert contents_of(store) == {}
    fill(store, 3)
    close(store)
    store = open_store(tmp_path)
    assert numbers_of(store) == [0, 1, 2]
    close(store)


def test_a_queue_may_begin_above_zero(tmp_path: Path) -> None:
    """The log's beginning is gone, and so are the queues: their numbers go on all the same."""
    store = open_store(tmp_path)
    offsets = fill(store, 200)
    close(store)
    (tmp_path / "commitlog" / f"{0:020d}").unlink()
    shutil.rmtree(tmp_path / "consumequeue")
    first = next(number for number, offset in enumerate(offsets) if offset >= 8192)
    store = open_store(tmp_path)
    queue = store.queue(b"orders", 0)
    assert queue is not None and (queue.min_offset, queue.max_offset) == (first, 200)
    assert numbers_of(store) == list(range(first, 200))
    close(store)
    base = first // 30 * 30
    file = tmp_path / "consumequeue" / "orders" / "0" / f"{base * 20:020d}"
    assert file.read_bytes()[: (first - base) * 20] == GAP * (first - base)
    store = open_store(tmp_path)
    assert numbers_of(store) == list(range(first, 200))
    close(store)
    assert checked(tmp_path).is_sound


def test_records_of_batch_topics_stay_out_of_simple_queues(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    draft = draft_of("batches", 0, b"many", {"UNIQ_KEY": "b", "INNER_NUM": "4", "INNER_BASE": "0"})
    draft.sys_flag = 0x80 | 0x40
    store.log.append(draft, 1)
    single = draft_of("batches", 0, b"one", {"UNIQ_KEY": "s"})
    store.log.append(single, 2)
    store.log.settle()
    (tmp_path / "batchconsumequeue" / "batches" / "0").mkdir(parents=True)
    abandon(store)
    store = open_store(tmp_path)
    assert store.queue(b"batches", 0) is None
    assert store.find("batches", "b", 0, 2**62, 9) == [0]
    close(store)


def test_light_queues_are_rebuilt(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(3):
        properties = {
            "INNER_MULTI_DISPATCH": "%LMQ%one,%LMQ%two,other,%LMQ%../x",
            "INNER_MULTI_QUEUE_OFFSET": f"{number},{number},null,{number}",
        }
        put(store, draft_of("parent", 0, b"%d" % number, properties))
    abandon(store)
    store = open_store(tmp_path)
    for name in ("parent", "%LMQ%one", "%LMQ%two"):
        assert [record.body for record in records_of(store, name, 0)] == [b"0", b"1", b"2"]
    assert store.queue(b"other", 0) is None and store.queue(b"%LMQ%../x", 0) is None
    close(store)


def test_a_record_cannot_lead_out_of_the_store(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    for topic in ("../../evil", "..", ".hidden", "a/b"):
        store.log.append(draft_of(topic, 0, b"x"), 1)
    store.log.settle()
    abandon(store)
    close(open_store(tmp_path / "store"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]
    assert list((tmp_path / "store" / "consumequeue").iterdir()) == []


def test_delayed_records_get_their_time_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for level in ("3", "18", "99"):
        put(store, draft_of("SCHEDULE_TOPIC_XXXX", 2, b"x", {"DELAY": level, "TAGS": "t"}), 1000)
    abandon(store)
    store = open_store(tmp_path)
    queue = store.queue(b"SCHEDULE_TOPIC_XXXX", 2)
    assert queue is not None
    codes = [code for _, _, code in struct.iter_unpack(">qiq", queue.entries(0, 3))]
    assert codes == [1000 + 10_000, 1000 + 7_200_000, 1000 + 7_200_000]
    close(store)


def test_long_topics_and_ipv6_hosts(tmp_path: Path) -> None:
    host = bytes(range(16)) + struct.pack(">i", 10911)
    store = open_store(tmp_path)
    store.log.store_host = host
    draft = draft_of("%RETRY%" + "g" * 200, 0, b"far", {"KEYS": "k"})
    draft.born_host = host
    draft.sys_flag = 0x10
    put(store, draft)
    abandon(store)
    store = open_store(tmp_path)
    (record,) = records_of(store, "%RETRY%" + "g" * 200, 0)
    assert (record.body, record.born_host, record.store_host) == (b"far", host, host)
    close(store)


def test_the_checkpoint_is_never_ahead_of_the_log(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    offsets = fill(store, 100)
    close(store)
    (tmp_path / "abort").write_text("1")
    flip(tmp_path, offsets[99] + 100)
    store = open_store(tmp_path)
    assert store.log.end == offsets[99]
    trusted = Checkpoint.decode((tmp_path / "checkpoint").read_bytes()).record_offset
    assert trusted <= offsets[98]
    close(store)


def test_the_store_host_may_change(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, 3)
    close(store)
    store = open_store(tmp_path)
    assert store.log.store_host == HOST
    fill(store, 3)
    assert numbers_of(store) == list(range(6))
    close(store)


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("number", [60, 61, 77, 86])
def test_a_damaged_queue_is_rebuilt(tmp_path: Path, number: int, is_clean: bool) -> None:
    """An entry in its last file is gone: what follows it must not be overwritten."""
    store = open_store(tmp_path)
    fill(store, 90)
    fill(store, 40, "others")
    close(store)
    path = tmp_path / "consumequeue" / "orders" / "0" / f"{number // 30 * 600:020d}"
    data = bytearray(path.read_bytes())
    data[number % 30 * 20 : (number % 30 + 1) * 20] = bytes(20)
    path.write_bytes(data)
    if not is_clean:
        (tmp_path / "abort").write_text("1")
    store = open_store(tmp_path)
    assert numbers_of(store) == list(range(90))
    assert numbers_of(store, "others") == list(range(40))
    close(store)
    assert checked(tmp_path).findings == []


def test_a_deleted_topic_does_not_come_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, 5, "kept")
    fill(store, 5, "deleted")
    store.remove_topic(b"deleted")
    close(store)
    store = open_store(tmp_path)
    assert set(contents_of(store)) == {("kept", 0)}
    close(store)
