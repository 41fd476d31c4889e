# SPDX-License-Identifier: Apache-2.0
"""The same meaning in every form: JSON and binary headers, both heartbeats, compressed bodies."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Names
from .java_client import JavaDriver
from .java_messages import Received, message
from .servers import Cluster, until

COMPRESSED = 0x1
COMPRESSION_TYPES = {"LZ4": 1, "ZSTD": 2, "ZLIB": 3}  # sysFlag bits 8..10.


def test_binary_headers(cluster: Cluster, java_binary: JavaDriver, names: Names) -> None:
    """Everything a message's life needs, in the binary encoding."""
    topic, group = names.topic(), names.group()
    consumer = java_binary.push_consumer(
        cluster,
        group,
        topic,
        "TagA || TagB",
        behaviour={"failPrefix": "bad", "failTimes": 1, "delayLevel": 1},
    )
    sender = java_binary.sender(cluster)
    receipt = sender.send(topic, b"one", tag="TagA", keys="k", properties={"colour": "blaü"})
    sender.send(topic, b"bad", tag="TagB")
    sender.send(topic, b"unseen", tag="TagC")
    sender.send_batch([message(topic, b"batch%d" % number, tag="TagA") for number in range(3)])
    received = consumer.wait(6)
    one = next(one for one in received if one.body == b"one")
    assert (one.message_id, one.offset_id) == (receipt.message_id, receipt.offset_id)
    assert (one.tag, one.keys, one.properties["colour"]) == ("TagA", "k", "blaü")
    assert {one.body for one in received} == {b"one", b"bad", b"batch0", b"batch1", b"batch2"}
    assert [one.retries for one in received if one.body == b"bad"] == [0, 1]

    reader = java_binary.reader(cluster)
    assert len(reader.read(topic, 6)) == 6
    assert receipt.offset_id is not None
    assert Received.of(reader.call("viewMessage", topic, receipt.offset_id)).body == b"one"


def test_members_of_both_encodings_share_a_group(
    cluster: Cluster, java: JavaDriver, java_binary: JavaDriver, names: Names
) -> None:
    topic, group = names.topic(), names.group()
    members = [driver.push_consumer(cluster, group, topic) for driver in (java, java_binary)]

    def halves() -> bool:
        held = [[queue for queue in member.assigned if queue.topic == topic] for member in members]
        return [len(some) for some in held] == [2, 2]

    until(halves, "each has half")
    java.sender(cluster).send_many(topic, [b"j%d" % number for number in range(20)])
    java_binary.sender(cluster).send_many(topic, [b"b%d" % number for number in range(20)])
    until(lambda: sum(len(member.received) for member in members) == 40, "all are received")
    assert all(member.received for member in members)


@pytest.mark.parametrize("encoding", ["JSON", "ROCKETMQ"])
@pytest.mark.parametrize("server", ["broker", "nameserver"])
def test_the_encoding_of_an_answer(
    cluster: Cluster, java: JavaDriver, encoding: str, server: str
) -> None:
    """Java 5 answers in the encoding it is configured for, Java 4 and Eruca in the question's."""
    answer = java.remote(getattr(cluster, server), 60_000, encoding=encoding)
    assert answer.encoding == ("JSON" if cluster.kind == "java" else encoding)


def test_heartbeat_v2(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    """Java: after a full heartbeat only its fingerprint is sent, until the broker asks again."""
    topic, group = names.topic(), names.group()
    settings: dict[str, Any] = {"useHeartbeatV2": True, "heartbeatBrokerInterval": 500}
    first = java.push_consumer(cluster, group, topic, "TagA", **settings)
    sender = java.sender(cluster)
    sender.send(topic, b"one", tag="TagA")
    first.wait(1)
    second = java.push_consumer(cluster, group, topic, "TagA", **settings)

    def halves() -> bool:
        held = [[q for q in member.assigned if q.topic == topic] for member in (first, second)]
        return [len(some) for some in held] == [2, 2]

    until(halves, "two share")
    sender.send_many(topic, [b"m%d" % number for number in range(20)], tag="TagA")
    until(lambda: len(first.received) + len(second.received) >= 21, "all are received")
    # Fingerprints keep the members alive, and their subscriptions known.
    connection = java.admin(cluster).call("examineConsumerConnectionInfo", group)
    assert len(connection["connectionSet"]) == 2
    assert connection["subscriptionTable"][topic]["subString"] == "TagA"


@pytest.mark.parametrize("kind", sorted(COMPRESSION_TYPES))
def test_compressed_bodies(cluster: Cluster, java: JavaDriver, names: Names, kind: str) -> None:
    topic, group = names.topic(queues=1), names.group()
    producer = java.producer(cluster, group, compressType=kind, compressMsgBodyOverHowmuch=100)
    body = b"press me " * 1000
    producer.send(topic, body)
    producer.send(topic, b"short")
    raw_reader = java.pull_consumer(cluster, names.group(), decodeDecompressBody=False)
    stored = raw_reader.read(topic, 2)
    assert stored[0].sys_flag & COMPRESSED
    assert stored[0].sys_flag >> 8 & 0x7 == COMPRESSION_TYPES[kind]
    assert stored[0].store_size < 1000  # The broker keeps it as it came.
    assert not stored[1].sys_flag & COMPRESSED

    consumer = java.push_consumer(cluster, names.group(), topic)
    received = consumer.wait(2)
    assert sorted(one.body for one in received) == [body, b"short"]
