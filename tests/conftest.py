# SPDX-License-Identifier: Apache-2.0
"""Says which build is under test, and refuses to run when it is not the promised one."""

import os

import pytest

import eruca.broker.hot


def build_under_test() -> str:
    """Whether the hot modules are compiled or plain Python."""
    return "interpreted" if eruca.broker.hot.__file__.endswith(".py") else "compiled"


def pytest_report_header() -> str:
    return f"eruca: {build_under_test()}, {eruca.__file__}"


def pytest_configure(config: pytest.Config) -> None:
    promised = os.environ.get("ERUCA_EXPECT")
    if promised is not None and promised != build_under_test():
        raise pytest.UsageError(f"{promised} build promised, {build_under_test()} build loaded")
