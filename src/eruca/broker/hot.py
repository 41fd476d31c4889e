# SPDX-License-Identifier: Apache-2.0
"""The hot request codes: send (10, 310, 320) and pull (11, 361), from bytes to bytes.

What a request needs to know of its topic and its group is kept in small typed objects. They are
made by the ordinary half of the broker (`admit_send`, `admit_pull`), which checks everything once,
and forgotten whenever something about the topic or the group changes. A send that asks for more
than storing, or that must be refused, goes to `slow_send` (send.py), which knows all the rules.
"""

from collections.abc import Callable
from typing import Final, final

from librt.strings import BytesWriter, read_i16_be, read_i32_be
from mypy_extensions import i64

from eruca.errors import DiskFull, MessageTooLarge
from eruca.net.turn import Hot, Turn
from eruca.store.commitlog import CommitLog
from eruca.store.consumequeue import ConsumeQueue
from eruca.store.reader import (
    FOUND,
    MESSAGE_WAS_REMOVING,
    NO_MATCHED_LOGIC_QUEUE,
    NO_MATCHED_MESSAGE,
    NO_MESSAGE_IN_QUEUE,
    OFFSET_OVERFLOW_ONE,
    STATUS_NAMES,
    Limits,
    Slice,
    read_slice,
)
from eruca.store.writer import TopicQueues, Writer, tags_code
from eruca.wire.header import BINARY, JSON, ONEWAY_FLAG, RESPONSE_FLAG
from eruca.wire.hot import (
    PULL_COMMITS,
    PULL_SUBSCRIBES,
    PULL_SUSPENDS,
    PullAsk,
    SendAnswers,
    SendAsk,
    write_message_id,
    write_pull_answer,
)
from eruca.wire.properties import PAIR_END
from eruca.wire.record import BORN_HOST_V6, PROPERTIES_SIZE_MAX, RECORD_SIZE_MIN, Draft
from eruca.wire.scan import Ask, read_binary, read_json
from eruca.wire.seek import is_plain

SEND: Final = 10
PULL: Final = 11
SEND_V2: Final = 310
SEND_BATCH: Final = 320
LITE_PULL: Final = 361

PULL_NOT_FOUND: Final = 19
PULL_RETRY_AT_ONCE: Final = 20
PULL_OFFSET_MOVED: Final = 21

BATCH_ITEM_SIZE_MIN: Final = 22  # Sizes and flags around the body and properties of one message.
TOPIC_SIZE_MAX: Final = 127


@final
class HotTopic:
    """What sends and pulls look at. `plain`: a send to it needs nothing but storing."""

    __slots__ = ("plain", "queues", "read_queue_count", "sys_flag", "write_queue_count")

    def __init__(
        self,
        queues: TopicQueues,
        *,
        plain: bool,
        write_queue_count: int,
        read_queue_count: int,
        sys_flag: int,
    ) -> None:
        self.queues = queues
        self.plain = plain
        self.write_queue_count: i64 = write_queue_count
        self.read_queue_count: i64 = read_queue_count
        self.sys_flag: i64 = sys_flag


@final
class Fetched:
    """What a group has been given of a topic since the start, and how far on each queue."""

    __slots__ = ("count", "queue_offsets", "size")

    def __init__(self, queue_offsets: dict[int, int]) -> None:
        self.count: i64 = 0
        self.size: i64 = 0
        self.queue_offsets = queue_offsets


@final
class HotSubscription:
    """What a group wants of a topic. `codes` None: everything."""

    __slots__ = ("codes", "fetched", "group", "sys_flag", "topic", "topic_name", "version")

    def __init__(
        self,
        group: str,
        topic_name: str,
        topic: HotTopic,
        codes: frozenset[int] | None,
        version: int,
        sys_flag: int,
        fetched: Fetched,
    ) -> None:
        self.group = group
        self.topic_name = topic_name
        self.topic = topic
        self.codes = codes
        self.version: i64 = version
        self.sys_flag: i64 = sys_flag
        self.fetched = fetched


# The ordinary half, as the hot one sees it. Each returns the bytes to answer with at once.
SlowSend = Callable[[object, SendAsk, bytes, int], bytes]
AdmitSend = Callable[[SendAsk], bool]
AdmitPull = Callable[[object, PullAsk], bytes]
Park = Callable[[object, PullAsk, HotSubscription, ConsumeQueue], None]
Commit = Callable[[str, str, int, int], None]
NowMs = Callable[[], int]


