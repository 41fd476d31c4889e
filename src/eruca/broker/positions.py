# SPDX-License-Identifier: Apache-2.0
"""Where queues begin and end, and where groups are on them.

An offset counts the messages of one queue; a group's offset is the next one it will consume. Queues
that nobody wrote to have none yet: they begin and end at 0, and so do those that do not exist.
"""

from typing import TYPE_CHECKING

from eruca.broker.answers import reported
from eruca.errors import BadField
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.store.consumequeue import ConsumeQueue
from eruca.store.lookup import earliest_ms, first_stored_from, last_stored_to
from eruca.wire import commands
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import parse
from eruca.wire.header import Command

if TYPE_CHECKING:
    from eruca.broker.broker import Broker


def find_queue(broker: "Broker", topic: str, queue_id: int) -> ConsumeQueue | None:
    return broker.store.queue(topic.encode(), queue_id)


def ends(broker: "Broker", topic: str, queue_id: int) -> tuple[int, int]:
    """The first offset of a queue, and the one that its next message gets."""
    queue = find_queue(broker, topic, queue_id)
    return (0, 0) if queue is None else (int(queue.min_offset), int(queue.max_offset))


def at_time(broker: "Broker", queue: ConsumeQueue | None, ms: int) -> int:
    """The first offset stored at `ms` or later; the queue's end for a negative time."""
    if queue is None:
        return 0
    if ms < 0:
        return int(queue.max_offset)
    return first_stored_from(broker.store, queue, ms)


# Queues.


def max_offset(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetMaxOffset, request.fields)
    _, end = ends(broker, ask.topic, ask.queue_id)
    return Response(answer=commands.GetMaxOffsetAnswer(end))


def min_offset(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetMinOffset, request.fields)
    begin, _ = ends(broker, ask.topic, ask.queue_id)
    return Response(answer=commands.GetMinOffsetAnswer(begin))


def offset_by_time(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.SearchOffset, request.fields)
    queue = find_queue(broker, ask.topic, ask.queue_id)
    offset = 0
    if queue is not None:
        is_upper = (ask.boundary or "").upper() == "UPPER"
        search = last_stored_to if is_upper else first_stored_from
        offset = search(broker.store, queue, ask.timestamp_ms)
    return Response(answer=commands.SearchOffsetAnswer(offset))


def earliest_store_time(broker: "Broker", peer: Peer, request: Command) -> Response:
    ask = parse(commands.GetEarliestStoreTime, request.fields)
    queue = find_queue(broker, ask.topic, ask.queue_id)
    stored_ms = -1 if queue is None else earliest_ms(broker.store, queue)
    return Response(answer=commands.GetEarliestStoreTimeAnswer(stored_ms))


# Groups.


def query(broker: "Broker", peer: Peer, request: Command) -> Response:
    """A group's offset. A group that has none yet begins at 0 on a queue that is young enough."""
    ask = parse(commands.QueryConsumerOffset, request.fields)
    offset = broker.offsets.find(ask.group, ask.topic, ask.queue_id)
    if offset >= 0:
        return Response(answer=commands.QueryConsumerOffsetAnswer(offset))
    if ask.zero_if_missing is False:
        remark = "Not found, do not set to zero, maybe this group boot first"
        return Response(ResponseCode.QUERY_NOT_FOUND, remark=remark)
    queue = find_queue(broker, ask.topic, ask.queue_id)
    if queue is not None and _is_young(broker, queue):
        return Response(answer=commands.QueryConsumerOffsetAnswer(0))
    remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
    return Response(ResponseCode.QUERY_NOT_FOUND, remark=remark)


def _is_young(broker: "Broker", queue: ConsumeQueue) -> bool:
    """Whether the first message of all is still there, and likely in memory."""
    log_offset = queue.log_offset_of(0)
    store = broker.store
    return log_offset >= store.log.begin and (
        store.log.end - log_offset <= store.limits.memory_span
    )


def update(broker: "Broker", peer: Peer, request: Command) -> Response:
    try:
        ask = parse(commands.UpdateConsumerOffset, request.fields)
    except BadField as error:
        return Response(ResponseCode.INVALID_PARAMETER, remark=str(error))
    if broker.groups.find(ask.group) is None:
        remark = f"Group {ask.group} not exist!"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    if broker.topics.find(ask.topic) is None:
        return Response(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic {ask.topic} not exist!")
    if broker.offsets.has_reset(ask.group, ask.topic, ask.queue_id):
        return Response(remark="Offset has been previously reset")
    broker.offsets.commit(ask.group, ask.topic, ask.queue_id, ask.offset)
    return Response()


def all_offsets(broker: "Broker", peer: Peer, request: Command) -> Response:
    return reported(broker.offsets.as_table())


def all_delay_offsets(broker: "Broker", peer: Peer, request: Command) -> Response:
    return reported(broker.delays.as_table())
