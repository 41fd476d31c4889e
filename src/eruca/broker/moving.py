# SPDX-License-Identifier: Apache-2.0
"""Putting groups elsewhere: to a time, to an offset, to where another group is.

By default the broker does it alone: it keeps the new offset, tells it to the group's next pull
(code 21, which makes a consumer start over from there) and ignores commits until then. With
useServerSideResetOffset off it tells the clients instead, and they must be online.
"""

from typing import TYPE_CHECKING, Final

from eruca.broker.answers import reported
from eruca.broker.offsets import NO_OFFSET
from eruca.broker.positions import at_time, ends, find_queue
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.wire import commands, javajson
from eruca.wire.codes import Language, RequestCode, ResponseCode
from eruca.wire.fields import MessageQueue, parse, to_json
from eruca.wire.header import Command
from eruca.wire.reports import CorrectionOffsets, QueueOffset, ResetOffsets, ResetOffsetsForCpp

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

OFFSET_MAX: Final = 2**63 - 1


def reset(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Put a group to a time, or to an offset of one queue."""
    ask = parse(commands.ResetOffset, request.fields)
    if not broker.settings.server_side_reset:
        return _reset_in_clients(broker, ask)
    topic = broker.topics.find(ask.topic)
    if topic is None:
        return Response(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic {ask.topic} does not exist")
    if broker.groups.ensure(ask.group) is None:
        remark = f"Group {ask.group} does not exist"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    if ask.queue_id >= 0 and ask.offset is not None and ask.offset != NO_OFFSET:
        begin, end = ends(broker, ask.topic, ask.queue_id)
        if not begin <= ask.offset <= end + 1:
            remark = f"Target offset {ask.offset} not in consume queue range [{begin}-{end}]"
            return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
        places = {ask.queue_id: ask.offset}
    else:
        ids = range(topic.read_queue_count) if ask.queue_id < 0 else [ask.queue_id]
        places = {each: _at_time(broker, ask, each) for each in ids}
    for queue_id, offset in places.items():
        broker.offsets.reset(ask.group, ask.topic, queue_id, offset)
    return reported(ResetOffsets({_queue(broker, ask, each): places[each] for each in places}))


def _at_time(broker: "Broker", ask: commands.ResetOffset, queue_id: int) -> int:
    return at_time(broker, find_queue(broker, ask.topic, queue_id), ask.timestamp_ms)


def _queue(broker: "Broker", ask: commands.ResetOffset, queue_id: int) -> MessageQueue:
    return MessageQueue(ask.topic, broker.settings.name, queue_id)


def _reset_in_clients(broker: "Broker", ask: commands.ResetOffset) -> Response:
    topic = broker.topics.find(ask.topic)
    if topic is None:
        remark = f"[reset-offset] reset offset failed, no topic in this broker. topic={ask.topic}"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    offsets: dict[MessageQueue, int] = {}
    for queue_id in range(topic.write_queue_count):
        now_at = broker.offsets.find(ask.group, ask.topic, queue_id)
        if now_at < 0:
            remark = f"THe consumer group <{ask.group}> not exist"
            return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
        wanted = _at_time(broker, ask, queue_id)
        offsets[_queue(broker, ask, queue_id)] = wanted if ask.force else min(wanted, now_at)
    peers = broker.members.peers(ask.group)
    if not peers:
        remark = (
            f"Consumer not online, so can not reset online, Group: {ask.group} "
            f"Topic: {ask.topic} Timestamp: {ask.timestamp_ms}"
        )
        return Response(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
    for member in peers:
        _push_offsets(member, ask, offsets)
    return reported(ResetOffsets(offsets))


def _push_offsets(peer: Peer, ask: commands.ResetOffset, offsets: dict[MessageQueue, int]) -> None:
    body: object = ResetOffsets(offsets)
    if peer.language == Language.CPP:
        body = ResetOffsetsForCpp(
            [
                QueueOffset(queue.topic, queue.broker_name, queue.queue_id, offset)
                for queue, offset in offsets.items()
            ]
        )
    said = commands.ResetOffset(ask.group, ask.topic, ask.timestamp_ms, ask.force)
    code = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
    peer.send_oneway(code, said, javajson.dumps(to_json(body)))


def clone(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Put one group where another is."""
    ask = parse(commands.CloneGroupOffset, request.fields)
    topics = [ask.topic] if ask.topic and ask.topic.strip() else None
    online = broker.members.consumers.get(ask.source_group)
    for topic in topics or broker.offsets.topics_of(ask.source_group):
        if broker.topics.find(topic) is None:
            continue
        if ask.offline or online is None or topic in online.subscriptions:
            broker.offsets.clone(ask.source_group, ask.target_group, topic)
    return Response()


def correction(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Per queue the lowest offset of all groups; out of reach where one group is behind it."""
    ask = parse(commands.QueryCorrectionOffset, request.fields)
    without = set((ask.filter_groups or "").split(","))
    lowest = broker.offsets.lowest(
        ask.topic, without, lambda queue_id: ends(broker, ask.topic, queue_id)[0]
    )
    for queue_id, offset in broker.offsets.of(ask.compare_group, ask.topic).items():
        if lowest.get(queue_id, 0) > offset:
            lowest[queue_id] = OFFSET_MAX
    return reported(CorrectionOffsets(lowest))
