# SPDX-License-Identifier: Apache-2.0
"""A stock producer in every way it can send, read back to the last field."""

from __future__ import annotations

import time
import zlib

from .conftest import Names
from .java_client import JavaDriver
from .java_messages import Receipt, message
from .servers import Cluster, until


def test_send_synchronous(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    producer = java.producer(cluster, names.group())
    before_ms = time.time_ns() // 1_000_000
    receipt = producer.send(
        topic, "Grüße".encode(), tag="TagA", keys="k1 k2", flag=7, properties={"colour": "blue"}
    )
    assert receipt.status == "SEND_OK"
    assert receipt.queue.broker == cluster.broker_name
    assert receipt.queue_offset == 0
    assert len(receipt.message_id) == 32
    assert receipt.region == "DefaultRegion"

    [stored] = java.reader(cluster).read(topic, 1)
    assert stored.body == "Grüße".encode()
    assert stored.body_crc == zlib.crc32(stored.body) & 0x7FFFFFFF
    assert (stored.tag, stored.keys, stored.flag) == ("TagA", "k1 k2", 7)
    assert stored.properties["colour"] == "blue"
    assert stored.message_id == receipt.message_id
    assert stored.offset_id == receipt.offset_id
    assert stored.queue == receipt.queue
    assert stored.retries == 0
    assert stored.store_host == cluster.broker
    assert stored.born_host.startswith("127.0.0.1:")
    assert before_ms <= stored.born_ms <= stored.stored_ms + 1
    assert stored.stored_ms <= time.time_ns() // 1_000_000


def test_send_to_a_topic_that_is_made_on_the_way(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.new_topic()
    producer = java.producer(cluster, names.group())
    assert producer.send(topic, b"first").status == "SEND_OK"
    until(lambda: cluster.route(topic), "the new topic is routed")
    assert (
        len(java.reader(cluster).queues(topic)) == 4
    )  # Java: the producer asks for 4, the template allows 8.


def test_queue_offsets_count_up_one_by_one(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.topic(queues=3)
    producer = java.producer(cluster, names.group())
    receipts = [producer.send(topic, b"m%d" % number) for number in range(30)]
    per_queue: dict[int, list[int]] = {}
    for receipt in receipts:
        per_queue.setdefault(receipt.queue.id, []).append(receipt.queue_offset)
    assert all(offsets == list(range(len(offsets))) for offsets in per_queue.values())


def test_send_asynchronous(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    producer = java.producer(cluster, names.group())
    begun = [producer.send_async(topic, b"a%d" % number) for number in range(100)]
    receipts = [Receipt.of(answer.result(30)) for answer in begun]
    assert {receipt.status for receipt in receipts} == {"SEND_OK"}
    stored = {one.message_id: one.body for one in java.reader(cluster).read(topic, 100)}
    assert stored == {
        receipt.message_id: b"a%d" % number for number, receipt in enumerate(receipts)
    }


def test_send_one_way(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    producer = java.producer(cluster, names.group())
    for number in range(50):
        producer.send_oneway(topic, b"o%d" % number)
    stored = java.reader(cluster).read(topic, 50)
    assert sorted(one.body for one in stored) == sorted(b"o%d" % number for number in range(50))


def test_send_a_batch(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    producer = java.producer(cluster, names.group())
    producer.send(topic, b"before")
    batch = [
        message(topic, b"b%d" % number, tag=f"Tag{number}", keys=f"key{number}")
        for number in range(5)
    ]
    receipt = producer.send_batch(batch)
    assert receipt.status == "SEND_OK"
    assert receipt.queue_offset == 1  # Of the first of them.
    stored = java.reader(cluster).read(topic, 6)[1:]
    assert [one.body for one in stored] == [b"b%d" % number for number in range(5)]
    assert [one.queue_offset for one in stored] == [1, 2, 3, 4, 5]
    assert [one.tag for one in stored] == [f"Tag{number}" for number in range(5)]
    assert [one.keys for one in stored] == [f"key{number}" for number in range(5)]
    # Each has an id of its own, and the receipt lists them all.
    assert receipt.message_id.split(",") == [one.message_id for one in stored]
    assert receipt.offset_id is not None
    assert receipt.offset_id.split(",") == [one.offset_id for one in stored]


def test_send_ordered_by_selector(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=4)
    producer = java.producer(cluster, names.group())
    for step in range(5):
        for order in range(8):
            receipt = producer.send_selected(topic, b"%d:%d" % (order, step), number=order)
            assert receipt.queue.id == order % 4
    steps: dict[bytes, list[bytes]] = {}
    for one in java.reader(cluster).read(topic, 40):
        order_name, step_name = one.body.split(b":")
        steps.setdefault(order_name, []).append(step_name)
    assert len(steps) == 8
    assert all(seen == [b"0", b"1", b"2", b"3", b"4"] for seen in steps.values())


def test_send_to_a_chosen_queue(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=4)
    producer = java.producer(cluster, names.group())
    reader = java.reader(cluster)
    third = reader.queues(topic)[2]
    receipt = producer.send(topic, b"here", queue=third)
    assert receipt.queue == third
    [one] = reader.read(topic, 1)
    assert (one.body, one.queue) == (b"here", third)


def test_an_empty_property_and_awkward_text_survive(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.topic(queues=1)
    producer = java.producer(cluster, names.group())
    awkward = {"json": '{"a": [1, "b"]}', "umlaut": "äöü€😀", "equals": "a=b&c"}
    producer.send(topic, bytes(range(256)), properties=awkward)
    [stored] = java.reader(cluster).read(topic, 1)
    assert stored.body == bytes(range(256))
    assert {key: stored.properties[key] for key in awkward} == awkward
