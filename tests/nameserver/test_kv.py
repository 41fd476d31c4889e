# SPDX-License-Identifier: Apache-2.0
"""The file of key values: damage, bad entries, limits."""

from typing import cast

import pytest

from eruca.errors import BadField
from eruca.nameserver import kv
from eruca.nameserver.kv import KeyValues
from eruca.store.disk import Disk

from .here import FakeDisk

PATH = "/data/kvConfig.json"
SOUND = b'{"configTable":{"n":{"k":"v"}}}'


def loaded(**files: bytes) -> tuple[KeyValues, FakeDisk]:
    disk = FakeDisk()
    disk.files = {PATH + suffix.replace("_", "."): data for suffix, data in files.items()}
    disk.files = {path.removesuffix(".main"): data for path, data in disk.files.items()}
    table = KeyValues(cast(Disk, disk), PATH)
    table.load()
    return table, disk


def test_no_file_is_an_empty_table() -> None:
    table, _ = loaded()
    assert table.find("n", "k") is None and table.table("n") is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\x00" * 40, b'{"configTable":[]}', b"{}"])
def test_a_damaged_file_gives_way_to_the_one_before(damage: bytes) -> None:
    table, disk = loaded(_main=damage, _bak=SOUND)
    assert table.find("n", "k") == "v"
    assert disk.files[PATH + ".damaged"] == damage


def test_a_lost_file_gives_way_to_the_one_before() -> None:
    table, _ = loaded(_bak=SOUND)
    assert table.find("n", "k") == "v"


def test_two_damaged_files_are_kept_aside() -> None:
    table, disk = loaded(_main=b"{", _bak=b"[")
    assert table.table("n") is None
    assert disk.files[PATH + ".damaged"] == b"{"
    assert disk.files[PATH + ".bak.damaged"] == b"["


def test_bad_entries_are_left_out_and_counted() -> None:
    table, _ = loaded(_main=b'{"configTable":{"n":{"k":"v",7:"x","number":7},"m":3,"e":{}}}')
    assert table.table("n") == {"k": "v"}
    assert table.table("e") == {}
    assert table.bad_entry_count == 3


def test_the_table_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kv, "ENTRY_COUNT_MAX", 2)
    table, _ = loaded()
    table.put("n", "a", "1")
    table.put("m", "b", "2")
    with pytest.raises(BadField, match="the 2 that fit"):
        table.put("n", "c", "3")
    table.put("n", "a", "3")  # A new value for an old key fits.
    assert table.find("n", "a") == "3"


@pytest.mark.parametrize(
    "value", ["broker-a:4;broker-b:4", 'tab\tline\nquote"', "消息", "a\u2028b"]
)
def test_values_come_back_as_they_were(value: str) -> None:
    table, disk = loaded()
    table.put("n", value, value)
    again = KeyValues(cast(Disk, disk), PATH)
    again.load()
    assert again.find("n", value) == value