@final
class BrokerHot(Hot):
    """Serves hot requests against one store."""

    __slots__ = (
        "_answers",
        "_ask",
        "_closing_suffix",
        "_draft",
        "_host_hex",
        "_now_ms",
        "_suffix",
        "_turn_ms",
        "admit_pull",
        "admit_send",
        "commit",
        "dirty_size_max",
        "limits",
        "log",
        "message_size_max",
        "open_for_pulls",
        "open_for_sends",
        "park",
        "pending_resets",
        "pull_count_max",
        "slow_send",
        "subscriptions",
        "topics",
        "writer",
    )  # fmt: skip

    def __init__(
        self,
        writer: Writer,
        limits: Limits,
        now_ms: NowMs,
        *,
        region: str,
        trace_on: str,
        cluster: str,
        dirty_size_max: int,
        message_size_max: int,
        pull_count_max: int,
    ) -> None:
        self.writer = writer
        self.log: CommitLog = writer.log
        self.limits = limits
        self.topics: dict[bytes, HotTopic] = {}
        self.subscriptions: dict[bytes, dict[bytes, HotSubscription]] = {}  # by group, by topic
        self.open_for_sends = True
        self.open_for_pulls = True
        self.dirty_size_max: i64 = dirty_size_max
        self.message_size_max: i64 = message_size_max
        self.pull_count_max: i64 = pull_count_max
        self.slow_send: SlowSend | None = None
        self.admit_send: AdmitSend | None = None
        self.admit_pull: AdmitPull | None = None
        self.park: Park | None = None
        self.commit: Commit | None = None
        self.pending_resets: dict[str, dict[int, int]] = {}  # Offsets.resets
        self._now_ms = now_ms
        self._turn_ms: i64 = 0  # One clock read per turn.
        self._ask = SendAsk()
        self._draft = Draft()
        self._host_hex = self.log.store_host.hex().upper().encode()
        self._answers = SendAnswers(self._host_hex, region, trace_on)
        text = f"MSG_REGION\x01{region}\x02TRACE_ON\x01{trace_on}\x02CLUSTER\x01{cluster}\x02"
        self._suffix = text.encode()  # Java: the broker adds these to every single message.
        self._closing_suffix = b"\x02" + self._suffix

    def serve(self, turn: Turn, code: i64) -> bool:
        if code == SEND_V2 or code == SEND or code == SEND_BATCH:
            return self._send(turn, code)
        if code == PULL or code == LITE_PULL:
            return self._pull(turn, code)
        return False

    def end_turn(self) -> i64:
        self._turn_ms = 0
        promise = self.writer.take_promise()
        if promise <= 0:  # Nothing written, or nothing promised: a turn says it the same way.
            return promise
        return promise - self.dirty_size_max if promise > self.dirty_size_max else 0

    def now_ms(self) -> i64:
        """The time of this turn."""
        if self._turn_ms == 0:
            self._turn_ms = self._now_ms()
        return self._turn_ms

    def forget_topic(self, topic: bytes) -> None:
        """Something about the topic changed: the next request looks at it anew."""
        self.topics.pop(topic, None)
        for of_group in self.subscriptions.values():
            for key in [key for key in of_group if key.partition(b" ")[0] == topic]:
                del of_group[key]

    def forget_group(self, group: bytes) -> None:
        self.subscriptions.pop(group, None)

    # Send.

    def _send(self, turn: Turn, code: i64) -> bool:
        inbox = turn.inbox
        ask = self._ask
        ask.clear()
        if not _read(turn, ask):
            return False
        body = inbox.data[inbox.body_at : inbox.end]
        topic = self.topics.get(ask.topic)
        if topic is None and self.admit_send is not None and self.admit_send(ask):
            topic = self.topics.get(ask.topic)
        if topic is not None and topic.plain and self._is_simple(ask, topic, body):
            try:
                stored = (
                    self._store_batch(turn, ask, topic, body)
                    if ask.is_batch
                    else self._store(turn, ask, topic, body)
                )
            except (DiskFull, MessageTooLarge):
                stored = False  # Nothing was written; the slow road finds the same, and says so.
            if stored:
                return True
        assert self.slow_send is not None
        answer = self.slow_send(turn.owner, ask, body, int(inbox.kind))
        if ask.flag & ONEWAY_FLAG == 0:
            turn.out.write(answer)
        return True

    def _is_simple(self, ask: SendAsk, topic: HotTopic, body: bytes) -> bool:
        """Whether the request is within all limits, so that nothing remains but to store it."""
        return (
            self.open_for_sends
            and 0 <= ask.queue_id < topic.write_queue_count
            and 0 < len(body) <= self.message_size_max
            and ask.reconsume_count == 0
        )

    def _store(self, turn: Turn, ask: SendAsk, topic: HotTopic, body: bytes) -> bool:
        """Store one message and answer; False when its properties ask for more than that."""
        draft = self._draft
        scan = draft.scan
        text = ask.properties
        scan.read(text)
        if (
            scan.special
            or scan.unique_end == 0
            or len(text) + len(self._closing_suffix) > PROPERTIES_SIZE_MAX
            or (turn.inbox.kind == JSON and not is_plain(text, scan.unique_at, scan.unique_end))
        ):
            return False
        is_closed = i64(text[len(text) - 1]) == PAIR_END
        draft.properties = text
        draft.added = self._suffix if is_closed else self._closing_suffix
        draft.body = body
        self._fill(draft, turn, ask)
        draft.tags_code = tags_code(draft)
        draft.flag = ask.message_flag
        self.writer.append(draft, topic.queues, self.now_ms())
        if ask.flag & ONEWAY_FLAG == 0:
            self._answers.write(
                turn.out,
                turn.inbox.kind,
                ask.opaque,
                draft.log_offset,
                b"",
                draft.queue_id,
                draft.queue_offset,
                text[scan.unique_at : scan.unique_end],
            )
        return True

    def _fill(self, draft: Draft, turn: Turn, ask: SendAsk) -> None:
        """What the messages of one request have in common."""
        draft.topic = ask.topic
        draft.queue_id = ask.queue_id
        draft.sys_flag = ask.sys_flag
        draft.born_ms = ask.born_ms
        draft.born_host = turn.born_host
        if len(turn.born_host) > 8:
            draft.sys_flag |= BORN_HOST_V6
        draft.reconsume_count = 0
        draft.prepared_offset = 0

    def _store_batch(self, turn: Turn, ask: SendAsk, topic: HotTopic, body: bytes) -> bool:
        """Store the messages of a batch side by side; False when it is not sound."""
        draft = self._draft
        draft.scan.read(ask.properties)
        draft.added = b""
        unique = ask.properties[draft.scan.unique_at : draft.scan.unique_end]
        if draft.scan.special or not is_plain(unique, 0, len(unique)):
            return False
        count = _batch_count(body)
        if count <= 0:
            return False
        per_record: i64 = RECORD_SIZE_MIN + len(ask.topic) + len(turn.born_host) - 16
        per_record += len(self.log.store_host) - BATCH_ITEM_SIZE_MIN
        self.log.reserve(len(body) + count * per_record)
        self._fill(draft, turn, ask)
        queue = self.writer.queue(topic.queues, draft.queue_id)
        now_ms = self.now_ms()
        more_ids = BytesWriter()
        first_log_offset: i64 = -1
        first_queue_offset: i64 = 0
        at: i64 = 0
        while at < len(body):
            body_end = at + 20 + i64(read_i32_be(body, at + 16))
            end = at + i64(read_i32_be(body, at))
            draft.body = body[at + 20 : body_end]
            draft.properties = body[body_end + 2 : end]
            draft.scan.read(draft.properties)
            draft.tags_code = tags_code(draft)
            draft.flag = i64(read_i32_be(body, at + 12))
            self.writer.append_to(queue, draft, topic.queues, now_ms)
            if first_log_offset < 0:
                first_log_offset = draft.log_offset
                first_queue_offset = draft.queue_offset
            else:
                more_ids.append(44)
                write_message_id(more_ids, self._host_hex, draft.log_offset)
            at = end
        if ask.flag & ONEWAY_FLAG == 0:
            self._answers.write(
                turn.out,
                turn.inbox.kind,
                ask.opaque,
                first_log_offset,
                more_ids.getvalue(),
                ask.queue_id,
                first_queue_offset,
                unique,
            )
        return True

    # Pull.

    def _pull(self, turn: Turn, code: i64) -> bool:
        ask = PullAsk()
        ask.kind = turn.inbox.kind
        ask.code = code
        if not _read(turn, ask):
            return False
        turn.attach(self.pull(turn.owner, ask, turn.out))
        return True

    def pull(self, peer: object, ask: PullAsk, out: BytesWriter) -> bytes:
        """Answer a pull into `out`, or park it; the records that belong behind the answer."""
        subscription = self._subscription(ask)
        if subscription is None or len(self.pending_resets) > 0 or not self.open_for_pulls:
            assert self.admit_pull is not None
            refusal = self.admit_pull(peer, ask)
            if len(refusal) > 0:
                out.write(refusal)
                return b""
            subscription = self._subscription(ask)
            assert subscription is not None
        queue = self.writer.queue(subscription.topic.queues, ask.queue_id)
        if ask.sys_flag & PULL_COMMITS != 0 and ask.commit_offset >= 0:
            assert self.commit is not None
            self.commit(
                subscription.group,
                subscription.topic_name,
                int(ask.queue_id),
                int(ask.commit_offset),
            )
        found = self.read(ask, subscription, queue)
        if (
            ask.sys_flag & PULL_SUSPENDS != 0
            and ask.wait_ms > 0
            and pull_code(found, ask.queue_offset) == PULL_NOT_FOUND
            and self.park is not None
        ):
            self.park(peer, ask, subscription, queue)
            return b""
        self.answer_pull(out, ask, subscription, queue, found)
        return found.body

    def _subscription(self, ask: PullAsk) -> HotSubscription | None:
        """What the group wants of the topic, when that is known."""
        of_group = self.subscriptions.get(ask.group)
        if of_group is None:
            return None
        key = ask.topic
        if ask.sys_flag & PULL_SUBSCRIBES != 0:
            key = inline_key(ask)
        subscription = of_group.get(key)
        if (
            subscription is None
            or ask.version_of_subscription > subscription.version
            or not 0 <= ask.queue_id < subscription.topic.read_queue_count
            or ask.expression_type != b"TAG"
        ):
            return None
        return subscription

    def read(self, ask: PullAsk, subscription: HotSubscription, queue: ConsumeQueue) -> Slice:
        """What the queue holds for this request now."""
        count = ask.count_max
        if count > self.pull_count_max:
            count = self.pull_count_max
        size_max = ask.size_max if ask.size_max > 0 else self.limits.memory_size
        visible = self.log.end if self.dirty_size_max > 0 else self.log.flushed
        return read_slice(
            self.log, queue, ask.queue_offset, count, size_max, subscription.codes,
            self.limits, visible,
        )  # fmt: skip

    def answer_pull(
        self,
        out: BytesWriter,
        ask: PullAsk,
        subscription: HotSubscription,
        queue: ConsumeQueue,
        found: Slice,
    ) -> None:
        """Write the answer for what was read, up to its body, which is `found.body`."""
        fetched = subscription.fetched
        if found.status == FOUND:
            fetched.count += found.count
            fetched.size += len(found.body)
        fetched.queue_offsets[int(ask.queue_id)] = int(found.next_offset)
        write_pull_answer(
            out,
            ask,
            pull_code(found, ask.queue_offset),
            STATUS_NAMES[found.status],
            0,
            found.next_offset,
            queue.min_offset,
            queue.max_offset,
            subscription.topic.sys_flag,
            subscription.sys_flag,
            len(found.body),
        )


