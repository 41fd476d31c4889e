# SPDX-License-Identifier: Apache-2.0
"""What operators change: topics, groups, options, and what is thrown away by hand.

Changes of topics and groups are saved and told to the name servers a moment later; whatever the
hot path knew of them is forgotten at once.
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from eruca.broker import options
from eruca.broker.answers import body_of, reported
from eruca.broker.attributes import read_changes
from eruca.configure import BROKER, as_properties
from eruca.errors import BadField, ConfigError, DiskFull
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.wire import commands, javajson, names
from eruca.wire.bodies import (
    DataVersion,
    GroupConfig,
    GroupConfigs,
    TopicConfig,
    TopicConfigs,
    TopicList,
)
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import from_json, parse, to_json
from eruca.wire.header import Command
from eruca.wire.javaproperties import read_properties

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

log = logging.getLogger("eruca.broker")

PAGE_COUNT = 2000  # Java: splitMetadataSize
REGISTERED_MS_MAX = 2000  # Java waits longer; a tool gives up after five seconds.


# Topics.


def update_topic(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    ask = parse(commands.CreateTopic, request.fields)
    topic = TopicConfig(
        name=ask.topic,
        read_queue_count=ask.read_queue_count,
        write_queue_count=ask.write_queue_count,
        perm=ask.perm,
        filter_type=ask.filter_type,
        sys_flag=ask.sys_flag or 0,
        order=ask.order,
        attributes=read_changes(ask.attributes),
    )
    log.info("topic update asked peer=%s topic=%s", peer.address, topic)
    return _updated(broker, peer, request, [topic])


def update_topics(broker: "Broker", peer: Peer, request: Command) -> Response | None:
    topics = body_of(TopicConfigs, request).topics
    log.info("topic updates asked peer=%s topics=%s", peer.address, [each.name for each in topics])
    return _updated(broker, peer, request, topics)


def _updated(
    broker: "Broker", peer: Peer, request: Command, topics: list[TopicConfig]
) -> Response | None:
    """Answer when the name servers know it: whoever asks them next is to see the change."""
    refusal = broker.topics.update(topics)
    if refusal is not None or not broker.settings.name_server_list:
        return refusal or Response()

    async def registered() -> Response:
        await broker.registration.told(REGISTERED_MS_MAX)
        return Response()

    return broker.relays.park(peer, request, registered())


def delete_topic(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Delete a topic with its queues and offsets, and what POP made for it."""
    ask = parse(commands.DeleteTopic, request.fields)
    refusal = broker.topics.refusal(ask.topic)
    if refusal is not None:
        return refusal
    log.info("topic deletion asked peer=%s topic=%s", peer.address, ask.topic)
    deleted = broker.topics.delete(ask.topic, broker.offsets.groups_of(ask.topic))
    for topic in dict.fromkeys([ask.topic, *deleted]):
        _remove_traces(broker, topic)
    return Response()


def _remove_traces(broker: "Broker", topic: str) -> None:
    """What the other parts have of a topic that is gone."""
    broker.forget_topic(topic)
    broker.waiting.drop(topic.encode())
    broker.store.remove_topic(topic.encode())
    broker.offsets.remove_topic(topic)
    for key in [key for key in broker.fetched if key.partition("@")[0] == topic]:
        del broker.fetched[key]


