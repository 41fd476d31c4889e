# SPDX-License-Identifier: Apache-2.0
"""Who may pull what: the checks that a group's first pull of a topic goes through.

What passes is kept for the hot path (hot.py) until something about the group or the topic changes.
The order of the checks is Java's, so that a request with two faults gets the same answer.
"""

from typing import TYPE_CHECKING

from eruca.broker.hot import Fetched, HotSubscription, inline_key
from eruca.broker.send import FAQ, hot_topic
from eruca.broker.subscriptions import TAG, Subscription, subscription
from eruca.errors import BadField
from eruca.net.peer import Peer
from eruca.net.server import Response, encode_response
from eruca.wire.bodies import PERM_READ, GroupConfig, TopicConfig
from eruca.wire.codes import ResponseCode
from eruca.wire.commands import PullMessageAnswer
from eruca.wire.header import Command
from eruca.wire.hot import PULL_SUBSCRIBES, PullAsk

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

LITE_PULL = 361
NEWEST = 2**62  # A subscription that came with its pull is never out of date.
SUBSCRIPTIONS_MAX = 1024  # Kept per group; expressions are the peer's choice.

BROKER_FORBIDS, GROUP_FORBIDS, TOPIC_FORBIDS, BROADCAST_FORBIDS, SUBSCRIPTION_FORBIDS = range(1, 6)


def admit_pull(broker: "Broker", peer: Peer, ask: PullAsk) -> bytes:
    """Let the hot path know this pair of group and topic, or return the refusal to answer with."""
    found = _admit(broker, ask)
    if found is None:
        found = _reset(broker, ask)
    if found is None:
        return b""
    return encode_response(Command(0, ask.opaque, kind=ask.kind), found)


def _admit(broker: "Broker", ask: PullAsk) -> Response | None:
    settings = broker.settings
    name = ask.group.decode("utf-8", "replace")
    topic_name = ask.topic.decode("utf-8", "replace")
    if not settings.perm & PERM_READ:
        return _forbidden(BROKER_FORBIDS, f"the broker[{settings.address}] pulling is forbidden")
    if ask.code == LITE_PULL and not settings.lite_pull:
        return _forbidden(
            BROKER_FORBIDS, f"the broker[{settings.address}] for lite pull consumer is forbidden"
        )
    group = broker.groups.ensure(name)
    if group is None:
        return Response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            remark=f"subscription group [{name}] does not exist, {FAQ}",
        )
    if not group.consume_enable:
        return _forbidden(GROUP_FORBIDS, f"subscription group no permission, {name}")
    topic = broker.topics.find(topic_name)
    if topic is None:
        return Response(
            ResponseCode.TOPIC_NOT_EXIST,
            remark=f"topic[{topic_name}] not exist, apply first please!{FAQ}",
        )
    if not topic.perm & PERM_READ:
        return _forbidden(TOPIC_FORBIDS, f"the topic[{topic_name}] pulling message is forbidden")
    if not 0 <= ask.queue_id < topic.read_queue_count:
        return Response(
            ResponseCode.INVALID_PARAMETER,
            remark=f"queueId[{ask.queue_id}] is illegal, topic:[{topic_name}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_count}]",
        )
    wanted = _subscription(broker, ask, group, topic)
    if isinstance(wanted, Response):
        return wanted
    if wanted.kind != TAG:
        return _no_expressions(wanted.kind)
    _keep(broker, ask, group, topic, wanted)
    return None


def _subscription(
    broker: "Broker", ask: PullAsk, group: GroupConfig, topic: TopicConfig
) -> Subscription | Response:
    """What the group wants of the topic: as the pull says, or as its members' heartbeats did."""
    if ask.sys_flag & PULL_SUBSCRIBES:
        kind = ask.expression_type.decode("utf-8", "replace")
        text = ask.subscription.decode("utf-8", "replace")
        try:
            return subscription(topic.name, text, kind, NEWEST)
        except BadField as error:
            return Response(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark=str(error))
    members = broker.members.consumers.get(group.name)
    if members is None:
        return Response(
            ResponseCode.SUBSCRIPTION_NOT_EXIST,
            remark=f"the consumer's group info not exist{FAQ}",
        )
    if members.is_broadcasting and not group.consume_broadcast_enable:
        return _forbidden(
            BROADCAST_FORBIDS, f"the consumer group[{group.name}] can not consume by broadcast way"
        )
    if not broker.groups.may_read(group.name, topic.name):
        return _forbidden(
            SUBSCRIPTION_FORBIDS,
            f"the consumer group[{group.name}] is forbidden for topic[{topic.name}]",
        )
    wanted = members.subscriptions.get(topic.name)
    if wanted is None:
        return Response(
            ResponseCode.SUBSCRIPTION_NOT_EXIST,
            remark=f"the consumer's subscription not exist{FAQ}",
        )
    if wanted.version < ask.version_of_subscription:
        return Response(
            ResponseCode.SUBSCRIPTION_NOT_LATEST, remark="the consumer's subscription not latest"
        )
    return wanted


def _keep(
    broker: "Broker", ask: PullAsk, group: GroupConfig, topic: TopicConfig, wanted: Subscription
) -> None:
    hot = broker.hot
    known = hot.topics.get(ask.topic)
    if known is None:
        known = hot.topics[ask.topic] = hot_topic(broker, topic)
    of_group = hot.subscriptions.setdefault(ask.group, {})
    if len(of_group) >= SUBSCRIPTIONS_MAX:
        of_group.clear()
    key = inline_key(ask) if ask.sys_flag & PULL_SUBSCRIBES else ask.topic
    of_group[key] = HotSubscription(
        group.name,
        topic.name,
        known,
        wanted.codes,
        wanted.version,
        group.sys_flag,
        fetched_of(broker, group.name, topic.name),
    )


def fetched_of(broker: "Broker", group: str, topic: str) -> Fetched:
    """The counters of a group on a topic; they outlive changes of its subscription."""
    key = f"{topic}@{group}"
    found = broker.fetched.get(key)
    if found is None:
        offsets = broker.offsets.pull_table.setdefault(key, {})
        found = broker.fetched[key] = Fetched(offsets)
    return found


def _reset(broker: "Broker", ask: PullAsk) -> Response | None:
    """An administrator moved the group: tell its consumer, once."""
    if not broker.offsets.resets:
        return None
    group, topic = ask.group.decode(), ask.topic.decode()
    offset = broker.offsets.take_reset(group, topic, int(ask.queue_id))
    if offset is None:
        return None
    queue = broker.store.writer.queue(broker.store.writer.queues_of(ask.topic), ask.queue_id)
    found, members = broker.topics.find(topic), broker.groups.find(group)
    return Response(
        ResponseCode.PULL_OFFSET_MOVED,
        PullMessageAnswer(
            suggested_broker_id=0,
            next_offset=offset,
            min_offset=queue.min_offset,
            max_offset=queue.max_offset,
            topic_sys_flag=0 if found is None else found.sys_flag,
            group_sys_flag=0 if members is None else members.sys_flag,
        ),
        remark="OFFSET_RESET",
    )


def _no_expressions(kind: str) -> Response:
    return Response(
        ResponseCode.SYSTEM_ERROR,
        remark=f"The broker does not support consumer to filter message by {kind}",
    )


def _forbidden(by: int, remark: str) -> Response:
    answer = PullMessageAnswer(
        suggested_broker_id=0, next_offset=0, min_offset=0, max_offset=0, forbidden_type=by
    )
    return Response(ResponseCode.NO_PERMISSION, answer, remark=remark)