def inline_key(ask: PullAsk) -> bytes:
    """Where the subscription is kept that a pull brings along: beside the group's own."""
    return ask.topic + b" " + ask.subscription


def pull_code(found: Slice, asked: i64) -> i64:
    """Java's response code for what was found."""
    status = found.status
    if status == FOUND:
        return 0
    if status == OFFSET_OVERFLOW_ONE:
        return PULL_NOT_FOUND
    if status == NO_MATCHED_MESSAGE or status == MESSAGE_WAS_REMOVING:
        return PULL_RETRY_AT_ONCE
    if status == NO_MESSAGE_IN_QUEUE or status == NO_MATCHED_LOGIC_QUEUE:
        return PULL_NOT_FOUND if asked == 0 else PULL_OFFSET_MOVED
    return PULL_OFFSET_MOVED


def _read(turn: Turn, ask: Ask) -> bool:
    """Fill `ask` from the current frame; False when it is none of ours."""
    inbox = turn.inbox
    if inbox.kind == BINARY:
        read_binary(inbox.data, inbox.header_at, inbox.body_at, ask)
    elif inbox.kind != JSON or not read_json(inbox.data, inbox.header_at, inbox.body_at, ask):
        return False
    return ask.flag & RESPONSE_FLAG == 0


def _batch_count(body: bytes) -> i64:
    """How many messages a batch holds; 0 when its sizes do not add up."""
    count: i64 = 0
    at: i64 = 0
    end: i64 = len(body)
    while at < end:
        if end - at < BATCH_ITEM_SIZE_MIN:
            return 0
        size = i64(read_i32_be(body, at))
        body_size = i64(read_i32_be(body, at + 16))
        if size < BATCH_ITEM_SIZE_MIN or size > end - at or body_size < 0:
            return 0
        if body_size > size - BATCH_ITEM_SIZE_MIN:
            return 0
        if BATCH_ITEM_SIZE_MIN + body_size + i64(read_i16_be(body, at + 20 + body_size)) != size:
            return 0
        at += size
        count += 1
    return count
