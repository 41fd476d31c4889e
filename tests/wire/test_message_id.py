# SPDX-License-Identifier: Apache-2.0
"""The offset message id, digit for digit."""

from hypothesis import example, given
from hypothesis.strategies import integers

from eruca.wire.hot import message_id


@given(integers(0, 2**63 - 1))
@example(0x0123456789ABCDEF)
@example(0x7FFFFFFFFFFFFFFF)
def test_an_offset_is_sixteen_upper_case_digits(log_offset: int) -> None:
    assert message_id(b"7F00000100002A9F", log_offset) == b"7F00000100002A9F%016X" % log_offset
