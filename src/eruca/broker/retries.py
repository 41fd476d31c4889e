# SPDX-License-Identifier: Apache-2.0
"""CONSUMER_SEND_MSG_BACK: a consumer failed, so the message comes again later, or is buried.

The message is stored once more, for %RETRY%group with a delay that grows with each attempt, and
after the last one for %DLQ%group. It keeps its body, born time and host; RETRY_TOPIC and
ORIGIN_MESSAGE_ID say where it came from. The path of a retry is the delay queue of its level,
then the retry topic, which every member of the group subscribes to.
"""

from typing import TYPE_CHECKING

from eruca.broker.delays import draft_of
from eruca.broker.send import FAQ, store_message
from eruca.errors import CorruptRecord
from eruca.net.peer import Peer
from eruca.net.server import Response
from eruca.wire import properties as keys
from eruca.wire.bodies import PERM_WRITE, GroupConfig
from eruca.wire.codes import ResponseCode
from eruca.wire.commands import SendBack
from eruca.wire.fields import parse
from eruca.wire.header import Command
from eruca.wire.hot import message_id
from eruca.wire.properties import decode_properties
from eruca.wire.record import TRANSACTION_MASK, Draft, Record

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

FIRST_RETRY_LEVEL = 3  # Java: the first retry waits 10 s.


def send_back(broker: "Broker", peer: Peer, request: Command) -> Response:
    """Store the message at a log offset again, for another attempt of the group."""
    ask = parse(SendBack, request.fields)
    group = broker.groups.ensure(ask.group)
    if group is None:
        return Response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            remark=f"subscription group not exist, {ask.group}{FAQ}",
        )
    if not broker.settings.perm & PERM_WRITE:
        remark = f"the broker[{broker.settings.address}] sending message is forbidden"
        return Response(ResponseCode.NO_PERMISSION, remark=remark)
    if group.retry_queue_count <= 0:
        return Response()  # Java: such a group drops what it fails to consume.
    try:
        record = broker.store.record_at(ask.log_offset)
    except CorruptRecord as error:
        return Response(ResponseCode.SYSTEM_ERROR, remark=f"look message by offset failed, {error}")
    draft, pairs = _again(broker, ask, group, record)
    return store_message(broker, draft, pairs) or Response()


def _again(
    broker: "Broker", ask: SendBack, group: GroupConfig, record: Record
) -> tuple[Draft, dict[str, str]]:
    """The message as it will be stored, and its properties."""
    pairs = decode_properties(record.properties.decode("utf-8", "replace"))
    origin_topic = record.topic.decode("utf-8", "replace")
    pairs.setdefault(keys.RETRY_TOPIC, origin_topic)
    origin_id = message_id(record.store_host.hex().upper().encode(), record.log_offset).decode()
    pairs.setdefault(keys.ORIGIN_MESSAGE_ID, origin_id)
    pairs[keys.WAIT] = "false"
    limit = ask.reconsume_count_max
    if limit is None or limit < 0:
        limit = group.retry_count_max
    draft = draft_of(record)
    draft.sys_flag &= ~TRANSACTION_MASK
    draft.prepared_offset = 0
    if record.reconsume_count >= limit or ask.delay_level < 0:
        target = broker.topics.ensure_dead_letter(group.name)
        level = 0
    else:
        target = broker.topics.ensure_retry(group.name, group.retry_queue_count)
        level = ask.delay_level or FIRST_RETRY_LEVEL + int(record.reconsume_count)
    pairs[keys.DELAY] = str(level)
    draft.topic = target.name.encode()
    draft.queue_id = broker.rng.randrange(max(1, target.write_queue_count))
    draft.reconsume_count = record.reconsume_count + 1
    return draft, pairs
