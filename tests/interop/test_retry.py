# SPDX-License-Identifier: Apache-2.0
"""Messages that fail: delivered again by level, until the dead-letter queue has them.

The brokers of these tests wait one second at every delay level.
"""

from __future__ import annotations

from .conftest import Names, create_topic
from .java_client import JavaDriver
from .servers import Cluster, until


def test_a_failed_message_comes_again(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(), names.group()
    consumer = java.push_consumer(
        cluster, group, topic, behaviour={"failPrefix": "bad", "failTimes": 2, "delayLevel": 1}
    )
    sender = java.sender(cluster)
    receipt = sender.send(topic, b"bad", tag="TagA", keys="k", properties={"colour": "red"})
    sender.send(topic, b"good")
    until(lambda: len(consumer.received) == 4, "three tries and the good one", limit_s=30)

    tries = [one for one in consumer.received if one.body == b"bad"]
    assert [one.retries for one in tries] == [0, 1, 2]
    assert [one.done for one in tries] == [False, False, True]
    for one in tries:
        # To the listener it is the same message of the same topic.
        assert one.topic == topic
        assert one.message_id == receipt.message_id
        assert (one.tag, one.keys, one.properties["colour"]) == ("TagA", "k", "red")
    again = tries[-1]
    assert again.properties["RETRY_TOPIC"] == topic
    assert again.properties["ORIGIN_MESSAGE_ID"] == tries[0].offset_id
    assert tries[1].stored_ms - tries[0].stored_ms >= 900


def test_levels_of_the_broker_when_the_client_names_none(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic, group = names.topic(), names.group()
    consumer = java.push_consumer(
        cluster, group, topic, behaviour={"failPrefix": "bad", "failTimes": 1, "delayLevel": 0}
    )
    java.sender(cluster).send(topic, b"bad")
    until(lambda: len(consumer.received) == 2, "the second try", limit_s=30)
    # Java: level 0 asks the broker, whose first answer is level 3.
    assert [one.retries for one in consumer.received] == [0, 1]


def test_dead_letters(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(), names.group()
    consumer = java.push_consumer(
        cluster,
        group,
        topic,
        behaviour={"failPrefix": "bad", "failTimes": 100, "delayLevel": 1},
        maxReconsumeTimes=2,
    )
    receipt = java.sender(cluster).send(topic, b"bad one", keys="dead")
    dead = f"%DLQ%{group}"
    until(lambda: cluster.route(dead), "the dead-letter queue is routed", limit_s=30)
    # Java: made with write permission only; an operator opens it.
    create_topic(cluster, java.admin(cluster), dead, queues=1)
    [letter] = java.reader(cluster).read(dead, 1)
    assert letter.body == b"bad one"
    assert letter.message_id == receipt.message_id
    assert letter.retries == 3
    assert letter.properties["RETRY_TOPIC"] == topic
    assert letter.properties["ORIGIN_MESSAGE_ID"] == receipt.offset_id
    assert [one.retries for one in consumer.received] == [0, 1, 2]


def test_straight_to_the_dead_letters(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    """Java: delay level -1 means no second try."""
    topic, group = names.topic(), names.group()
    java.push_consumer(
        cluster, group, topic, behaviour={"failPrefix": "bad", "failTimes": 100, "delayLevel": -1}
    )
    java.sender(cluster).send(topic, b"bad at once")
    dead = f"%DLQ%{group}"
    until(lambda: cluster.route(dead), "the dead-letter queue is routed", limit_s=30)
    create_topic(cluster, java.admin(cluster), dead, queues=1)
    [letter] = java.reader(cluster).read(dead, 1)
    assert (letter.body, letter.retries) == (b"bad at once", 1)


def test_ordered_gives_up_after_its_limit(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=1), names.group()
    sender = java.sender(cluster)
    sender.send(topic, b"bad")
    sender.send(topic, b"good")
    consumer = java.push_consumer(
        cluster,
        group,
        topic,
        orderly=True,
        behaviour={"failPrefix": "bad", "failTimes": 100, "suspendMs": 20},
        maxReconsumeTimes=2,
    )
    until(lambda: b"good" in consumer.bodies, "the queue goes on", limit_s=30)
    assert consumer.bodies[:3] == [b"bad", b"bad", b"bad"]
    # A queue under lock sends its failures to the dead letters, without a detour over retry.
    dead = f"%DLQ%{group}"
    until(lambda: cluster.route(dead), "the dead-letter queue is routed", limit_s=30)
    create_topic(cluster, java.admin(cluster), dead, queues=1)
    [letter] = java.reader(cluster).read(dead, 1)
    assert letter.body == b"bad"


def test_delayed_messages(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic, group = names.topic(queues=1), names.group()
    consumer = java.push_consumer(cluster, group, topic)
    sender = java.sender(cluster)
    sender.send(topic, b"later", delay_level=2, keys="k")
    sender.send(topic, b"now")
    received = consumer.wait(2)
    assert [one.body for one in received] == [b"now", b"later"]
    later = received[1]
    assert later.stored_ms - later.born_ms >= 900
    assert later.keys == "k"
    assert later.properties["DELAY"] == "2"
    assert later.properties["REAL_TOPIC"] == topic
