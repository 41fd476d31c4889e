# SPDX-License-Identifier: Apache-2.0
"""The hot requests, read straight into typed objects, and their answers, written as bytes.

A send has two forms on the wire, long names (code 10) and letters (310, 320); both end here:

    a group  b topic  c default topic  d its queue count  e queue id  f system flag
    g born time  h flag  i properties  j reconsume count  k unit mode  l reconsume limit  m batch
"""

from typing import Final, final

from librt.strings import BytesWriter, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i16, i32, i64, u8

from eruca.wire.header import BINARY, VERSION
from eruca.wire.scan import Ask, whole

SEND_LONG_NAMES: Final = {
    b"producerGroup": 97, b"topic": 98, b"defaultTopic": 99, b"defaultTopicQueueNums": 100,
    b"queueId": 101, b"sysFlag": 102, b"bornTimestamp": 103, b"flag": 104, b"properties": 105,
    b"reconsumeTimes": 106, b"maxReconsumeTimes": 108, b"batch": 109,
}  # fmt: skip

UNSET: Final = -(2**31)  # No number that a peer would send; -1 means something.


@final
class SendAsk(Ask):
    """SEND_MESSAGE, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE: one object, filled again and again."""

    __slots__ = (
        "born_ms",
        "default_queue_count",
        "default_topic",
        "group",
        "is_batch",
        "message_flag",
        "properties",
        "queue_id",
        "reconsume_count",
        "reconsume_max",
        "sys_flag",
        "topic",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self.group = b""
        self.topic = b""
        self.default_topic = b""
        self.default_queue_count: i64 = 0
        self.queue_id: i64 = UNSET
        self.sys_flag: i64 = 0
        self.born_ms: i64 = 0
        self.message_flag: i64 = 0
        self.properties = b""
        self.reconsume_count: i64 = 0
        self.reconsume_max: i64 = UNSET
        self.is_batch = False

    def put(self, data: bytes, key_at: i64, key_end: i64, value: bytes, at: i64, end: i64) -> None:
        if key_end - key_at == 1:
            letter = i64(data[key_at])
        else:
            letter = i64(SEND_LONG_NAMES.get(data[key_at:key_end], 0))
        if letter == 98:
            self.topic = value[at:end]
        elif letter == 101:
            self.queue_id = whole(value, at, end)
        elif letter == 102:
            self.sys_flag = whole(value, at, end)
        elif letter == 103:
            self.born_ms = whole(value, at, end)
        elif letter == 104:
            self.message_flag = whole(value, at, end)
        elif letter == 105:
            self.properties = value[at:end]
        elif letter == 97:
            self.group = value[at:end]
        elif letter == 99:
            self.default_topic = value[at:end]
        elif letter == 100:
            self.default_queue_count = whole(value, at, end)
        elif letter == 106:
            self.reconsume_count = whole(value, at, end)
        elif letter == 108:
            self.reconsume_max = whole(value, at, end)
        elif letter == 109:
            self.is_batch = value[at:end] == b"true"


PULL_NAMES: Final = {
    b"consumerGroup": 1, b"topic": 2, b"queueId": 3, b"queueOffset": 4, b"maxMsgNums": 5,
    b"sysFlag": 6, b"commitOffset": 7, b"suspendTimeoutMillis": 8, b"subscription": 9,
    b"subVersion": 10, b"expressionType": 11, b"maxMsgBytes": 12,
}  # fmt: skip

PULL_COMMITS: Final = 0x1
PULL_SUSPENDS: Final = 0x2
PULL_SUBSCRIBES: Final = 0x4


@final
class PullAsk(Ask):
    """PULL_MESSAGE and LITE_PULL_MESSAGE; a parked one is kept, so each has its own object."""

    __slots__ = (
        "code",
        "commit_offset",
        "count_max",
        "expression_type",
        "group",
        "kind",
        "queue_id",
        "queue_offset",
        "size_max",
        "subscription",
        "sys_flag",
        "topic",
        "version_of_subscription",
        "wait_ms",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.kind: i64 = 0
        self.code: i64 = 0
        self.group = b""
        self.topic = b""
        self.queue_id: i64 = 0
        self.queue_offset: i64 = 0
        self.count_max: i64 = 0
        self.sys_flag: i64 = 0
        self.commit_offset: i64 = 0
        self.wait_ms: i64 = 0
        self.subscription = b""
        self.version_of_subscription: i64 = 0
        self.expression_type = b"TAG"
        self.size_max: i64 = UNSET

    def put(self, data: bytes, key_at: i64, key_end: i64, value: bytes, at: i64, end: i64) -> None:
        field = i64(PULL_NAMES.get(data[key_at:key_end], 0))
        if field == 1:
            self.group = value[at:end]
        elif field == 2:
            self.topic = value[at:end]
        elif field == 9:
            self.subscription = value[at:end]
        elif field == 11:
            self.expression_type = value[at:end]
        elif field > 0:
            self._put_number(field, whole(value, at, end))

    def _put_number(self, field: i64, number: i64) -> None:
        if field == 3:
            self.queue_id = number
        elif field == 4:
            self.queue_offset = number
        elif field == 5:
            self.count_max = number
        elif field == 6:
            self.sys_flag = number
        elif field == 7:
            self.commit_offset = number
        elif field == 8:
            self.wait_ms = number
        elif field == 10:
            self.version_of_subscription = number
        else:
            self.size_max = number


def message_id(host_hex: bytes, log_offset: i64) -> bytes:
    """The offset message id: the store host and the log offset, in upper-case hex."""
    w = BytesWriter()
    write_message_id(w, host_hex, log_offset)
    return w.getvalue()


def write_message_id(w: BytesWriter, host_hex: bytes, log_offset: i64) -> None:
    w.write(host_hex)
    write_i64_be(w, _hex_digits((log_offset >> 32) & 0xFFFFFFFF))
    write_i64_be(w, _hex_digits(log_offset & 0xFFFFFFFF))


def _hex_digits(n: i64) -> i64:
    """The eight digits of a 32-bit number as the bytes of one: spread out, then all at once."""
    n = (n & 0xFFFF0000) << 16 | n & 0xFFFF
    n = (n & 0x0000FF000000FF00) << 8 | n & 0x000000FF000000FF
    n = (n & 0x00F000F000F000F0) << 4 | n & 0x000F000F000F000F
    letters = (n + 0x0606060606060606) >> 4 & 0x0101010101010101  # 1 where a digit is above 9.
    return n + 0x3030303030303030 + letters * 7


def write_decimal(w: BytesWriter, number: i64) -> None:
    if number < 0:
        w.append(45)
        number = -number
    if number < 10:
        w.append(48 + int(number))
        return
    write_decimal(w, number // 10)
    w.append(48 + int(number % 10))


def decimal_size(number: i64) -> i64:
    size: i64 = 1 if number >= 0 else 2
    number = number if number >= 0 else -number
    while number >= 10:
        number //= 10
        size += 1
    return size


def _field(w: BytesWriter, key: bytes, value: bytes) -> None:
    write_i16_be(w, i16(len(key)))
    w.write(key)
    write_i32_be(w, i32(len(value)))
    w.write(value)


def _key(name: bytes) -> bytes:
    """A field's key and the first three bytes of its value's size, for short values."""
    return len(name).to_bytes(2, "big") + name + bytes(3)


def _number(w: BytesWriter, key: bytes, number: i64) -> None:
    w.write(key)
    w.append(int(decimal_size(number)))
    write_decimal(w, number)


def _head(w: BytesWriter, code: i64, opaque: i64, remark: bytes, fields: i64, body: i64) -> None:
    """Everything of a binary response before its fields."""
    header: i64 = 21 + len(remark) + fields
    write_i32_be(w, i32(4 + header + body))
    write_i32_be(w, i32((1 << 24) | header))
    write_i16_be(w, i16(code))
    w.append(0)  # JAVA
    write_i16_be(w, VERSION)
    write_i32_be(w, i32(opaque))
    write_i32_be(w, 1)
    write_i32_be(w, i32(len(remark)))
    w.write(remark)
    write_i32_be(w, i32(fields))


JSON_CODE: Final = b'{"code":'
JSON_FIELDS: Final = b',"extFields":{'
JSON_LANGUAGE: Final = b'},"flag":1,"language":"JAVA","opaque":'
JSON_REMARK: Final = b',"remark":"'
JSON_LAST: Final = b',"serializeTypeCurrentRPC":"JSON","version":%d}' % VERSION


def _json_begin(w: BytesWriter, code: i64) -> i64:
    """Begin a response; where its frame begins, since its sizes are known at the end only."""
    at = len(w)
    write_i64_be(w, 0)
    w.write(JSON_CODE)
    write_decimal(w, code)
    w.write(JSON_FIELDS)
    return at


def _json_end(w: BytesWriter, at: i64, opaque: i64, remark: bytes, body: i64) -> None:
    """Finish the response that begins at `at`, up to its body."""
    w.write(JSON_LANGUAGE)
    write_decimal(w, opaque)
    if len(remark) > 0:
        w.write(JSON_REMARK)
        w.write(remark)
        w.append(34)
    w.write(JSON_LAST)
    size = len(w) - at - 8
    _put_i32(w, at, 4 + size + body)
    _put_i32(w, at + 4, size)


def _put_i32(w: BytesWriter, at: i64, number: i64) -> None:
    w[at] = u8(number >> 24 & 255)
    w[at + 1] = u8(number >> 16 & 255)
    w[at + 2] = u8(number >> 8 & 255)
    w[at + 3] = u8(number & 255)


MESSAGE_ID_KEY: Final = b"\x00\x05msgId\x00\x00"
QUEUE_ID_KEY: Final = _key(b"queueId")
QUEUE_OFFSET_KEY: Final = _key(b"queueOffset")
TRANSACTION_ID_KEY: Final = b"\x00\x0dtransactionId\x00\x00"
NUMBER_FIELDS_SIZE: Final = (2 + 7 + 4) + (2 + 11 + 4)  # Keys and sizes of the two numbers.


@final
class SendAnswers:
    """Writes the answers to sends: what never changes is encoded once, here."""

    __slots__ = ("_binary_tail", "_host_hex", "_json_tail")

    def __init__(self, host_hex: bytes, region: str, trace_on: str) -> None:
        tail = BytesWriter()
        _field(tail, b"MSG_REGION", region.encode())
        _field(tail, b"TRACE_ON", trace_on.encode())
        self._host_hex = host_hex
        self._binary_tail = tail.getvalue()
        self._json_tail = f'","TRACE_ON":"{trace_on}","MSG_REGION":"{region}"'.encode()

    def write(
        self,
        w: BytesWriter,
        kind: i64,
        opaque: i64,
        log_offset: i64,
        more_ids: bytes,
        queue_id: i64,
        queue_offset: i64,
        transaction_id: bytes,
    ) -> None:
        """One success: of the message at `log_offset`, or of a batch that begins with it.

        `transaction_id` is known to be plain text, or empty.
        """
        if kind == BINARY:
            self._write_binary(
                w, opaque, log_offset, more_ids, queue_id, queue_offset, transaction_id
            )
            return
        at = _json_begin(w, 0)
        w.write(b'"queueId":"')
        write_decimal(w, queue_id)
        if len(transaction_id) > 0:
            w.write(b'","transactionId":"')
            w.write(transaction_id)
        w.write(b'","msgId":"')
        write_message_id(w, self._host_hex, log_offset)
        w.write(more_ids)
        w.write(b'","queueOffset":"')
        write_decimal(w, queue_offset)
        w.write(self._json_tail)
        _json_end(w, at, opaque, b"", 0)

    def _write_binary(
        self,
        w: BytesWriter,
        opaque: i64,
        log_offset: i64,
        more_ids: bytes,
        queue_id: i64,
        queue_offset: i64,
        transaction_id: bytes,
    ) -> None:
        id_size = decimal_size(queue_id)
        offset_size = decimal_size(queue_offset)
        ids_size: i64 = len(self._host_hex) + 16 + len(more_ids)
        size: i64 = 11 + ids_size + NUMBER_FIELDS_SIZE + id_size + offset_size
        size += len(self._binary_tail)
        if len(transaction_id) > 0:
            size += 19 + len(transaction_id)
        _head(w, 0, opaque, b"", size, 0)
        w.write(MESSAGE_ID_KEY)
        write_i16_be(w, i16(ids_size))
        write_message_id(w, self._host_hex, log_offset)
        w.write(more_ids)
        _number(w, QUEUE_ID_KEY, queue_id)
        _number(w, QUEUE_OFFSET_KEY, queue_offset)
        if len(transaction_id) > 0:
            w.write(TRANSACTION_ID_KEY)
            write_i16_be(w, i16(len(transaction_id)))
            w.write(transaction_id)
        w.write(self._binary_tail)


SUGGESTED_KEY: Final = _key(b"suggestWhichBrokerId")
NEXT_OFFSET_KEY: Final = _key(b"nextBeginOffset")
MIN_OFFSET_KEY: Final = _key(b"minOffset")
MAX_OFFSET_KEY: Final = _key(b"maxOffset")
TOPIC_FLAG_KEY: Final = _key(b"topicSysFlag")
GROUP_FLAG_KEY: Final = _key(b"groupSysFlag")


def write_pull_answer(
    w: BytesWriter,
    ask: PullAsk,
    code: i64,
    remark: bytes,
    suggested_broker_id: i64,
    next_offset: i64,
    min_offset: i64,
    max_offset: i64,
    topic_flag: i64,
    group_flag: i64,
    body_size: i64,
) -> None:
    """Everything of an answer to a pull before its body."""
    if ask.kind == BINARY:
        fields = BytesWriter()
        _number(fields, SUGGESTED_KEY, suggested_broker_id)
        _number(fields, NEXT_OFFSET_KEY, next_offset)
        _number(fields, MIN_OFFSET_KEY, min_offset)
        _number(fields, MAX_OFFSET_KEY, max_offset)
        _number(fields, TOPIC_FLAG_KEY, topic_flag)
        _number(fields, GROUP_FLAG_KEY, group_flag)
        _head(w, code, ask.opaque, remark, len(fields), body_size)
        w.write(fields.getvalue())
    else:
        at = _json_begin(w, code)
        w.write(b'"suggestWhichBrokerId":"')
        write_decimal(w, suggested_broker_id)
        w.write(b'","groupSysFlag":"')
        write_decimal(w, group_flag)
        w.write(b'","nextBeginOffset":"')
        write_decimal(w, next_offset)
        w.write(b'","maxOffset":"')
        write_decimal(w, max_offset)
        w.write(b'","minOffset":"')
        write_decimal(w, min_offset)
        w.write(b'","topicSysFlag":"')
        write_decimal(w, topic_flag)
        w.append(34)
        _json_end(w, at, ask.opaque, remark, body_size)
