# SPDX-License-Identifier: Apache-2.0
"""Stored messages: written, checked, read; and every doubt is seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter

from eruca.wire.record import (
    BLANK,
    BORN_HOST_V6,
    MAGIC_V1,
    MAGIC_V2,
    UNSOUND,
    Draft,
    check,
    decode_record,
    record_size,
    write_blank,
    write_record,
)

STORE_HOST = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")


def written(draft: Draft, log_offset: int = 0) -> bytes:
    draft.size = record_size(draft, STORE_HOST)
    draft.log_offset = log_offset
    w = BytesWriter()
    write_record(w, draft, STORE_HOST)
    return w.getvalue()


def draft_of(topic: bytes = b"t", body: bytes = b"body", properties: bytes = b"") -> Draft:
    draft = Draft()
    draft.topic = topic
    draft.body = body
    draft.properties = properties
    draft.born_host = bytes(8)
    return draft


@given(
    st.binary(min_size=1, max_size=200),
    st.binary(max_size=300),
    st.binary(max_size=100),
    st.binary(max_size=50),
    st.booleans(),
)
def test_what_is_written_is_read(
    topic: bytes, body: bytes, properties: bytes, added: bytes, is_v6: bool
) -> None:
    draft = draft_of(topic, body, properties)
    draft.added = added
    draft.queue_id, draft.flag, draft.queue_offset = 3, -7, 2**40
    draft.born_ms, draft.store_ms, draft.reconsume_count = 1, 2, 5
    draft.prepared_offset = 99
    if is_v6:
        draft.born_host = bytes(range(20))
        draft.sys_flag = BORN_HOST_V6
    data = written(draft, 1000)
    assert check(data, 0, len(data), 1000, True) == len(data) == draft.size
    record = decode_record(data)
    assert record.magic == (MAGIC_V2 if len(topic) > 127 else MAGIC_V1)
    assert (record.topic, record.body) == (topic, body)
    assert record.properties == properties + added
    assert (record.queue_id, record.flag, record.queue_offset) == (3, -7, 2**40)
    assert (record.born_ms, record.store_ms, record.reconsume_count) == (1, 2, 5)
    assert (record.log_offset, record.prepared_offset) == (1000, 99)
    assert record.born_host == draft.born_host and record.store_host == STORE_HOST


def test_every_bit_of_body_and_frame_counts() -> None:
    data = written(draft_of(body=b"x" * 20, properties=b"KEYS\x01k\x02"))
    body_at, frame = 88, set(range(8)) | set(range(28, 36)) | set(range(84, 88))
    watched = frame | set(range(8, 12)) | set(range(body_at, body_at + 20))
    for at in watched:
        for bit in range(8):
            broken = bytearray(data)
            broken[at] ^= 1 << bit
            assert check(bytes(broken), 0, len(broken), 0, True) != len(data), (at, bit)


@given(st.binary(max_size=300), st.integers(0, 40))
def test_any_bytes_are_judged_without_raising(data: bytes, at: int) -> None:
    check(data, at, len(data), 0, True)


def test_a_record_must_lie_where_it_says() -> None:
    data = written(draft_of(), 500)
    assert check(data, 0, len(data), 500, True) == len(data)
    assert check(data, 0, len(data), 501, True) == UNSOUND


@pytest.mark.parametrize("size", [8, 100])
def test_blanks(size: int) -> None:
    w = BytesWriter()
    write_blank(w, size)
    assert check(w.getvalue() + bytes(size), 0, size, 0, True) == BLANK
