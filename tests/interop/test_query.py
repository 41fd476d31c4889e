# SPDX-License-Identifier: Apache-2.0
"""Finding messages: by either id, by key, by time; and the ends of a queue."""

from __future__ import annotations

import pytest

from .conftest import Names
from .java_client import JavaDriver, JavaError, JavaPullConsumer
from .java_messages import Received
from .servers import Cluster, until

FOREVER_MS = 2**62


def by_key(reader: JavaPullConsumer, topic: str, key: str, count: int = 32) -> list[Received]:
    try:
        found = reader.call("queryMessage", topic, key, count, 0, FOREVER_MS)
    except JavaError as error:  # Java's client makes an error of finding nothing.
        assert error.kind == "MQClientException", error
        return []
    return sorted((Received.of(said) for said in found), key=lambda one: one.log_offset)


def test_by_offset_id(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    receipt = java.sender(cluster).send(topic, b"find me", tag="TagA", keys="k")
    assert receipt.offset_id is not None
    found = Received.of(java.reader(cluster).call("viewMessage", topic, receipt.offset_id))
    assert (found.body, found.tag, found.keys) == (b"find me", "TagA", "k")
    assert (found.topic, found.queue_offset) == (topic, receipt.queue_offset)
    assert found.offset_id == receipt.offset_id


def test_by_unique_key(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    receipt = java.sender(cluster).send(topic, b"find me")

    def found() -> bool:
        try:
            said = java.reader(cluster).call("viewMessage", topic, receipt.message_id)
        except JavaError:
            return False
        one = Received.of(said)
        return one.body == b"find me" and one.message_id == receipt.message_id

    until(found, "the message is in the index")


def test_by_key(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, other = names.topic(), names.topic()
    sender = java.sender(cluster)
    for number in range(10):
        sender.send(topic, b"m%d" % number, keys=f"odd{number % 2} each{number}")
    sender.send(other, b"elsewhere", keys="odd1")
    reader = java.reader(cluster)
    until(lambda: len(by_key(reader, topic, "odd1")) == 5, "five of the key")
    assert [one.body for one in by_key(reader, topic, "odd1")] == [
        b"m1",
        b"m3",
        b"m5",
        b"m7",
        b"m9",
    ]
    assert [one.body for one in by_key(reader, topic, "each4")] == [b"m4"]
    assert [one.body for one in by_key(reader, other, "odd1")] == [b"elsewhere"]
    assert by_key(reader, topic, "nobody") == []
    assert len(by_key(reader, topic, "odd0", count=2)) == 2


def test_by_key_within_a_time(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    java.sender(cluster).send(topic, b"timed", keys="k")
    reader = java.reader(cluster)
    until(lambda: len(by_key(reader, topic, "k")) == 1, "the key is in the index")
    stored_ms = by_key(reader, topic, "k")[0].stored_ms
    around = reader.call("queryMessage", topic, "k", 32, stored_ms - 60_000, stored_ms + 60_000)
    assert len(around) == 1
    with pytest.raises(JavaError):
        reader.call("queryMessage", topic, "k", 32, 0, stored_ms - 60_000)


def test_an_id_that_is_nowhere(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    receipt = java.sender(cluster).send(topic, b"x")
    assert receipt.offset_id is not None
    far = receipt.offset_id[:16] + "00000000FFFFFFF0"
    with pytest.raises(JavaError):
        java.reader(cluster).call("viewMessage", topic, far)


def test_ends_of_a_queue(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=2)
    reader, sender = java.reader(cluster), java.sender(cluster)
    first, second = reader.queues(topic)
    assert (reader.min_offset(first), reader.max_offset(first)) == (0, 0)
    for number in range(5):
        sender.send(topic, b"%d" % number, queue=first)
    # Java enters a message into its queue a moment after it has answered the send.
    until(lambda: reader.max_offset(first) == 5, "five are in the queue")
    assert reader.min_offset(first) == 0
    assert (reader.min_offset(second), reader.max_offset(second)) == (0, 0)


def test_offsets_by_time(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    reader, sender = java.reader(cluster), java.sender(cluster)
    [queue] = reader.queues(topic)
    for number in range(20):
        sender.send(topic, b"%d" % number)
    stored = reader.read(topic, 20)
    times = [one.stored_ms for one in stored]
    assert reader.offset_at(queue, 0) == 0
    assert reader.offset_at(queue, times[0]) == 0
    assert reader.offset_at(queue, times[-1] + 3_600_000) == 20
    for number in (5, 10, 19):
        # Of several messages of one millisecond, the first.
        assert reader.offset_at(queue, times[number]) == times.index(times[number])


def test_the_time_of_the_oldest_message(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    reader = java.reader(cluster)
    [queue] = reader.queues(topic)
    assert reader.call("earliestMsgStoreTime", queue.json()) == -1
    java.sender(cluster).send(topic, b"first")
    [stored] = reader.read(topic, 1)
    assert reader.call("earliestMsgStoreTime", queue.json()) == stored.stored_ms
