# SPDX-License-Identifier: Apache-2.0
"""Property texts and Java's string hash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.wire.properties import (
    PropertyScan,
    decode_properties,
    encode_properties,
    java_hash,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # From java.lang.String.hashCode
        ("", 0), ("a", 97), ("TagA", 2598919), ("polygenelubricants", -2147483648),
        ("ü", 252), ("😀", 1772899), ("日本", 835047), ("GoldTopic#k", 2003490167),
    ],
)  # fmt: skip
def test_hashes_as_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


WORD = st.text(st.characters(codec="utf-8", exclude_characters="\x01\x02"), min_size=1)


@given(st.dictionaries(WORD, WORD))
def test_round_trip(pairs: dict[str, str]) -> None:
    assert decode_properties(encode_properties(pairs)) == pairs


def test_reads_as_java() -> None:
    assert decode_properties("a\x011\x02b\x01\x02\x01c\x02d\x02a\x012\x02e\x013") == {
        "a": "2", "e": "3",
    }  # fmt: skip


def scan(text: bytes) -> tuple[bytes, bytes, bytes, bool, bool]:
    found = PropertyScan()
    found.read(text)
    return (
        text[found.tags_at : found.tags_end],
        text[found.keys_at : found.keys_end],
        text[found.unique_at : found.unique_end],
        found.waits,
        found.special,
    )


def test_scan_finds_what_a_send_needs() -> None:
    text = b"UNIQ_KEY\x017F00\x02WAIT\x01true\x02KEYS\x01k1 k2\x02TAGS\x01TagA"
    assert scan(text) == (b"TagA", b"k1 k2", b"7F00", True, False)
    assert scan(text + b"\x02WAIT\x01false\x02") == (b"TagA", b"k1 k2", b"7F00", False, False)
    assert scan(b"") == (b"", b"", b"", True, False)
    assert scan(b"TAGS\x01\x02KEYS\x02\x01x") == (b"", b"", b"", True, False)


@pytest.mark.parametrize("key", [b"DELAY", b"TRAN_MSG", b"TIMER_DELAY_SEC", b"CLUSTER", b"POP_CK"])
def test_scan_sees_what_is_special(key: bytes) -> None:
    assert scan(b"a\x01b\x02" + key + b"\x011\x02")[4]
    assert not scan(b"a\x01" + key + b"\x02")[4]


@given(st.binary(max_size=60))
def test_scan_agrees_with_decode(text: bytes) -> None:
    tags, keys, unique, _, _ = scan(text)
    pairs = decode_properties(text.decode("latin-1"))
    found = {"TAGS": tags, "KEYS": keys, "UNIQ_KEY": unique}
    for key, value in found.items():
        if b"\x01" not in value:  # Java splits at the first separator, so does decode.
            assert pairs.get(key, "").encode("latin-1") == value
