# SPDX-License-Identifier: Apache-2.0
"""What users send and what they get: messages, receipts, received messages.

A `Message` is what the caller made; a `Receipt` says where it came to lie; a `ReceivedMessage` is a
stored record, its body decompressed, as consumers see it. zlib is always understood; LZ4 and
Zstandard when the packages `lz4` and `zstandard` are installed.
"""

import importlib
import ipaddress
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from eruca.errors import CorruptRecord
from eruca.wire import properties as names
from eruca.wire.fields import MessageQueue
from eruca.wire.properties import decode_properties, encode_properties
from eruca.wire.record import COMPRESSED, Record, decode_record

__all__ = ["Message", "MessageQueue", "Receipt", "ReceivedMessage", "SendStatus", "read_records"]

BODY_SIZE_MAX: Final = 128 * 1024 * 1024  # Decompressed; what needs more is an attack.

COMPRESSION_MASK: Final = 0x700
COMPRESSION_LZ4: Final = 0x100
COMPRESSION_ZSTD: Final = 0x200
COMPRESSION_ZLIB: Final = 0x300  # Java: 0 means zlib as well, from clients that knew no other.


class SendStatus(IntEnum):
    """What a stored message has survived so far; in each case it is stored once."""

    SEND_OK = 0
    FLUSH_DISK_TIMEOUT = 10  # Not yet on the disk of the master.
    SLAVE_NOT_AVAILABLE = 11  # No replica that could have it.
    FLUSH_SLAVE_TIMEOUT = 12  # Not yet on a replica.


@dataclass(slots=True)
class Message:
    """A message to send. `keys` are what it can be looked up by later."""

    topic: str
    body: bytes
    tag: str | None = None
    keys: Sequence[str] = ()
    properties: dict[str, str] = field(default_factory=dict)
    flag: int = 0

    def property_text(self, message_id: str) -> str:
        """All properties as they travel, with the id under which the message can be found."""
        pairs = {**self.properties, names.UNIQUE_KEY: message_id, names.WAIT: "true"}
        if self.tag:
            pairs[names.TAGS] = self.tag
        if self.keys:
            pairs[names.KEYS] = " ".join(self.keys)
        return encode_properties(pairs)


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where a message lies. `message_id` was made by the sender, `offset_id` by the broker."""

    status: SendStatus
    message_id: str
    offset_id: str
    queue: MessageQueue
    queue_offset: int
    transaction_id: str | None = None
    recall_handle: str | None = None


@dataclass(slots=True)
class ReceivedMessage:
    """A message as it was stored."""

    topic: str
    body: bytes
    properties: dict[str, str]
    queue: MessageQueue
    queue_offset: int
    log_offset: int
    message_id: str
    offset_id: str
    born_ms: int
    born_host: str
    store_ms: int
    store_host: str
    reconsume_count: int
    flag: int
    sys_flag: int
    size: int  # Of the whole record.

    @property
    def tag(self) -> str | None:
        return self.properties.get(names.TAGS)

    @property
    def keys(self) -> list[str]:
        return self.properties.get(names.KEYS, "").split()


def read_records(data: bytes, broker_name: str) -> list[ReceivedMessage]:
    """The messages in the body of a pull answer. Raises CorruptRecord."""
    messages = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size < 4 or at + size > len(data):
            raise CorruptRecord(at, f"{size} bytes of an answer that has {len(data) - at} left")
        try:
            record = decode_record(data, at)
        except (IndexError, ValueError) as error:
            raise CorruptRecord(at, f"in an answer: {error}") from None
        messages.append(received(record, broker_name))
        at += size
    return messages


def received(record: Record, broker_name: str) -> ReceivedMessage:
    """A record as consumers see it. Raises CorruptRecord when the body does not decompress."""
    pairs = decode_properties(record.properties.decode("utf-8", "replace"))
    topic = record.topic.decode("utf-8", "replace")
    offset_id = (record.store_host + int(record.log_offset).to_bytes(8, "big")).hex().upper()
    return ReceivedMessage(
        topic=topic,
        body=plain_body(record),
        properties=pairs,
        queue=MessageQueue(topic, broker_name, record.queue_id),
        queue_offset=record.queue_offset,
        log_offset=record.log_offset,
        message_id=pairs.get(names.UNIQUE_KEY, offset_id),
        offset_id=offset_id,
        born_ms=record.born_ms,
        born_host=host_text(record.born_host),
        store_ms=record.store_ms,
        store_host=host_text(record.store_host),
        reconsume_count=record.reconsume_count,
        flag=record.flag,
        sys_flag=record.sys_flag,
        size=record.size,
    )


def host_text(host: bytes) -> str:
    """`address:port` of a host field."""
    address = ipaddress.ip_address(host[:-4])
    text = f"[{address}]" if address.version == 6 else str(address)
    return f"{text}:{int.from_bytes(host[-4:], 'big')}"


def plain_body(record: Record) -> bytes:
    """The body, decompressed when the system flag says that it is compressed."""
    if not record.sys_flag & COMPRESSED:
        return record.body
    kind = record.sys_flag & COMPRESSION_MASK
    try:
        if kind == COMPRESSION_LZ4:
            body: bytes = _optional("lz4.frame", record).decompress(record.body)
        elif kind == COMPRESSION_ZSTD:
            reader = _optional("zstandard", record).ZstdDecompressor().decompressobj()
            body = reader.decompress(record.body)
        else:
            body = _unzipped(record)
    except CorruptRecord:
        raise
    except Exception as error:  # Each codec has its own.
        raise CorruptRecord(record.log_offset, f"body does not decompress: {error}") from None
    return body


def _unzipped(record: Record) -> bytes:
    reader = zlib.decompressobj()
    body = reader.decompress(record.body, BODY_SIZE_MAX)
    if reader.unconsumed_tail:
        raise CorruptRecord(record.log_offset, f"body is more than {BODY_SIZE_MAX} bytes")
    return body


def _optional(module: str, record: Record) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise CorruptRecord(
            record.log_offset, f"body needs {package} to decompress: pip install {package}"
        ) from None
