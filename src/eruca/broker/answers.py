# SPDX-License-Identifier: Apache-2.0
"""JSON bodies in and out: what most handlers begin or end with."""

from typing import TypeVar

from eruca.net.server import Response
from eruca.wire import javajson
from eruca.wire.fields import from_json, to_json
from eruca.wire.header import Command

T = TypeVar("T")


def body_of(kind: type[T], request: Command) -> T:
    """The body of a request. Raises BadField when it is no such thing."""
    return from_json(kind, javajson.loads(request.body))


def reported(report: object, answer: object = None) -> Response:
    """Success, with a dataclass of wire fields as its body."""
    return Response(answer=answer, body=javajson.dumps(to_json(report)))
