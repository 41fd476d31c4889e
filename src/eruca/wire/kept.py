# SPDX-License-Identifier: Apache-2.0
"""Files under <store>/config in Java's form, as far as no body on the wire has that form.

topics.json is a TopicTable, subscriptionGroup.json a GroupTable, both of bodies.py.
"""

from dataclasses import dataclass

from eruca.wire.bodies import DataVersion
from eruca.wire.fields import wire


@dataclass(slots=True)
class KeptOffsets:
    """consumerOffset.json, lmqConsumerOffset.json: "topic@group" -> queue -> offset."""

    offsets: dict[str, dict[int, int]] = wire("offsetTable", make=dict)
    version: DataVersion = wire("dataVersion", make=DataVersion)
    lmq_offsets: dict[str, int] | None = wire(
        "lmqOffsetTable", None
    )  # of light queues, in the second
