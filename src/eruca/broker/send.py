# SPDX-License-Identifier: Apache-2.0
"""Sends with all their rules: what the hot path (hot.py) leaves to somebody with more time.

That is the first send to a topic, everything that must be refused, and messages whose properties
or topic ask for more than storing: delays, retries, a missing unique id. The order of the checks
is Java's, so that a request with two faults gets the same answer.
"""

from typing import TYPE_CHECKING

from eruca.broker.hot import HotTopic
from eruca.errors import DiskFull, MessageTooLarge
from eruca.net.peer import Peer, host_bytes
from eruca.net.server import Response, encode_response
from eruca.wire import names
from eruca.wire import properties as keys
from eruca.wire.bodies import PERM_WRITE, TopicConfig
from eruca.wire.codes import ResponseCode
from eruca.wire.commands import SendMessageAnswer
from eruca.wire.header import Command
from eruca.wire.hot import UNSET, SendAsk, message_id
from eruca.wire.properties import decode_properties, encode_properties
from eruca.wire.record import (
    BORN_HOST_V6,
    PROPERTIES_SIZE_MAX,
    TRANSACTION_MASK,
    Draft,
)

if TYPE_CHECKING:
    from eruca.broker.broker import Broker

FAQ = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
TIMER_KEYS = ("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS")
BATCH_KEYS = ("INNER_NUM", "INNER_BASE")


def admit_send(broker: "Broker", ask: SendAsk) -> bool:
    """Let the hot path know the topic, created if that is allowed; False: `slow_send` says why."""
    found = _topic(broker, ask)
    if isinstance(found, Response):
        return False
    broker.hot.topics[ask.topic] = hot_topic(broker, found)
    return True


def hot_topic(broker: "Broker", topic: TopicConfig) -> HotTopic:
    """What the hot path is told of a topic."""
    name = topic.name
    return HotTopic(
        broker.store.writer.queues_of(name.encode()),
        plain=names.topic_problem(name) is None
        and len(name) <= names.TOPIC_LENGTH_MAX
        and name not in names.NO_SEND_TOPICS
        and not name.startswith(names.RETRY_PREFIX)
        and bool(broker.settings.perm & PERM_WRITE),
        write_queue_count=max(topic.write_queue_count, topic.read_queue_count),
        read_queue_count=topic.read_queue_count,
        sys_flag=topic.sys_flag,
    )


def slow_send(broker: "Broker", peer: Peer, ask: SendAsk, body: bytes, kind: int) -> bytes:
    """The answer to any send."""
    answer = _send(broker, peer, ask, body, kind)
    if isinstance(answer, bytes):
        return answer
    settings = broker.settings
    answer.answer = {"MSG_REGION": settings.region, "TRACE_ON": str(settings.trace_on).lower()}
    return encode_response(Command(0, ask.opaque, kind=kind), answer)


def _send(broker: "Broker", peer: Peer, ask: SendAsk, body: bytes, kind: int) -> bytes | Response:
    if not broker.store.writable:
        return Response(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            remark="the store takes no messages: the disk is full, or failed, or it is closing",
        )
    if ask.queue_id == UNSET:
        return _refused(ResponseCode.SYSTEM_ERROR, "field queueId: is missing")
    topic = _topic(broker, ask)
    if isinstance(topic, Response):
        return topic
    queue_count = max(topic.write_queue_count, topic.read_queue_count)
    if ask.queue_id >= queue_count:
        return _refused(
            ResponseCode.INVALID_PARAMETER,
            f"request queueId[{ask.queue_id}] is illegal, topic {topic.name} has "
            f"{queue_count} queues. Producer: {peer.address}",
        )
    if ask.queue_id < 0:
        ask.queue_id = broker.rng.randrange(max(1, topic.write_queue_count))
    if ask.is_batch:
        return _refuse_batch(broker, ask, body)
    return _send_one(broker, peer, ask, body, kind)