def topic_config(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetTopicConfig, request.fields)
    topic = broker.topics.find(ask.topic)
    if topic is None:
        remark = f"No topic in this broker. topic: {ask.topic}"
        return Response(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
    return reported(topic)


def all_topics(broker: "Broker", peer: Peer, request: Command) -> Response:
    """All topics, or a page of them: the first one, unless the asker's version is ours."""
    ask = parse(commands.GetAllTopicConfig, request.fields)
    count = ask.topic_count_max
    begin = _page_begin(ask.topic_seq, ask.data_version, broker.topics.version)
    if ask.topic_seq is not None and count is None:
        count = PAGE_COUNT
    table = broker.topics.as_table(begin, count)
    table.mapping_version = DataVersion()
    table.mapping_details, table.mapping_infos = {}, {}
    return reported(table, commands.GetAllTopicConfigAnswer(len(broker.topics.table)))


def system_topics(broker: "Broker", peer: Peer, request: Command) -> Response:
    return reported(TopicList(broker.topics.system_names()))


def _page_begin(seq: int | None, version: str | None, ours: DataVersion) -> int:
    if seq is None or not version:
        return 0
    return max(0, seq) if from_json(DataVersion, javajson.loads(version)) == ours else 0


# Groups.


def update_group(broker: "Broker", peer: Peer, request: Command) -> Response:
    return _update_groups(broker, peer, [body_of(GroupConfig, request)])


def update_groups(broker: "Broker", peer: Peer, request: Command) -> Response:
    return _update_groups(broker, peer, body_of(GroupConfigs, request).groups)


def _update_groups(broker: "Broker", peer: Peer, groups: list[GroupConfig]) -> Response:
    log.info("group updates asked peer=%s groups=%s", peer.address, groups)
    refusal = broker.groups.update(groups)
    for group in groups:
        broker.forget_group(group.name)
    return refusal or Response()


def delete_group(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.DeleteGroup, request.fields)
    log.info("group deletion asked peer=%s ask=%s", peer.address, ask)
    broker.groups.delete(ask.group)
    broker.forget_group(ask.group)
    if ask.clean_offsets:
        broker.offsets.remove_group(ask.group)
        for key in [key for key in broker.fetched if key.partition("@")[2] == ask.group]:
            del broker.fetched[key]
    return Response()


def group_config(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetGroupConfig, request.fields)
    group = broker.groups.ensure(ask.group)  # Java: to ask for a group creates it.
    if group is None:
        remark = f"No group in this broker. group: {ask.group}"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    return reported(group)


def all_groups(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetAllGroupConfig, request.fields)
    count = ask.group_count_max
    begin = _page_begin(ask.group_seq, ask.data_version, broker.groups.version)
    if ask.group_seq is not None and count is None:
        count = PAGE_COUNT
    table = broker.groups.as_table(begin, count)
    return reported(table, commands.GetAllGroupConfigAnswer(len(broker.groups.table)))


# Options.


def read_options(broker: "Broker", peer: Peer, request: Command) -> Response:
    values = as_properties(broker.all_settings, BROKER)
    text = "".join(f"{key}={value}\n" for key, value in values.items())
    version = javajson.dumps(to_json(DataVersion(timestamp=broker.started_ms))).decode()
    return Response(answer=commands.GetBrokerConfigAnswer(version), body=text.encode())


def update_options(broker: "Broker", peer: Peer, request: Command) -> Response:
    try:
        values = read_properties(request.body.decode())
        log.info("option changes asked peer=%s values=%s", peer.address, values)
        options.change(broker, values)
    except UnicodeDecodeError as error:
        raise BadField("body", f"is not UTF-8: {error.reason}") from None
    except ConfigError as error:
        remark = f"Can not update config in black list. {error}"
        return Response(ResponseCode.NO_PERMISSION, remark=remark)
    except (OSError, DiskFull) as error:
        return Response(ResponseCode.SYSTEM_ERROR, remark=f"nothing changed: {error}")
    return Response()


# Throwing away.


def clean_log(broker: "Broker", peer: Peer, request: Command) -> Response:
    broker.store.retention.clean_soon()
    return Response()


def clean_queues(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Drop queues all of whose messages are gone."""
    count = broker.store.retention.drop_expired_queues(
        lambda topic: broker.topics.is_system(topic.decode())
    )
    log.info("expired queues dropped peer=%s queues=%d", peer.address, count)
    _forget_everything(broker)
    return Response()


def clean_topics(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Drop the queues of topics that are not there any more."""
    kept = {*broker.topics.table, *broker.topics.system_names()}
    unused = broker.store.retention.drop_unused_topics(lambda topic: _is_used(topic, kept))
    log.info("unused topics dropped peer=%s topics=%s", peer.address, unused)
    for topic in unused:
        broker.waiting.drop(topic)
    _forget_everything(broker)
    return Response()


def _is_used(topic: bytes, kept: Iterable[str]) -> bool:
    name = topic.decode()
    return name in kept or name.startswith((names.LMQ_PREFIX, names.SYSTEM_TOPIC_PREFIX))


def _forget_everything(broker: "Broker") -> None:
    """The hot path holds queues: it must not go on with those that were dropped."""
    broker.hot.topics.clear()
    broker.hot.subscriptions.clear()
