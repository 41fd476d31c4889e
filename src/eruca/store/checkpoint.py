# SPDX-License-Identifier: Apache-2.0
"""How far the files are trusted: 4096 bytes, of which six numbers count.

    0   store time of the last record that was synced
    8   store time of the last record whose queue entry was synced
    16  store time of the last record in the last full index file that was synced
    24  how far the master had flushed, on a slave
    32  the confirmed log offset, under a controller
    40  log offset of the last record that stands, synced, in its queue

It is written after log, queues and index were synced, in this order, so everything below
`record_offset` survives whatever happens next. The meanings are Java's: a Java broker that is
started after a crash recovers from the same numbers.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

FILE_SIZE: Final = 4096
LAYOUT: Final = Struct(">6q")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    log_ms: int = 0
    queue_ms: int = 0
    index_ms: int = 0
    master_flushed: int = 0
    confirmed: int = 0
    record_offset: int = 0

    @classmethod
    def decode(cls, data: bytes | None) -> Self:
        """What the file says; nothing is trusted when there is none or it is cut off."""
        if data is None or len(data) < LAYOUT.size:
            return cls()
        return cls(*LAYOUT.unpack_from(data))

    def encode(self) -> bytes:
        fields = LAYOUT.pack(
            self.log_ms,
            self.queue_ms,
            self.index_ms,
            self.master_flushed,
            self.confirmed,
            self.record_offset,
        )
        return fields.ljust(FILE_SIZE, b"\0")
