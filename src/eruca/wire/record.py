# SPDX-License-Identifier: Apache-2.0
"""The stored message: what the commit log holds and what a pull answer carries.

    at  size  field                                   at  size  field
     0    4   size of the whole record                48    B   born host: address, port:32
     4    4   magic: version 1, 2, or blank         48+B    8   store time, ms
     8    4   CRC-32 of the body, without its sign  56+B    S   store host: address, port:32
    12    4   queue id                            56+B+S    4   reconsume count
    16    4   user flag                           60+B+S    8   log offset of the half message
    20    8   queue offset                        68+B+S    4   body size, then the body
    28    8   log offset                                 1 | 2   topic size, then the topic
    36    4   system flag                                   2   properties size, then the text
    40    8   born time, ms

B and S are 8 (IPv4) or 20 (IPv6), told by two bits of the system flag. The topic's size has one
byte in version 1 and two in version 2, used for topics of more than 127 characters. A blank
record fills the end of a segment: its size, its magic, and then nothing that counts.
"""

from typing import Final, final

from librt.strings import (
    BytesWriter,
    read_i16_be,
    read_i32_be,
    read_i64_be,
    write_i16_be,
    write_i32_be,
    write_i64_be,
)
from mypy_extensions import i16, i32, i64

from eruca.wire.checksum import crc32
from eruca.wire.properties import PropertyScan

MAGIC_V1: Final = -626843481
MAGIC_V2: Final = -626843477
MAGIC_BLANK: Final = -875286124

BLANK_SIZE_MIN: Final = 8
RECORD_SIZE_MIN: Final = 91  # IPv4 hosts, version 1, no body, no topic, no properties.
TOPIC_SIZE_V1_MAX: Final = 127
PROPERTIES_SIZE_MAX: Final = 32767
CHECKSUM: Final = crc32  # mypyc: a constant is at hand, an imported name is looked up each time.

COMPRESSED: Final = 0x1
MULTI_TAGS: Final = 0x2
TRANSACTION_MASK: Final = 0xC
PREPARED: Final = 0x4
COMMITTED: Final = 0x8
ROLLED_BACK: Final = 0xC
BORN_HOST_V6: Final = 0x10
STORE_HOST_V6: Final = 0x20

STORE_MS_AT: Final = 48  # plus the size of the born host


@final
class Draft:
    """A message on its way into the store: what to write, and, once written, where it lies.

    `scan` tells where `properties` holds tags and keys; `added` is what the broker writes behind
    it, with the separator between them if need be.
    """

    __slots__ = (
        "added",
        "body",
        "born_host",
        "born_ms",
        "flag",
        "log_offset",
        "prepared_offset",
        "properties",
        "queue_id",
        "queue_offset",
        "reconsume_count",
        "scan",
        "size",
        "store_ms",
        "sys_flag",
        "tags_code",
        "topic",
    )  # fmt: skip

    def __init__(self) -> None:
        self.topic = b""
        self.queue_id: i64 = 0
        self.flag: i64 = 0
        self.sys_flag: i64 = 0
        self.born_ms: i64 = 0
        self.born_host = b""
        self.reconsume_count: i64 = 0
        self.prepared_offset: i64 = 0
        self.body = b""
        self.properties = b""
        self.added = b""
        self.scan = PropertyScan()
        self.tags_code: i64 = 0
        self.queue_offset: i64 = 0
        self.log_offset: i64 = 0
        self.size: i64 = 0
        self.store_ms: i64 = 0


def record_size(draft: Draft, store_host: bytes) -> i64:
    size: i64 = RECORD_SIZE_MIN - 16 + len(draft.born_host) + len(store_host)
    size += len(draft.body) + len(draft.topic) + len(draft.properties) + len(draft.added)
    return size + 1 if len(draft.topic) > TOPIC_SIZE_V1_MAX else size


def write_record(w: BytesWriter, draft: Draft, store_host: bytes) -> None:
    """Write `draft`, whose size, offsets and store time are set, as one record."""
    body = draft.body
    topic = draft.topic
    long_topic = len(topic) > TOPIC_SIZE_V1_MAX
    write_i32_be(w, i32(draft.size))
    write_i32_be(w, MAGIC_V2 if long_topic else MAGIC_V1)
    write_i32_be(w, i32(CHECKSUM(body) & 0x7FFFFFFF))
    write_i32_be(w, i32(draft.queue_id))
    write_i32_be(w, i32(draft.flag))
    write_i64_be(w, draft.queue_offset)
    write_i64_be(w, draft.log_offset)
    write_i32_be(w, i32(draft.sys_flag))
    write_i64_be(w, draft.born_ms)
    w.write(draft.born_host)
    write_i64_be(w, draft.store_ms)
    w.write(store_host)
    write_i32_be(w, i32(draft.reconsume_count))
    write_i64_be(w, draft.prepared_offset)
    write_i32_be(w, i32(len(body)))
    w.write(body)
    if long_topic:
        write_i16_be(w, i16(len(topic)))
    else:
        w.append(len(topic))
    w.write(topic)
    write_i16_be(w, i16(len(draft.properties) + len(draft.added)))
    w.write(draft.properties)
    w.write(draft.added)


