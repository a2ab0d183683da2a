"""What can go wrong, as exceptions with the program's own message."""

from __future__ import annotations


class Error(RuntimeError):
    """The program ended with an error. `exit_code` is one of docs/errors.md."""

    exit_code = 1


class BadUsage(Error, ValueError):
    """An argument is wrong."""

    exit_code = 2


class BadFile(Error):
    """A file does not hold what it should."""

    exit_code = 65


class WorkerLost(Error):
    """A worker ended, or does not answer."""

    exit_code = 69


class ProgramFault(Error):
    """A fault of the program itself."""

    exit_code = 70


class IoError(Error, OSError):
    """A file cannot be read or written."""

    exit_code = 74


class Interrupted(Error):
    """A signal from outside stopped the training at a checkpoint. `pipedream.resume` goes on."""

    exit_code = 75


class CannotMeet(Error):
    """What was asked cannot be done: too little memory, an operator that is not supported, …"""

    exit_code = 78


def error_of(exit_code: int, message: str) -> Error:
    """The exception for an exit code of the program."""
    for kind in (BadUsage, BadFile, WorkerLost, ProgramFault, IoError, Interrupted, CannotMeet):
        if kind.exit_code == exit_code:
            return kind(message)
    error = Error(message)
    error.exit_code = exit_code
    return error
