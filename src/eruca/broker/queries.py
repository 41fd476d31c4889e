# SPDX-License-Identifier: Apache-2.0
"""Finding messages: by key, by the id a broker gave them, by their place in a queue."""

from typing import TYPE_CHECKING, Final

from librt.strings import read_i32_be, read_i64_be

from eruca.broker.answers import reported
from eruca.broker.positions import find_queue
from eruca.errors import CorruptRecord
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.store.consumequeue import ENTRY_SIZE
from eruca.store.lookup import TAG_PREFIX, find_messages
from eruca.wire import commands
from eruca.wire.codes import ResponseCode
from eruca.wire.fields import parse
from eruca.wire.header import Command
from eruca.wire.reports import ConsumeQueueEntry, QueryConsumeQueueAnswer

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

BODY_SIZE_MAX: Final = 8 * 1024 * 1024  # A frame of more than 16 MiB breaks the connection.
ENTRY_COUNT_MAX: Final = 10_000


def by_key(broker: "Broker", peer: Peer, request: Command) -> Response:
    """The newest messages that carry a key, oldest of them first."""
    ask = parse(commands.QueryMessage, request.fields)
    settings = broker.store.settings
    count = settings.unique_query_count_max if ask.unique_key else ask.count_max
    count = min(count, settings.query_count_max)
    key = TAG_PREFIX + ask.key if ask.index_type == "T" else ask.key
    found = []
    if count > 0:
        found = find_messages(broker.store, ask.topic, key, ask.begin_ms, ask.end_ms, count)
    index = broker.store.index
    if not found or index is None:
        return Response(
            ResponseCode.QUERY_NOT_FOUND,
            commands.QueryMessageAnswer(0, 0),
            remark="can not find message, maybe time range not correct",
        )
    records: list[bytes] = []
    size = 0
    for record in found:
        size += int(record.size)
        if records and size > BODY_SIZE_MAX:
            break
        records.append(broker.store.record_bytes(int(record.log_offset)))
    last = index.files[-1]
    answer = commands.QueryMessageAnswer(int(last.end_ms), int(last.end_offset))
    return Response(answer=answer, body=b"".join(reversed(records)))


def by_place(broker: "Broker", peer: Peer, request: Command) -> Response:
    """The message at a log offset, as it is stored."""
    ask = parse(commands.ViewMessage, request.fields)
    try:
        return Response(body=broker.store.record_bytes(ask.log_offset))
    except CorruptRecord:
        remark = f"can not find message by the offset, {ask.log_offset}"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)


def queue_entries(broker: "Broker", peer: Peer, request: Command) -> Response:
    """What a queue holds of its messages; counted from its end for a negative index."""
    ask = parse(commands.QueryConsumeQueue, request.fields)
    topic = ask.topic or ""
    queue = find_queue(broker, topic, ask.queue_id)
    if queue is None:
        remark = f"{ask.queue_id}@{topic} is not exist!"
        return Response(ResponseCode.SYSTEM_ERROR, remark=remark)
    count = min(max(ask.count, 0), ENTRY_COUNT_MAX)
    first = ask.index if ask.index >= 0 else max(queue.max_offset - count, queue.min_offset)
    if not queue.min_offset <= first < queue.max_offset:
        # Java: success, without a body.
        return Response(remark=f"Index {first} of {ask.queue_id}@{topic} is not exist!")
    found = queue.entries(first, count)
    subscription = None if ask.group is None else broker.members.subscription(ask.group, topic)
    filter_data = None
    if ask.group is not None:  # Java: the text of what it compiled, and there is nothing.
        filter_data = "null" if subscription else f"{ask.group}@{topic} is not online!"
    return reported(
        QueryConsumeQueueAnswer(
            entries=[
                ConsumeQueueEntry(
                    log_offset=int(read_i64_be(found, at)),
                    size=int(read_i32_be(found, at + 8)),
                    tags_code=int(read_i64_be(found, at + 12)),
                )
                for at in range(0, len(found) - ENTRY_SIZE + 1, ENTRY_SIZE)
            ],
            min_index=int(queue.min_offset),
            max_index=int(queue.max_offset),
            subscription=None if subscription is None else subscription.as_data(),
            filter_data=filter_data,
        )
    )
