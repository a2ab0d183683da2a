"""The exceptions of this package. Most have a message of the program."""

from __future__ import annotations


class Error(RuntimeError):
    """An error of the program or of this package. docs/errors.md lists the values of `exit_code`."""

    exit_code = 1


class BadUsage(Error, ValueError):
    """An argument is wrong."""

    exit_code = 2


class BadFile(Error):
    """A file has the wrong content."""

    exit_code = 65


class WorkerLost(Error):
    """A worker ended, or does not answer."""

    exit_code = 69


class ProgramFault(Error):
    """A bug of the program."""

    exit_code = 70


class IoError(Error, OSError):
    """A file cannot be read or written."""

    exit_code = 74


class Interrupted(Error):
    """A signal from outside stopped the training at a checkpoint. `pipedream.resume` goes on."""

    exit_code = 75


class CannotMeet(Error):
    """A request that cannot be met: too little memory, an operator that is not supported, …"""

    exit_code = 78


def error_of(exit_code: int, message: str) -> Error:
    """The exception for an exit code of the program."""
    for kind in (BadUsage, BadFile, WorkerLost, ProgramFault, IoError, Interrupted, CannotMeet):
        if kind.exit_code == exit_code:
            return kind(message)
    error = Error(message)
    error.exit_code = exit_code
    return error