def write_blank(w: BytesWriter, size: i64) -> None:
    """The head of a blank record of `size` bytes; the rest is whatever the file holds."""
    assert size >= BLANK_SIZE_MIN
    write_i32_be(w, i32(size))
    write_i32_be(w, MAGIC_BLANK)


@final
class Record:
    """A stored message, read."""

    __slots__ = (
        "body",
        "body_crc",
        "born_host",
        "born_ms",
        "flag",
        "log_offset",
        "magic",
        "prepared_offset",
        "properties",
        "queue_id",
        "queue_offset",
        "reconsume_count",
        "size",
        "store_host",
        "store_ms",
        "sys_flag",
        "topic",
    )  # fmt: skip

    def __init__(self) -> None:
        self.size: i64 = 0
        self.magic: i64 = 0
        self.body_crc: i64 = 0
        self.queue_id: i64 = 0
        self.flag: i64 = 0
        self.queue_offset: i64 = 0
        self.log_offset: i64 = 0
        self.sys_flag: i64 = 0
        self.born_ms: i64 = 0
        self.born_host = b""
        self.store_ms: i64 = 0
        self.store_host = b""
        self.reconsume_count: i64 = 0
        self.prepared_offset: i64 = 0
        self.body = b""
        self.topic = b""
        self.properties = b""


def store_ms_of(data: bytes, at: i64) -> i64:
    """The store time of the record at `at`, without decoding the rest."""
    sys_flag = i64(read_i32_be(data, at + 36))
    born_size: i64 = 20 if sys_flag & BORN_HOST_V6 else 8
    return read_i64_be(data, at + STORE_MS_AT + born_size)


# What `check` answers instead of a size.
BLANK: Final = 0
UNSOUND: Final = -1


def check(data: bytes, at: i64, end: i64, log_offset: i64, verify_body: bool) -> i64:
    """Size of the record at `data[at:end]` when it is sound; else BLANK or UNSOUND.

    Sound: a known magic, inner sizes that add up to the size it names, its own log offset where
    it lies, and, with `verify_body`, a body that has its CRC. Nothing here raises, whatever
    the bytes are.
    """
    left = end - at
    if left < BLANK_SIZE_MIN:
        return UNSOUND
    size = i64(read_i32_be(data, at))
    magic = i64(read_i32_be(data, at + 4))
    if magic == MAGIC_BLANK:
        return BLANK
    if (magic != MAGIC_V1 and magic != MAGIC_V2) or size < RECORD_SIZE_MIN or size > left:
        return UNSOUND
    if read_i64_be(data, at + 28) != log_offset:
        return UNSOUND
    sys_flag = i64(read_i32_be(data, at + 36))
    born_size: i64 = 20 if sys_flag & BORN_HOST_V6 else 8
    store_size: i64 = 20 if sys_flag & STORE_HOST_V6 else 8
    record_end = at + size
    p = at + 68 + born_size + store_size
    if p + 4 > record_end:
        return UNSOUND
    body_size = i64(read_i32_be(data, p))
    body_at = p + 4
    p = body_at + body_size
    if body_size < 0 or p + 3 > record_end:
        return UNSOUND
    if magic == MAGIC_V1:
        p += 1 + i64(data[p])
    else:
        p += 2 + i64(read_i16_be(data, p))
    if p + 2 > record_end or p + 2 + i64(read_i16_be(data, p)) != record_end:
        return UNSOUND
    if verify_body and body_size > 0:
        crc = i64(read_i32_be(data, at + 8))
        if i64(CHECKSUM(data[body_at : body_at + body_size]) & 0x7FFFFFFF) != crc:
            return UNSOUND
    return size


def decode_record(data: bytes, at: int = 0) -> Record:
    """Read the record at `at`, which `check` has found sound."""
    r = Record()
    p = i64(at)
    r.size = i64(read_i32_be(data, p))
    r.magic = i64(read_i32_be(data, p + 4))
    r.body_crc = i64(read_i32_be(data, p + 8))
    r.queue_id = i64(read_i32_be(data, p + 12))
    r.flag = i64(read_i32_be(data, p + 16))
    r.queue_offset = read_i64_be(data, p + 20)
    r.log_offset = read_i64_be(data, p + 28)
    r.sys_flag = i64(read_i32_be(data, p + 36))
    r.born_ms = read_i64_be(data, p + 40)
    p += 48
    host_end = p + (20 if r.sys_flag & BORN_HOST_V6 else 8)
    r.born_host = data[p:host_end]
    r.store_ms = read_i64_be(data, host_end)
    p = host_end + 8
    host_end = p + (20 if r.sys_flag & STORE_HOST_V6 else 8)
    r.store_host = data[p:host_end]
    r.reconsume_count = i64(read_i32_be(data, host_end))
    r.prepared_offset = read_i64_be(data, host_end + 4)
    p = host_end + 16
    body_end = p + i64(read_i32_be(data, host_end + 12))
    r.body = data[p:body_end]
    if r.magic == MAGIC_V2:
        p = body_end + 2
        topic_end = p + i64(read_i16_be(data, body_end))
    else:
        p = body_end + 1
        topic_end = p + i64(data[body_end])
    r.topic = data[p:topic_end]
    p = topic_end + 2
    r.properties = data[p : p + i64(read_i16_be(data, topic_end))]
    return r
