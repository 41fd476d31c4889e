# SPDX-License-Identifier: Apache-2.0
"""What goes to the Java clients and comes back. The other end of it is java/Shape.java."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Queue:
    topic: str
    broker: str
    id: int

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Queue:
        return cls(said["topic"], said["broker"], said["queueId"])

    def json(self) -> dict[str, object]:
        return {"topic": self.topic, "broker": self.broker, "queueId": self.id}


@dataclass(frozen=True, slots=True)
class Receipt:
    status: str
    message_id: str
    offset_id: str | None
    queue: Queue
    queue_offset: int
    transaction_id: str | None
    region: str | None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Receipt:
        return cls(
            said["status"],
            said["msgId"],
            said["offsetMsgId"],
            Queue.of(said["queue"]),
            said["queueOffset"],
            said["transactionId"],
            said["region"],
        )


@dataclass(frozen=True, slots=True)
class Received:
    topic: str
    queue: Queue
    queue_offset: int
    log_offset: int
    message_id: str
    offset_id: str | None
    body: bytes
    body_crc: int
    tag: str | None
    keys: str | None
    properties: dict[str, str]
    flag: int
    sys_flag: int
    store_size: int
    retries: int
    born_ms: int
    stored_ms: int
    born_host: str
    store_host: str
    thread: str
    done: bool  # Whether the listener accepted it.

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Received:
        return cls(
            said["topic"],
            Queue(said["topic"], said["broker"], said["queueId"]),
            said["queueOffset"],
            said["logOffset"],
            said["msgId"],
            said["offsetMsgId"],
            base64.b64decode(said["body"]),
            said["bodyCrc"],
            said["tag"],
            said["keys"],
            said["properties"],
            said["flag"],
            said["sysFlag"],
            said["storeSize"],
            said["retries"],
            said["bornMs"],
            said["storedMs"],
            said["bornHost"],
            said["storeHost"],
            said.get("thread", ""),
            said.get("done", True),
        )


@dataclass(frozen=True, slots=True)
class Pulled:
    status: str
    next: int
    min: int
    max: int
    messages: list[Received]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Pulled:
        found = [Received.of(item) for item in said["messages"]]
        return cls(said["status"], said["next"], said["min"], said["max"], found)


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    code: int
    remark: str | None
    fields: dict[str, str]
    body: bytes
    encoding: str
    version: int
    language: str


def message(
    topic: str,
    body: bytes,
    *,
    tag: str | None = None,
    keys: str | None = None,
    flag: int = 0,
    delay_level: int = 0,
    properties: Mapping[str, str] | None = None,
) -> dict[str, object]:
    return {
        "topic": topic,
        "body": base64.b64encode(body).decode(),
        "tag": tag,
        "keys": keys,
        "flag": flag,
        "delayLevel": delay_level,
        "properties": dict(properties or {}),
    }
