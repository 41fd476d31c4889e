# SPDX-License-Identifier: Apache-2.0
"""Queue entries whose tags code is an address.

With enableConsumeQueueExt Java keeps tags code and filter bits in files of their own
(consumequeue_ext), and the entry holds the address there. Eruca never writes such files and need
not read them: the record itself tells its tags. Only topics that have such files come here.
"""

from collections.abc import Callable
from struct import Struct
from typing import Final

from eruca.errors import CorruptRecord
from eruca.store.consumequeue import ENTRY_SIZE
from eruca.store.replay import tags_code_of
from eruca.wire.record import Draft, Record

ENTRY: Final = Struct(">qiq")
ADDRESS_MAX: Final = -2147483649  # Java: a tags code has 32 bits, so what is below is an address.


def plain_tags(
    entries: bytes, record_at: Callable[[int], Record], delays_ms: tuple[int, ...]
) -> bytes:
    """The same entries with tags codes instead of addresses."""
    if len(entries) % ENTRY_SIZE != 0:
        return entries
    plain = bytearray(entries)
    for number, (log_offset, size, code) in enumerate(ENTRY.iter_unpack(entries)):
        if code <= ADDRESS_MAX:
            code = _tags_code(log_offset, record_at, delays_ms)
            ENTRY.pack_into(plain, number * ENTRY_SIZE, log_offset, size, code)
    return bytes(plain)


def _tags_code(
    log_offset: int, record_at: Callable[[int], Record], delays_ms: tuple[int, ...]
) -> int:
    try:
        record = record_at(log_offset)
    except CorruptRecord:
        return 0
    draft = Draft()
    draft.topic = record.topic
    draft.properties = record.properties
    draft.store_ms = record.store_ms
    draft.scan.read(record.properties)
    return int(tags_code_of(draft, delays_ms))
