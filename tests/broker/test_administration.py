# SPDX-License-Identifier: Apache-2.0
"""Topics and groups changed by operators, and cleaning by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from eruca.wire import commands
from eruca.wire.bodies import (
    GroupConfig,
    GroupConfigs,
    GroupTable,
    TopicConfig,
    TopicConfigs,
    TopicList,
    TopicTable,
)
from eruca.wire.codes import RequestCode, ResponseCode
from eruca.wire.fields import written
from eruca.wire.header import Command

from .here import Bench, Link, consumer, read

TOPIC, GROUP = "orders", "billing"


def make(link: Link, name: str, **more: Any) -> Command:
    header = {
        "topic": name, "default_topic": "TBW102", "read_queue_count": 2, "write_queue_count": 2,
        "perm": 6, "filter_type": "SINGLE_TAG", "order": False, **more,
    }  # fmt: skip
    return link.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, commands.CreateTopic(**header))


def delete(link: Link, name: str) -> Command:
    return link.ask(RequestCode.DELETE_TOPIC_IN_BROKER, commands.DeleteTopic(name))


def send(link: Link, topic: str = TOPIC, queue_id: int = 0) -> Command:
    properties = "UNIQ_KEY\x017F00000100002A9F18B4000000000001\x02"
    header = commands.SendMessageV2(
        "p", topic, "none", 4, queue_id, 0, 0, 0, properties, 0, False, None, False
    )
    return link.ask(RequestCode.SEND_MESSAGE_V2, header, b"body")


def pull(*, wait_ms: int = 0) -> commands.PullMessage:
    sys_flag = 2 if wait_ms else 0
    return commands.PullMessage(GROUP, TOPIC, 0, 0, 32, sys_flag, 0, wait_ms, 0)


# Topics.


def test_a_topic_is_made_and_changed(bench: Bench, link: Link) -> None:
    assert make(link, TOPIC, order=True, attributes="+message.type=FIFO").code == 0
    answer = link.ask(RequestCode.GET_TOPIC_CONFIG, commands.GetTopicConfig(TOPIC))
    made = read(TopicConfig, answer)
    assert (made.read_queue_count, made.order, made.attributes) == (
        2,
        True,
        {"message.type": "FIFO"},
    )
    assert make(link, TOPIC, write_queue_count=5, attributes="-message.type").code == 0
    changed = bench.broker.topics.find(TOPIC)
    assert changed is not None
    assert (changed.write_queue_count, changed.order, changed.attributes) == (5, False, {})


@pytest.mark.parametrize(
    ("name", "more", "code"),
    [
        ("TBW102", {}, ResponseCode.INVALID_PARAMETER),
        ("a b", {}, ResponseCode.INVALID_PARAMETER),
        ("../x", {}, ResponseCode.INVALID_PARAMETER),
        (" ", {}, ResponseCode.INVALID_PARAMETER),
        (TOPIC, {"perm": 99}, ResponseCode.INVALID_PARAMETER),
        (TOPIC, {"write_queue_count": -1}, ResponseCode.INVALID_PARAMETER),
        (TOPIC, {"attributes": "+nope=1"}, ResponseCode.SYSTEM_ERROR),
    ],
)
def test_a_topic_that_cannot_be(
    bench: Bench, link: Link, name: str, more: dict[str, Any], code: int
) -> None:
    before = dict(bench.broker.topics.table)
    assert make(link, name, **more).code == code
    assert bench.broker.topics.table == before


def test_the_hot_path_learns_of_a_change(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    assert send(link).code == 0
    assert send(link, queue_id=4).code == ResponseCode.INVALID_PARAMETER
    make(link, TOPIC, write_queue_count=5)
    assert send(link, queue_id=4).code == 0


def test_several_topics_at_once(bench: Bench, link: Link) -> None:
    body = TopicConfigs(
        [TopicConfig("a", 1, 1), TopicConfig("b", attributes={"+message.type": "FIFO"})]
    )
    assert link.ask(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, None, body).code == 0
    made = bench.broker.topics.find("b")
    assert made is not None and made.attributes == {"message.type": "FIFO"}
    bad = TopicConfigs([TopicConfig("c"), TopicConfig("d d")])
    answer = link.ask(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, None, bad)
    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert bench.broker.topics.find("c") is None


def test_a_deleted_topic_leaves_nothing(bench: Bench, link: Link, tmp_path: Path) -> None:
    make(link, TOPIC)
    send(link)
    link.beat(consumer(GROUP, TOPIC))
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == 0
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 1)
    bench.broker.topics.ensure(f"%RETRY%{GROUP}_{TOPIC}")
    assert delete(link, TOPIC).code == 0
    assert send(link).code == ResponseCode.TOPIC_NOT_EXIST
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == ResponseCode.TOPIC_NOT_EXIST
    assert not [name for name in bench.broker.topics.table if TOPIC in name]
    assert not bench.broker.offsets.as_table().offsets
    assert not bench.broker.fetched and not bench.broker.offsets.pull_table
    answer = link.ask(RequestCode.GET_TOPIC_CONFIG, commands.GetTopicConfig(TOPIC))
    assert (answer.code, answer.remark) == (17, f"No topic in this broker. topic: {TOPIC}")
    assert not (tmp_path / "store" / "consumequeue" / TOPIC).exists()


def test_a_topic_made_again_begins_at_zero(bench: Bench, link: Link) -> None:
    link.beat(consumer(GROUP, TOPIC))
    for _ in range(2):
        make(link, TOPIC)
        assert send(link).fields["queueOffset"] == "0"
        assert link.ask(RequestCode.PULL_MESSAGE, pull()).fields["nextBeginOffset"] == "1"
        assert bench.broker.offsets.find_pull(GROUP, TOPIC, 0) == 1
        delete(link, TOPIC)


def test_a_pull_that_waits_learns_of_the_deletion(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    link.beat(consumer(GROUP, TOPIC))
    link.tell(Command(RequestCode.PULL_MESSAGE, 77, fields=written(pull(wait_ms=5000))))
    assert 77 not in link.answers and bench.broker.waiting.count == 1
    delete(bench.link(), TOPIC)
    link.read()
    assert link.answers[77].code == ResponseCode.TOPIC_NOT_EXIST


@pytest.mark.parametrize("name", ["TBW102", "SCHEDULE_TOPIC_XXXX", " ", "..", "a/b"])
def test_a_topic_that_stays(bench: Bench, link: Link, name: str) -> None:
    assert delete(link, name).code == ResponseCode.INVALID_PARAMETER


def test_deleting_what_is_not_there(link: Link) -> None:
    assert delete(link, "nowhere").code == 0


def pages(link: Link, code: int, header: object, kind: type[Any]) -> tuple[Any, dict[str, str]]:
    answer = link.ask(code, header)
    return read(kind, answer), answer.fields


def test_all_topics_and_pages_of_them(bench: Bench, link: Link) -> None:
    code, header = RequestCode.GET_ALL_TOPIC_CONFIG, commands.GetAllTopicConfig
    everything, fields = pages(link, code, None, TopicTable)
    assert everything.topics == bench.broker.topics.table
    assert fields == {"totalTopicNum": str(len(everything.topics))}
    names = sorted(everything.topics)
    version = json.dumps(json.loads(link.ask(code).body)["dataVersion"])

    def page(seq: int, text: str | None, count: int | None = 3) -> list[str]:
        return sorted(pages(link, code, header(seq, text, count), TopicTable)[0].topics)

    assert page(0, None) == names[:3]
    assert page(3, version) == names[3:6]
    assert page(3, None) == names[:3]  # The asker has seen another version: from the start.
    assert page(3, '{"counter":9}') == names[:3]
    assert page(99, version) == []
    assert page(-5, version) == names[:3]
    assert page(0, None, None) == names
    assert link.ask(code, header(1, "{", 3)).code == ResponseCode.SYSTEM_ERROR


def test_system_topics(link: Link) -> None:
    found = read(TopicList, link.ask(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)).topics
    assert {"TBW102", "broker-g", "DefaultCluster", "SCHEDULE_TOPIC_XXXX"} <= set(found)


# Groups.


def test_a_group_is_made_changed_and_deleted(bench: Bench, link: Link) -> None:
    body = GroupConfig(GROUP, retry_count_max=3, attributes={"+priority.factor": "7"})
    assert link.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, body).code == 0
    code, header = RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, commands.GetGroupConfig(GROUP)
    made = read(GroupConfig, link.ask(code, header))
    assert (made.retry_count_max, made.attributes) == (3, {"priority.factor": "7"})
    bench.broker.offsets.commit(GROUP, TOPIC, 0, 1)
    keep, clean = commands.DeleteGroup(GROUP), commands.DeleteGroup(GROUP, clean_offsets=True)
    assert link.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP, keep).code == 0
    assert bench.broker.groups.find(GROUP) is None
    assert bench.broker.offsets.find(GROUP, TOPIC, 0) == 1
    assert link.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP, clean).code == 0
    assert bench.broker.offsets.find(GROUP, TOPIC, 0) == -1


def test_several_groups_at_once(bench: Bench, link: Link) -> None:
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
    assert link.ask(code, None, GroupConfigs([GroupConfig("a"), GroupConfig("b")])).code == 0
    bad = GroupConfigs([GroupConfig("c"), GroupConfig("d d")])
    assert link.ask(code, None, bad).code == ResponseCode.INVALID_PARAMETER
    assert bench.broker.groups.find("b") is not None
    assert bench.broker.groups.find("c") is None


def test_the_hot_path_learns_of_a_change_of_the_group(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    send(link)
    link.beat(consumer(GROUP, TOPIC))
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == 0
    off = GroupConfig(GROUP, consume_enable=False)
    link.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, off)
    assert link.ask(RequestCode.PULL_MESSAGE, pull()).code == ResponseCode.NO_PERMISSION


def test_to_ask_for_a_group_makes_it_if_that_is_allowed(tmp_path: Path) -> None:
    code, header = RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, commands.GetGroupConfig("new")
    with Bench(tmp_path / "open") as bench:
        assert read(GroupConfig, bench.link().ask(code, header)).name == "new"
    with Bench(tmp_path / "closed", auto_create_group=False) as bench:
        answer = bench.link().ask(code, header)
        assert answer.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        assert answer.remark == "No group in this broker. group: new"


def test_all_groups_and_pages_of_them(bench: Bench, link: Link) -> None:
    code, header = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, commands.GetAllGroupConfig
    everything, fields = pages(link, code, None, GroupTable)
    assert everything.groups == bench.broker.groups.table
    assert fields == {"totalGroupNum": str(len(everything.groups))}
    names = sorted(everything.groups)
    assert sorted(pages(link, code, header(0, None, 2), GroupTable)[0].groups) == names[:2]
    assert sorted(pages(link, code, header(0), GroupTable)[0].groups) == names


# Cleaning.


def test_queues_of_topics_that_are_gone_are_dropped(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    send(link)
    for topic in ("left over", "%LMQ%light", "rmq_sys_other", "SCHEDULE_TOPIC_XXXX"):
        bench.put(topic)
    assert link.ask(RequestCode.CLEAN_UNUSED_TOPIC).code == 0
    assert b"left over" not in bench.broker.store.writer.topics
    assert {TOPIC.encode(), b"%LMQ%light", b"rmq_sys_other", b"SCHEDULE_TOPIC_XXXX"} <= set(
        bench.broker.store.writer.topics
    )
    assert send(link).fields["queueOffset"] == "1"


def test_a_queue_that_was_dropped_is_made_again(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    send(link)
    queue = bench.broker.store.queue(TOPIC.encode(), 0)
    assert queue is not None
    queue.min_offset = queue.max_offset  # As if its messages' segment were gone.
    assert link.ask(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE).code == 0
    assert send(link).fields["queueOffset"] == "0"
    answer = link.ask(RequestCode.GET_MAX_OFFSET, commands.GetMaxOffset(TOPIC, 0))
    assert answer.fields["offset"] == "1"


def test_cleaning_by_hand(bench: Bench, link: Link) -> None:
    make(link, TOPIC)
    send(link)
    assert link.ask(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE).code == 0
    assert link.ask(RequestCode.DELETE_EXPIRED_COMMITLOG).code == 0
    assert send(link).fields["queueOffset"] == "1"
