# SPDX-License-Identifier: Apache-2.0
"""One remoting request over a plain socket, with JSON header: for asking a server whether it is
ready, and for saying to it what no client would.

    i32 length | u8 encoding, u24 header length | header | body
"""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass

GET_ROUTE = 105
GET_CLUSTER = 106


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    remark: str
    fields: dict[str, str]
    body: bytes


def request(code: int, fields: dict[str, str], body: bytes = b"", opaque: int = 1) -> bytes:
    command = {
        "code": code,
        "language": "JAVA",
        "version": 501,
        "opaque": opaque,
        "flag": 0,
        "extFields": fields,
        "serializeTypeCurrentRPC": "JSON",
    }
    header = json.dumps(command).encode()
    return struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body


def call(
    address: str, code: int, fields: dict[str, str], body: bytes = b"", limit_s: float = 5
) -> Answer:
    with dialled(address, limit_s) as link:
        link.sendall(request(code, fields, body))
        return answer(link)


def dialled(address: str, limit_s: float = 5) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=limit_s)


def answer(link: socket.socket) -> Answer:
    length, head = struct.unpack(">iI", _exactly(link, 8))
    rest = _exactly(link, length - 4)
    header_size = head & 0xFFFFFF
    header = json.loads(rest[:header_size])
    return Answer(
        header["code"],
        header.get("remark") or "",
        header.get("extFields") or {},
        rest[header_size:],
    )


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = []
    while size > 0:
        part = link.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionError("closed by the server")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
