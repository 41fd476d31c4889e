# SPDX-License-Identifier: Apache-2.0
"""The property text of a message, and the hash by which Java knows tags and keys.

    key 0x01 value 0x02 key 0x01 value 0x02 ...

The last 0x02 may be missing in what clients send; the store always writes it. A pair without a
key or without a value vanishes when it is parsed, and the last of two equal keys wins, as in Java.
"""

from typing import Final, final

from librt.strings import read_i32_be, read_i64_be
from mypy_extensions import i64

from eruca.wire.seek import separator_at

NAME_END: Final = 1
PAIR_END: Final = 2

KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
WAIT: Final = "WAIT"
DELAY: Final = "DELAY"
UNIQUE_KEY: Final = "UNIQ_KEY"
RETRY_TOPIC: Final = "RETRY_TOPIC"
REAL_TOPIC: Final = "REAL_TOPIC"
REAL_QUEUE_ID: Final = "REAL_QID"
ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
TRANSACTION: Final = "TRAN_MSG"
REGION: Final = "MSG_REGION"
TRACE_ON: Final = "TRACE_ON"
CLUSTER: Final = "CLUSTER"

# What the broker must look at, change or refuse: a send with one of these leaves the hot path.
SPECIAL: Final = frozenset((
    b"DELAY", b"TRAN_MSG", b"POP_CK", b"INNER_NUM", b"INNER_BASE", b"INNER_MULTI_DISPATCH",
    b"INNER_MULTI_QUEUE_OFFSET", b"__CRC32#", b"_SYS_MSG_PRIORITY_", b"__LITE_TOPIC",
    b"TIMER_DELAY_SEC", b"TIMER_DELAY_MS", b"TIMER_DELIVER_MS", b"TIMER_DEL_UNIQKEY",
    b"MSG_REGION", b"TRACE_ON", b"CLUSTER",
))  # fmt: skip
SPECIAL_FIRST: Final = frozenset(key[0] for key in SPECIAL)

# Names as numbers: comparing them costs nothing.
TAGS_WORD: Final = 0x54414753
KEYS_WORD: Final = 0x4B455953
WAIT_WORD: Final = 0x57414954
UNIQUE_KEY_WORD: Final = 0x554E49515F4B4559


def decode_properties(text: str) -> dict[str, str]:
    """The pairs of a property text, in order."""
    pairs: dict[str, str] = {}
    for pair in text.split("\x02"):
        key, _, value = pair.partition("\x01")
        if key and value:
            pairs[key] = value
    return pairs


def encode_properties(pairs: dict[str, str]) -> str:
    return "".join([f"{key}\x01{value}\x02" for key, value in pairs.items()])


def java_hash(text: str) -> int:
    """Java's String.hashCode: over UTF-16 units, a signed 32-bit number."""
    raw = text.encode("utf-8", "surrogatepass")
    return int(signed_32(fold(0, raw, 0, len(raw))))


def fold(h: i64, data: bytes, at: i64, end: i64) -> i64:
    """Continue Java's string hash `h` (unsigned) over the UTF-8 text `data[at:end]`."""
    while at + 4 <= end:  # Four at a time: each step by itself would wait for the one before.
        w = i64(read_i32_be(data, at)) & 0xFFFFFFFF
        if w & 0x80808080 != 0:
            break
        low = (w >> 24) * 29791 + (w >> 16 & 255) * 961 + (w >> 8 & 255) * 31 + (w & 255)
        h = (h * 923521 + low) & 0xFFFFFFFF
        at += 4
    while at < end:
        c = i64(data[at])
        if c >= 128:
            return _fold_units(h, data[at:end].decode("utf-8", "replace"))
        h = (h * 31 + c) & 0xFFFFFFFF
        at += 1
    return h


def _fold_units(h: i64, text: str) -> i64:
    units = text.encode("utf-16-be", "surrogatepass")
    at: i64 = 0
    while at < len(units):
        h = (h * 31 + i64(units[at]) * 256 + i64(units[at + 1])) & 0xFFFFFFFF
        at += 2
    return h


def signed_32(h: i64) -> i64:
    return h - 0x100000000 if h >= 0x80000000 else h


@final
class PropertyScan:
    """Where a property text has what every send needs; the text itself is not copied.

    `special` means that some property asks for more than storing.
    """

    __slots__ = (
        "keys_at",
        "keys_end",
        "special",
        "tags_at",
        "tags_end",
        "unique_at",
        "unique_end",
        "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tags_at: i64 = 0
        self.tags_end: i64 = 0
        self.keys_at: i64 = 0
        self.keys_end: i64 = 0
        self.unique_at: i64 = 0
        self.unique_end: i64 = 0
        self.waits = True
        self.special = False

    def read(self, data: bytes) -> None:
        self.tags_at = self.tags_end = 0
        self.keys_at = self.keys_end = 0
        self.unique_at = self.unique_end = 0
        self.waits = True
        self.special = False
        at: i64 = 0
        end: i64 = len(data)
        while at < end:
            key_end = separator_at(data, at, end)
            value_end = key_end
            while value_end < end and i64(data[value_end]) != PAIR_END:
                value_end = separator_at(data, value_end + 1, end)
            if key_end > at and value_end > key_end + 1:
                self._pair(data, at, key_end, value_end)
            at = value_end + 1

    def _pair(self, data: bytes, at: i64, key_end: i64, end: i64) -> None:
        size = key_end - at
        if size == 4:
            word = i64(read_i32_be(data, at))
            if word == TAGS_WORD:
                self.tags_at = key_end + 1
                self.tags_end = end
            elif word == KEYS_WORD:
                self.keys_at = key_end + 1
                self.keys_end = end
            elif word == WAIT_WORD:
                self.waits = end - key_end != 6 or data[key_end + 1 : end] != b"false"
        elif size == 8 and read_i64_be(data, at) == UNIQUE_KEY_WORD:
            self.unique_at = key_end + 1
            self.unique_end = end
        elif int(i64(data[at])) in SPECIAL_FIRST and data[at:key_end] in SPECIAL:
            self.special = True