def _topic(broker: "Broker", ask: SendAsk) -> TopicConfig | Response:
    """The topic of a send, created when it may be; or why there is none."""
    name = ask.topic.decode("utf-8", "replace")
    if not broker.settings.perm & PERM_WRITE and broker.topics.is_ordered(name):
        return _refused(
            ResponseCode.NO_PERMISSION, f"the broker[{broker.settings.name}] sending is forbidden"
        )
    problem = names.topic_problem(name)
    if problem is not None:
        return _refused(ResponseCode.INVALID_PARAMETER, problem)
    if name in names.NO_SEND_TOPICS:
        return _refused(
            ResponseCode.NO_PERMISSION, f"Sending message to topic[{name}] is forbidden."
        )
    topic = broker.topics.find(name)
    if topic is None:
        template = ask.default_topic.decode("utf-8", "replace")
        topic = broker.topics.auto_create(name, template, int(ask.default_queue_count))
    if topic is None and name.startswith(names.RETRY_PREFIX):
        topic = broker.topics.ensure(name)
    if topic is None:
        return _refused(
            ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist, apply first please!{FAQ}"
        )
    return topic


def _refuse_batch(broker: "Broker", ask: SendAsk, body: bytes) -> Response:
    """Why the hot path could not store a batch."""
    if ask.topic.startswith(names.RETRY_PREFIX.encode()):
        problem = "batch request does not support retry group " + ask.topic.decode()
    elif len(ask.topic) > names.TOPIC_LENGTH_MAX:
        problem = f"message topic length over {names.TOPIC_LENGTH_MAX}: {len(ask.topic)}"
    elif len(body) > broker.store.settings.message_size_max:
        problem = f"batch of {len(body)} bytes, limit {broker.store.settings.message_size_max}"
    else:
        problem = "the batch's sizes do not add up, or its properties ask for a delay"
    return _refused(ResponseCode.MESSAGE_ILLEGAL, problem)


def _send_one(
    broker: "Broker", peer: Peer, ask: SendAsk, body: bytes, kind: int
) -> bytes | Response:
    pairs = decode_properties(ask.properties.decode("utf-8", "replace"))
    pairs.pop("POP_CK", None)
    draft = Draft()
    draft.topic = ask.topic
    draft.queue_id = ask.queue_id
    if ask.topic.startswith(names.RETRY_PREFIX.encode()):
        refusal = _retried_by_client(broker, ask, pairs, draft)
        if refusal is not None:
            return refusal
    if keys.UNIQUE_KEY not in pairs:
        pairs[keys.UNIQUE_KEY] = broker.unique_ids.next()
    settings = broker.settings
    pairs[keys.REGION] = settings.region
    pairs[keys.TRACE_ON] = str(settings.trace_on).lower()
    pairs[keys.CLUSTER] = settings.cluster
    draft.flag = ask.message_flag
    draft.sys_flag = ask.sys_flag & ~TRANSACTION_MASK
    draft.born_ms = ask.born_ms
    draft.born_host = host_bytes(peer.host, peer.port)
    if len(draft.born_host) > 8:
        draft.sys_flag |= BORN_HOST_V6
    draft.reconsume_count = max(0, ask.reconsume_count)
    draft.body = body
    refusal = _illegal(broker, ask, body, pairs)
    if refusal is not None:
        return refusal
    put = store_message(broker, draft, pairs)
    if isinstance(put, Response):
        return put
    return _success(broker, ask, draft, pairs[keys.UNIQUE_KEY], kind)


