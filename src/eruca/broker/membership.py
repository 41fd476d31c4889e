# SPDX-License-Identifier: Apache-2.0
"""What clients say of themselves, and what others ask about them: one function per request code.

A heartbeat enters a client into its groups and says what it wants; members.py keeps that. Whoever
asks for the members of a group gets their ids, to share the queues out between them, and the same
clients lock the queues that they consume in order.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from eruca.broker.answers import body_of, reported
from eruca.broker.subscriptions import TAG
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.wire import commands
from eruca.wire.bodies import (
    ClientCheck,
    ConsumerData,
    ConsumerIds,
    ConsumeType,
    GroupForbidden,
    GroupList,
    HeartbeatData,
    LockBatch,
    LockBatchAnswer,
    QuerySubscriptionAnswer,
    TopicList,
)
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import parse
from eruca.wire.header import Command

if TYPE_CHECKING:
    from eruca.broker.broker import Broker


def heartbeat(broker: "Broker", peer: Peer, request: Command) -> Response:
    beat = body_of(HeartbeatData, request)
    consumers = [each for each in beat.consumers if _admit(broker, each)]
    wanted = [_wanted(broker, each.group) for each in consumers]
    resend = broker.members.heartbeat(
        peer, replace(beat, consumers=consumers), broker.clock.now_ms()
    )
    for each, before in zip(consumers, wanted, strict=True):
        if _wanted(broker, each.group) != before:
            broker.forget_group(each.group)
    if broker.settings.notify_at_once:
        broker.notify_members()
    return Response(answer=commands.HeartbeatAnswer(supports_v2=True, subscriptions_changed=resend))


def _admit(broker: "Broker", consumer: ConsumerData) -> bool:
    """Whether the group may be; then it is, and has its retry topic."""
    is_pulling = consumer.consume_type is ConsumeType.CONSUME_ACTIVELY
    if is_pulling and broker.settings.reject_pull_consumer:
        return False
    group = broker.groups.ensure(consumer.group)
    if group is None:
        return False
    broker.topics.ensure_retry(
        group.name,
        group.retry_queue_count,
        order=any(broker.topics.is_ordered(each.topic) for each in consumer.subscriptions),
        unit=consumer.unit_mode,
    )
    return True


def _wanted(broker: "Broker", group: str) -> object:
    """What pulls of the group depend on."""
    found = broker.members.consumers.get(group)
    return None if found is None else (found.subscriptions, found.is_broadcasting)


def unregister(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.UnregisterClient, request.fields)
    broker.members.unregister(peer, ask.group, ask.producer_group)
    if broker.settings.notify_at_once:
        broker.notify_members()
    return Response()


def check_client(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Whether a consumer may begin: its expression must be one that the broker understands."""
    wanted = body_of(ClientCheck, request).subscription if request.body else None
    if wanted is None or wanted.expression_type == TAG:
        return Response()
    remark = f"The broker does not support consumer to filter message by {wanted.expression_type}"
    return Response(ResponseCode.SYSTEM_ERROR, remark=remark)


# Who is there.


def consumer_ids(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetConsumerList, request.fields)
    group = broker.members.consumers.get(ask.group)
    if group is None:
        remark = f"no consumer for this group, {ask.group}"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    return reported(ConsumerIds(group.client_ids()))


def consumer_connections(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetConsumerConnections, request.fields)
    group = broker.members.consumers.get(ask.group)
    if group is None:
        remark = f"the consumer group[{ask.group}] not online"
        return Response(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
    return reported(group.as_report())


def producer_connections(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetProducerConnections, request.fields)
    report = broker.members.producer_report(ask.producer_group)
    if report is None:
        remark = f"the producer group[{ask.producer_group}] not exist"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    return reported(report)


def all_producers(broker: "Broker", peer: Peer, request: Command) -> Response:
    return reported(broker.members.producer_table())


# Who reads what.


def groups_of_topic(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.QueryTopicGroups, request.fields)
    groups = {*broker.members.groups_of(ask.topic), *broker.offsets.groups_of(ask.topic)}
    return reported(GroupList(sorted(groups)))


def topics_of_group(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.QueryTopicsByConsumer, request.fields)
    topics = broker.offsets.topics_of(ask.group)
    return reported(TopicList(topics, broker.registration.address))


def subscription_of_group(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.QuerySubscriptionByConsumer, request.fields)
    found = None if ask.topic is None else broker.members.subscription(ask.group, ask.topic)
    data = None if found is None else found.as_data()
    return reported(QuerySubscriptionAnswer(ask.topic, ask.group, data))


def forbidden(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Whether a group may read a topic; first changed, if the request says so."""
    ask = parse(commands.UpdateGroupForbidden, request.fields)
    if ask.readable is not None:
        broker.groups.allow_reading(ask.group, ask.topic, ask.readable)
        broker.forget_group(ask.group)
    readable = broker.groups.may_read(ask.group, ask.topic)
    return reported(GroupForbidden(ask.group, ask.topic, readable))


# Queues consumed in order.


def lock(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = body_of(LockBatch, request)
    locked = broker.locks.lock(
        ask.group or "", ask.client_id or "", ask.queues, broker.clock.now_ms()
    )
    return reported(LockBatchAnswer(locked))


def unlock(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = body_of(LockBatch, request)
    broker.locks.unlock(ask.group or "", ask.client_id or "", ask.queues)
    return Response()
