# SPDX-License-Identifier: Apache-2.0
"""Versions, languages and the completeness of the code tables."""

import pytest

from eruca.wire import codes, header

from .golden import frames


@pytest.mark.parametrize(
    ("release", "number", "name"),
    [((4, 0, 0), 213, "V4_0_0"), ((4, 9, 4), 401, "V4_9_4"), ((5, 3, 2), 477, "V5_3_2"),
     ((5, 5, 0), 513, "V5_5_0"), ((5, 9, 9), 611, "V5_9_9")],
)  # fmt: skip
def test_versions(release: tuple[int, int, int], number: int, name: str) -> None:
    assert codes.version_of(*release) == number
    assert codes.version_name(number) == name
    assert codes.version_name(number - 1) == f"{name}_SNAPSHOT"


def test_versions_outside_the_table() -> None:
    assert codes.version_name(612) == codes.version_name(9999) == "HIGHER_VERSION"
    assert codes.version_name(79) == "V3(79)"


def test_headers_agree_about_languages_and_version() -> None:
    assert tuple(language.name for language in codes.Language) == header.LANGUAGES
    assert header.VERSION == codes.VERSION == 513


def test_every_recorded_code_has_a_name() -> None:
    unknown = {12345, 3442, 9999}  # asked on purpose
    for param in frames():
        command = header.decode_frame(bytes.fromhex(param.values[0]["frame_hex"]))
        if command.is_response:
            assert command.code in set(codes.ResponseCode)
        else:
            assert command.code in set(codes.RequestCode) | unknown, param.id