def _illegal(broker: "Broker", ask: SendAsk, body: bytes, pairs: dict[str, str]) -> Response | None:
    """What cannot be stored, whatever its topic."""
    size_max = broker.store.settings.message_size_max
    if not body:
        return _refused(ResponseCode.MESSAGE_ILLEGAL, "the message has no body")
    if len(body) > size_max:
        return _refused(
            ResponseCode.MESSAGE_ILLEGAL, f"message body size over limit: {len(body)} > {size_max}"
        )
    if any(key in pairs for key in BATCH_KEYS):
        return _refused(ResponseCode.MESSAGE_ILLEGAL, "an inner batch without its flag")
    is_retry = ask.reconsume_count > 0 and keys.DELAY in pairs
    if pairs.get(keys.TRANSACTION) == "true" and not is_retry:
        return _refused(
            ResponseCode.NO_PERMISSION,
            f"the broker[{broker.settings.name}] sending transaction message is forbidden",
        )
    if keys.DELAY not in pairs and any(key in pairs for key in TIMER_KEYS):
        return _refused(
            ResponseCode.SYSTEM_ERROR, "timer messages are not enabled, use a delay level"
        )
    return None


def _retried_by_client(
    broker: "Broker", ask: SendAsk, pairs: dict[str, str], draft: Draft
) -> Response | None:
    """A consumer sends a failed message back as a plain send: count it, and bury it in time."""
    name = ask.topic.decode()[len(names.RETRY_PREFIX) :]
    group = broker.groups.ensure(name)
    if group is None:
        return _refused(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"subscription group not exist, {name}{FAQ}"
        )
    limit = ask.reconsume_max if ask.reconsume_max >= 0 else group.retry_count_max
    is_orderly = broker.locks.is_any_held(name, broker.clock.now_ms())
    if ask.reconsume_count > limit or (is_orderly and ask.reconsume_count > 0):
        dead = broker.topics.ensure_dead_letter(name)
        draft.topic = dead.name.encode()
        draft.queue_id = broker.rng.randrange(max(1, dead.write_queue_count))
        pairs[keys.DELAY] = "0"
    return None


def store_message(broker: "Broker", draft: Draft, pairs: dict[str, str]) -> Response | None:
    """Store `draft` with these properties, delayed if they say so; or why it is not stored."""
    due_ms = _delayed(broker, draft, pairs)
    draft.properties = encode_properties(pairs).encode("utf-8", "surrogatepass")
    if len(draft.properties) > PROPERTIES_SIZE_MAX:
        return _refused(
            ResponseCode.MESSAGE_ILLEGAL,
            f"message properties of {len(draft.properties)} bytes, limit {PROPERTIES_SIZE_MAX}",
        )
    try:
        broker.put(draft, due_ms)
    except MessageTooLarge as error:
        return _refused(ResponseCode.MESSAGE_ILLEGAL, str(error))
    except DiskFull as error:
        return _refused(ResponseCode.SERVICE_NOT_AVAILABLE, str(error))
    return None


def _delayed(broker: "Broker", draft: Draft, pairs: dict[str, str]) -> int:
    """Turn a message with a delay level towards its schedule queue; when it is due, or 0."""
    try:
        level = int(pairs.get(keys.DELAY, "0"))
    except ValueError:
        return 0
    if level <= 0:
        return 0
    level = min(level, len(broker.delays.levels_ms))
    for key in TIMER_KEYS:
        pairs.pop(key, None)
    pairs[keys.DELAY] = str(level)
    pairs[keys.REAL_TOPIC] = draft.topic.decode()
    pairs[keys.REAL_QUEUE_ID] = str(draft.queue_id)
    draft.topic = names.SCHEDULE_TOPIC.encode()
    draft.queue_id = level - 1
    return broker.hot.now_ms() + broker.delays.delay_ms(level)


def _success(broker: "Broker", ask: SendAsk, draft: Draft, unique_id: str, kind: int) -> bytes:
    """The answer of a stored message, by the road that takes any characters."""
    settings = broker.settings
    answer = SendMessageAnswer(
        message_id=message_id(broker.host_hex, draft.log_offset).decode(),
        queue_id=int(draft.queue_id),
        queue_offset=int(draft.queue_offset),
        transaction_id=unique_id,
        region=settings.region,
        trace_on=settings.trace_on,
    )
    return encode_response(Command(0, ask.opaque, kind=kind), Response(answer=answer))


def _refused(code: int, remark: str) -> Response:
    return Response(code, remark=remark)
