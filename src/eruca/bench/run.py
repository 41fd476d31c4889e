# SPDX-License-Identifier: Apache-2.0
"""Run workloads against one broker and measure around them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from eruca.bench import load
from eruca.bench.machine import Meter, Target
from eruca.bench.workload import WORKLOADS, Workload
from eruca.clock import Clock
from eruca.errors import ErucaError

WARM_SECONDS: Final = 1.0
LOADS: Final = {
    "send": load.send,
    "pull": load.pull,
    "e2e": load.end_to_end,
    "idle": load.idle,
}

BUSY_LIMIT: Final = 0.9  # A generator busier than this may be what was measured.


@dataclass(slots=True)
class Result:
    """The figures of one workload. Costs are None where nobody knows them."""

    name: str
    messages: int = 0
    failed: int = 0
    seconds: float = 0.0
    per_second: float = 0.0
    p50_ms: float | None = None
    p99_ms: float | None = None
    server_us: float | None = None  # CPU time per message
    server_own_mib: float | None = None
    generator_us: float | None = None
    generator_busy: float | None = None  # share of one core
    kib_each: float | None = None
    create_seconds: float | None = None
    mib_per_second: float | None = None
    rates: list[float] = field(default_factory=list)  # messages a second, over time
    problem: str | None = None

    @property
    def figure(self) -> float | None:
        """The number that counts."""
        value: float | None = getattr(self, WORKLOADS[self.name].figure)
        return value

    @property
    def generator_bound(self) -> bool:
        return (self.generator_busy or 0) > BUSY_LIMIT

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


async def run(
    target: Target,
    names: Sequence[str],
    clock: Clock,
    seconds: float,
    tell: Callable[[str], None],
) -> list[Result]:
    """The results of the named workloads, in their order. A failure is a result, too."""
    tell("warming up")
    await load.send(Meter(target, clock), Workload("warm", "", topic="bench-warm"), WARM_SECONDS)
    results = []
    stored: set[str] = set()
    for name in names:
        workload = WORKLOADS[name]
        if workload.kind == "pull" and workload.topic not in stored:
            tell(f"{name}: filling {workload.topic}")
            await load.send(Meter(target, clock), WORKLOADS["batch"], seconds)
        tell(f"{name}: {seconds:g} s")
        results.append(await _measured(Meter(target, clock), workload, seconds))
        stored.add(workload.topic)
    return results


async def _measured(meter: Meter, workload: Workload, seconds: float) -> Result:
    try:
        done = await LOADS[workload.kind](meter, workload, seconds)
    except ErucaError as error:
        return Result(workload.name, problem=str(error))
    result = Result(
        workload.name,
        done.messages,
        done.failed,
        meter.seconds,
        done.messages / meter.seconds if meter.seconds else 0.0,
        done.percentile_ms(0.5),
        done.percentile_ms(0.99),
        server_own_mib=meter.target.own_mib(),
        rates=done.rates(),
    )
    for name, value in done.extra.items():
        setattr(result, name, value)
    if meter.server_seconds is not None and done.messages:
        result.server_us = meter.server_seconds * 1e6 / done.messages
    if meter.own_seconds is not None and done.messages:
        result.generator_us = meter.own_seconds * 1e6 / done.messages
        result.generator_busy = meter.own_seconds / meter.seconds
    return result
