# SPDX-License-Identifier: Apache-2.0
"""A session for one command: connect, do the work, close."""

import os
from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import TypeVar

from eruca.cli.running import name_servers, random_numbers, run_loop
from eruca.client.session import Session
from eruca.clock import Clock
from eruca.net.address import local_address

T = TypeVar("T")


def with_session(args: Namespace, work: Callable[[Session], Awaitable[T]]) -> T:
    """Run `work` with a session to the name servers that `args` name."""

    async def connected() -> T:
        session = Session(
            name_servers(args), Clock(), random_numbers(), address=local_address(), pid=os.getpid()
        )
        async with session:
            return await work(session)

    return run_loop(connected())
