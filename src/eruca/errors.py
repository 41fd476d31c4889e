# SPDX-License-Identifier: Apache-2.0
"""Every error that Eruca raises, one level below `ErucaError`.

Four of them answer the question "what now":

    FrameError, CommandError   the peer broke the wire contract: the connection is closed
    Refused                    the peer understood and said no: nothing happened
    Unreachable                never sent: nothing happened, safe to retry elsewhere
    OutcomeUnknown             sent, no answer: it may have happened; the caller decides

The others belong to the store and to configuration.
"""


class ErucaError(Exception):
    """The root: `except ErucaError` catches everything below and nothing else."""


class FrameError(ErucaError):
    """The bytes on the wire are not a frame; no later byte can repair the stream."""


class CommandError(ErucaError):
    """A whole frame whose content breaks the contract."""


class BadField(ErucaError):
    """A field of a request or of a file is missing or does not parse."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"field {name}: {problem}")
        self.name = name
        self.problem = problem


class Refused(ErucaError):
    """The peer answered with a code other than success."""

    def __init__(self, code: int, remark: str) -> None:
        super().__init__(f"CODE: {code}  {remark}")
        self.code = code
        self.remark = remark


class Unreachable(ErucaError):
    """The request never left: nothing happened."""


class OutcomeUnknown(ErucaError):
    """The request left and no answer came: it may have happened."""


class MessageTooLarge(ErucaError):
    """A record, or a part of it, is beyond its limit; nothing was written."""


class CorruptRecord(ErucaError):
    """The bytes at `log_offset` are not a sound record."""

    def __init__(self, log_offset: int, problem: str) -> None:
        super().__init__(f"record at {log_offset}: {problem}")
        self.log_offset = log_offset
        self.problem = problem


class DiskFull(ErucaError):
    """There is no room for the next file; reading goes on."""


class StoreLocked(ErucaError):
    """Another process holds the store directory."""


class ConfigError(ErucaError):
    """A setting that contradicts another, or cannot be used."""
