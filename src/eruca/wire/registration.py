# SPDX-License-Identifier: Apache-2.0
"""The body of a broker's registration: JSON, or a zlib stream when the header says compressed.

Inflated, every text with an int32 length before it:

    data version (JSON)
    int32 count, that many: "name readQueues writeQueues perm filterType attributesJson"
    filter servers (JSON list)
    int32 count, that many: static-topic mapping (JSON)           brokers from 5.0.0 on

A topic's order flag and system flag do not survive this form. Java's broker 5.5.0 says "not
compressed" even when it has compressed, so `decode` looks at the bytes: JSON begins with `{`.

Called by the broker's registration and by the name server.
"""

import struct
import zlib
from typing import Any, Final

from eruca.errors import BadField
from eruca.wire import javajson
from eruca.wire.bodies import DataVersion, RegisterBrokerBody, TopicConfig, TopicTable
from eruca.wire.codes import V3_0_11, V5_0_0, VERSION
from eruca.wire.fields import from_json, to_json

INFLATED_SIZE_MAX: Final = 128 * 1024 * 1024  # A million topics; more is an attack.


def crc_of(body: bytes) -> int:
    """What the header carries as bodyCrc32."""
    return zlib.crc32(body) & 0x7FFFFFFF


def encode(body: RegisterBrokerBody, *, compressed: bool = False) -> bytes:
    """The body as bytes; the header must say the same of `compressed`, and `crc_of` these bytes."""
    if not compressed:
        return javajson.dumps(to_json(body))
    table = body.topics
    out = [_sized(javajson.dumps(to_json(table.data_version))), _count(table.topics)]
    for topic in table.topics.values():
        attributes = javajson.dumps(topic.attributes).decode()
        line = (
            f"{topic.name} {topic.read_queue_count} {topic.write_queue_count} {topic.perm} "
            f"{topic.filter_type} {attributes}"
        )
        out.append(_sized(line.encode()))
    out.append(_sized(javajson.dumps(body.filter_servers)))
    mappings = table.mapping_infos or {}
    out.append(_count(mappings))
    out += [_sized(javajson.dumps(mapping)) for mapping in mappings.values()]
    return zlib.compress(b"".join(out), 9)


def decode(data: bytes, *, version: int = VERSION) -> RegisterBrokerBody:
    """Read the body that a broker of this version sent; BadField when it makes no sense."""
    if data.lstrip()[:1] == b"{":
        members = javajson.loads(data)
        if version < V3_0_11:  # Java: nothing around the topic table
            return RegisterBrokerBody(from_json(TopicTable, members))
        return from_json(RegisterBrokerBody, members)
    try:
        inflated = zlib.decompressobj().decompress(data, INFLATED_SIZE_MAX)
        return _unpack(_Cursor(inflated), version)
    except (zlib.error, struct.error, ValueError, TypeError, KeyError) as error:
        raise BadField("body", f"is no registration: {error}") from None


def _unpack(cursor: "_Cursor", version: int) -> RegisterBrokerBody:
    table = TopicTable(data_version=from_json(DataVersion, cursor.json()))
    for _ in range(cursor.count()):
        topic = _topic(cursor.text())
        table.topics[topic.name] = topic
    filter_servers = [str(server) for server in cursor.json()]
    if version >= V5_0_0:
        mappings = [cursor.json() for _ in range(cursor.count())]
        table.mapping_infos = {mapping["topic"]: mapping for mapping in mappings}
    return RegisterBrokerBody(table, filter_servers)


def _topic(line: str) -> TopicConfig:
    name, reads, writes, perm, filter_type, *rest = line.split(" ", 5)
    return from_json(
        TopicConfig,
        {
            "topicName": name,
            "readQueueNums": reads,
            "writeQueueNums": writes,
            "perm": perm,
            "topicFilterType": filter_type,
            "attributes": javajson.loads(rest[0]) if rest else None,
        },
    )


class _Cursor:
    """Where we are in the inflated bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def count(self) -> int:
        (number,) = struct.unpack_from(">i", self._data, self._at)
        self._at += 4
        return int(number)

    def text(self) -> str:
        size = self.count()
        if not 0 <= size <= len(self._data) - self._at:
            raise BadField("body", f"has a text of {size} bytes")
        self._at += size
        return self._data[self._at - size : self._at].decode("utf-8", "replace")

    def json(self) -> Any:
        return javajson.loads(self.text())


def _count(things: dict[str, Any]) -> bytes:
    return struct.pack(">i", len(things))


def _sized(text: bytes) -> bytes:
    return struct.pack(">i", len(text)) + text
