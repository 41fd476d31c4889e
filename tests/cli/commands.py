# SPDX-License-Identifier: Apache-2.0
"""Run `eruca` as users do: as a process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from typing import Any

LIMIT_S = 60


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


async def eruca(
    *words: str, given: bytes = b"", flags: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> Ended:
    process = await started(*words, flags=flags, env=env)
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate(given)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def started(
    *words: str,
    flags: tuple[str, ...] = (),
    env: dict[str, str] | None = None,
    session: bool = False,
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *flags,
        "-m",
        "eruca",
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
        start_new_session=session,
    )
