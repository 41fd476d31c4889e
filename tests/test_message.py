# SPDX-License-Identifier: Apache-2.0
"""Received messages: bodies, compressed or not, and records that are not sound."""

import importlib.util
import zlib

import pytest
from librt.strings import BytesWriter

from eruca import message
from eruca.errors import CorruptRecord
from eruca.message import read_records
from eruca.wire.record import BORN_HOST_V6, Draft, record_size, write_record

HOST = bytes((10, 0, 0, 1)) + (10911).to_bytes(4, "big")
HOST_V6 = bytes(15) + b"\x01" + (5).to_bytes(4, "big")


def record(body: bytes, sys_flag: int = 0, born_host: bytes = HOST) -> bytes:
    draft = Draft()
    draft.topic = b"t"
    draft.born_host = born_host
    draft.sys_flag = sys_flag
    draft.body = body
    draft.properties = b"UNIQ_KEY\x01ID\x02"
    draft.log_offset = 77
    draft.size = record_size(draft, HOST)
    out = BytesWriter()
    write_record(out, draft, HOST)
    return out.getvalue()


@pytest.mark.parametrize("sys_flag", [0x1, 0x301])
def test_zlib_bodies(sys_flag: int) -> None:
    (read,) = read_records(record(zlib.compress(b"plain"), sys_flag), "b")
    assert read.body == b"plain"
    assert read.sys_flag == sys_flag


@pytest.mark.parametrize(("sys_flag", "package"), [(0x101, "lz4"), (0x201, "zstandard")])
def test_other_codecs_need_their_package(sys_flag: int, package: str) -> None:
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(CorruptRecord, match=f"pip install {package}"):
        read_records(record(b"?", sys_flag), "b")


def test_a_body_that_does_not_decompress() -> None:
    with pytest.raises(CorruptRecord, match="record at 77"):
        read_records(record(b"not zlib", 0x1), "b")


def test_a_body_that_explodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "BODY_SIZE_MAX", 1000)
    with pytest.raises(CorruptRecord, match="more than 1000 bytes"):
        read_records(record(zlib.compress(bytes(1001)), 0x1), "b")


def test_hosts_of_both_kinds() -> None:
    (read,) = read_records(record(b"x", BORN_HOST_V6, HOST_V6), "b")
    assert read.born_host == "[::1]:5"
    assert read.store_host == "10.0.0.1:10911"


def test_half_a_record_is_refused() -> None:
    whole = record(b"x")
    assert len(read_records(whole + whole, "b")) == 2
    for size in (len(whole) + 3, len(whole) + 50):
        with pytest.raises(CorruptRecord):
            read_records((whole + whole)[:size], "b")
