# SPDX-License-Identifier: Apache-2.0
"""A broker's registration, plain and compressed, against bytes that Java made."""

import zlib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eruca.errors import BadField
from eruca.wire.bodies import DataVersion, RegisterBrokerBody, TopicConfig, TopicTable
from eruca.wire.codes import V5_0_0
from eruca.wire.header import decode_frame
from eruca.wire.registration import crc_of, decode, encode

from .golden import entries


def recorded(file: str, name: str) -> Any:
    return next(entry for entry in entries(file) if entry["name"] == name)


JAVA = recorded("computed.json", "register-broker-body-compressed")
JAVA_BYTES = bytes.fromhex(JAVA["body_hex"])


def test_javas_compressed_body_is_read() -> None:
    body = decode(JAVA_BYTES)
    topic = TopicConfig("TopicA", 4, 4, 6, attributes={"message.type": "FIFO"})
    assert body.topics.topics == {"TopicA": topic}
    assert body.topics.data_version == DataVersion(0, 1_700_000_000_000, 0)
    assert body.filter_servers == []
    assert crc_of(JAVA_BYTES) == JAVA["bodyCrc32"]


def test_ours_inflates_to_the_same_bytes() -> None:
    again = encode(decode(JAVA_BYTES), compressed=True)
    assert zlib.decompress(again).hex() == JAVA["inflated_hex"]


def test_a_real_registration_is_read() -> None:
    frame = recorded("namesrv.json", "java-register-broker.req")["frame_hex"]
    command = decode_frame(bytes.fromhex(frame))
    assert crc_of(command.body) == int(command.fields["bodyCrc32"])
    body = decode(command.body)
    assert len(body.topics.topics) >= 15
    assert body.topics.topics["TBW102"].perm == 7
    assert decode(encode(body)) == body
    assert decode(encode(body, compressed=True)).topics.topics == body.topics.topics


def test_old_brokers_send_less() -> None:
    bare = decode(b'{"topicConfigTable":{"a":{"topicName":"a"}}}', version=36)
    assert bare.topics.topics == {"a": TopicConfig("a")}
    inflated = zlib.decompress(encode(RegisterBrokerBody(), compressed=True))
    assert decode(zlib.compress(inflated[:-4]), version=V5_0_0 - 1) == RegisterBrokerBody()


def test_mappings_survive() -> None:
    mapping = {"topic": "s", "bname": "b", "totalQueues": 8, "epoch": 1}
    body = RegisterBrokerBody(TopicTable(mapping_infos={"s": mapping}), ["127.0.0.1:1"])
    assert decode(encode(body)) == body
    assert decode(encode(body, compressed=True)) == body


@given(st.integers(0, len(JAVA_BYTES) - 1), st.integers(0, 255))
def test_damage_is_read_or_refused(at: int, byte: int) -> None:
    inflated = bytearray.fromhex(JAVA["inflated_hex"])
    inflated[at % len(inflated)] = byte
    damaged = JAVA_BYTES[:at] + bytes([byte]) + JAVA_BYTES[at + 1 :]
    for data in (damaged, JAVA_BYTES[:at], zlib.compress(bytes(inflated)), bytes(inflated)):
        with suppress(BadField):
            decode(data)


def test_an_empty_body_is_refused() -> None:
    with pytest.raises(BadField):
        decode(b"")
