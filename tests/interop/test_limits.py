# SPDX-License-Identifier: Apache-2.0
"""What a broker refuses, and the code it says so with."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from . import raw
from .conftest import KINDS, Names, create_topic, require
from .java_client import JavaDriver, JavaError
from .servers import Cluster, Servers, until

SYSTEM_ERROR = 1
NOT_SUPPORTED = 3
MESSAGE_ILLEGAL = 13
NO_PERMISSION = 16
TOPIC_NOT_EXIST = 17
GROUP_NOT_EXIST = 26
INVALID_PARAMETER = 29

SEND = 10


def send_fields(topic: str, **more: str) -> dict[str, str]:
    fields = {
        "producerGroup": "G-raw",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": "1700000000000",
        "flag": "0",
        "properties": "",
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }
    return fields | more


def test_a_large_message_passes(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    producer = java.producer(cluster, names.group(), compressMsgBodyOverHowmuch=1 << 30)
    body = bytes(range(256)) * (4 << 12)  # 4 MiB, the largest a stock producer sends.
    assert producer.send(topic, body).status == "SEND_OK"
    [stored] = java.reader(cluster).read(topic, 1)
    assert stored.body == body


def test_the_producer_refuses_too_much_itself(
    cluster: Cluster, java: JavaDriver, names: Names
) -> None:
    topic = names.topic()
    with pytest.raises(JavaError) as refused:
        java.sender(cluster).send(topic, bytes((4 << 20) + 1))
    assert refused.value.code == MESSAGE_ILLEGAL


def test_an_oversized_message(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    producer = java.producer(
        cluster, names.group(), maxMessageSize=8 << 20, compressMsgBodyOverHowmuch=1 << 30
    )
    with pytest.raises(JavaError) as refused:
        producer.send(topic, bytes((4 << 20) + 100_000))
    assert refused.value.code == MESSAGE_ILLEGAL
    assert producer.send(topic, b"and then a small one").status == "SEND_OK"


def test_properties_that_are_too_long(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic()
    with pytest.raises(JavaError) as refused:
        java.sender(cluster).send(topic, b"x", properties={"long": "y" * 33_000})
    assert refused.value.code == MESSAGE_ILLEGAL


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        ("white space", INVALID_PARAMETER),
        ("semi;colon", INVALID_PARAMETER),
        ("T" * 128, INVALID_PARAMETER),
        ("SCHEDULE_TOPIC_XXXX", NO_PERMISSION),
        ("RMQ_SYS_TRANS_HALF_TOPIC", NO_PERMISSION),
    ],
)
def test_a_topic_that_nobody_may_send_to(
    cluster: Cluster, java: JavaDriver, topic: str, code: int
) -> None:
    answer = java.remote(cluster.broker, SEND, send_fields(topic), b"x")
    assert answer.code == code, answer.remark


def test_a_template_that_does_not_exist(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    fields = send_fields(names.new_topic(), defaultTopic="T-nobody-made")
    answer = java.remote(cluster.broker, SEND, fields, b"x")
    assert answer.code == TOPIC_NOT_EXIST, answer.remark


def test_a_queue_that_does_not_exist(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=2)
    answer = java.remote(cluster.broker, SEND, send_fields(topic, queueId="2"), b"x")
    assert answer.code == INVALID_PARAMETER, answer.remark


def test_a_topic_without_write_permission(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    java.sender(cluster).send(topic, b"while it was open")
    create_topic(cluster, java.admin(cluster), topic, queues=1, perm=4)
    producer = java.producer(cluster, names.group())
    with pytest.raises(JavaError):
        producer.send(topic, b"too late")
    assert [one.body for one in java.reader(cluster).read(topic, 1)] == [b"while it was open"]


def test_a_topic_without_read_permission(cluster: Cluster, java: JavaDriver, names: Names) -> None:
    topic = names.topic(queues=1)
    puller = java.pull_consumer(cluster, names.group())
    [queue] = puller.queues(topic)
    java.sender(cluster).send(topic, b"unread")
    create_topic(cluster, java.admin(cluster), topic, queues=1, perm=2)
    with pytest.raises(JavaError) as refused:
        puller.pull(queue, 0)
    assert refused.value.code == NO_PERMISSION


@pytest.mark.parametrize("encoding", ["JSON", "ROCKETMQ"])
@pytest.mark.parametrize("server", ["broker", "nameserver"])
@pytest.mark.parametrize("code", [9, 4711, 32_767])
def test_an_unknown_request(
    cluster: Cluster, java: JavaDriver, server: str, code: int, encoding: str
) -> None:
    answer = java.remote(getattr(cluster, server), code, {"any": "thing"}, b"body", encoding)
    assert answer.code == NOT_SUPPORTED
    assert str(code) in (answer.remark or "")


def test_a_request_without_its_fields(cluster: Cluster, java: JavaDriver) -> None:
    answer = java.remote(cluster.broker, SEND, {"topic": "T"}, b"x")
    assert answer.code == SYSTEM_ERROR
    assert "queueId" in (answer.remark or "") or "null" in (answer.remark or "")


@pytest.mark.parametrize("server", ["broker", "nameserver"])
@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">i", -1),
        struct.pack(">ii", 0x7FFFFFFF, 8),
        struct.pack(">ii", 20, 16) + b"{not json at all",
        struct.pack(">iI", 20, 0x0700_0010) + b"0123456789abcdef",
    ],
    ids=["negative", "huge", "no-json", "no-such-encoding"],
)
def test_a_broken_frame_harms_nobody_else(cluster: Cluster, server: str, frame: bytes) -> None:
    address = getattr(cluster, server)
    with raw.dialled(address) as good, raw.dialled(address) as bad:
        good.sendall(raw.request(4711, {}))
        assert raw.answer(good).code == NOT_SUPPORTED
        bad.sendall(frame)
        good.sendall(raw.request(4711, {}))
        assert raw.answer(good).code == NOT_SUPPORTED


# ---- a broker that makes nothing by itself ----


@pytest.fixture(scope="module", params=KINDS)
def strict(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Cluster]:
    require(request.param)
    cluster = servers.up(
        request.param,
        {
            "autoCreateTopicEnable": "false",
            "autoCreateSubscriptionGroup": "false",
            "enablePropertyFilter": "false",
            "maxMessageSize": "65536",
        },
    )
    yield cluster
    cluster.stop()


def test_strict_unknown_topic(strict: Cluster, java: JavaDriver) -> None:
    with pytest.raises(JavaError) as refused:
        java.sender(strict).send("T-unknown", b"x")
    assert refused.value.code in (10005, TOPIC_NOT_EXIST)  # The client itself finds no route.
    answer = java.remote(strict.broker, SEND, send_fields("T-unknown"), b"x")
    assert answer.code == TOPIC_NOT_EXIST, answer.remark


def test_strict_unknown_group(strict: Cluster, java: JavaDriver) -> None:
    create_topic(strict, java.admin(strict), "T-strict", queues=1)
    java.sender(strict).send("T-strict", b"x")
    puller = java.pull_consumer(strict, "G-strict")
    [queue] = puller.queues("T-strict")
    with pytest.raises(JavaError) as refused:
        puller.pull(queue, 0)
    assert refused.value.code == GROUP_NOT_EXIST
    java.admin(strict).call(
        "createAndUpdateSubscriptionGroupConfig", strict.broker, {"groupName": "G-strict"}
    )
    until(lambda: puller.pull(queue, 0).status == "FOUND", "the group is known now")


def test_strict_sql_is_off(strict: Cluster, java: JavaDriver) -> None:
    create_topic(strict, java.admin(strict), "T-sql", queues=1)
    java.admin(strict).call(
        "createAndUpdateSubscriptionGroupConfig", strict.broker, {"groupName": "G-sql"}
    )
    with pytest.raises(JavaError) as refused:
        java.push_consumer(strict, "G-sql", "T-sql", "a > 1", sql=True)
    assert refused.value.code == SYSTEM_ERROR


def test_strict_message_size(strict: Cluster, java: JavaDriver) -> None:
    create_topic(strict, java.admin(strict), "T-small", queues=1)
    producer = java.producer(strict, "G-small", compressMsgBodyOverHowmuch=1 << 30)
    assert producer.send("T-small", bytes(60_000)).status == "SEND_OK"
    with pytest.raises(JavaError) as refused:
        producer.send("T-small", bytes(70_000))
    assert refused.value.code == MESSAGE_ILLEGAL
