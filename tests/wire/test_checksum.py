# SPDX-License-Identifier: Apache-2.0
"""Whichever library computes it, it is zlib's CRC-32."""

import zlib

from hypothesis import given
from hypothesis.strategies import binary

from eruca.wire.checksum import crc32


@given(binary(max_size=5000))
def test_is_the_one_of_zlib(data: bytes) -> None:
    assert crc32(data) == zlib.crc32(data)
