"""The program `pipedream`, which does the work: where it is, and how it is run as a process."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from ._build import TORCH_VERSION
from ._errors import Error, error_of

PROGRAM = pathlib.Path(__file__).parent / "bin" / "pipedream"


def _torch_folder() -> pathlib.Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"pipedream needs torch {TORCH_VERSION}, and no torch is installed")
    return pathlib.Path(spec.submodule_search_locations[0])


def check_torch() -> None:
    """Raises ImportError unless the installed torch is the one that the program was built for."""
    text = (_torch_folder() / "version.py").read_text(encoding="utf-8")
    found = re.search(r"^__version__ = ['\"]([^'\"]+)", text, re.MULTILINE)
    version = found.group(1) if found else "of an unknown version"
    if version != TORCH_VERSION:
        raise ImportError(
            f"pipedream was built for torch {TORCH_VERSION}, and torch {version} is installed: install "
            "pipedream again (pip install --no-build-isolation --force-reinstall --no-deps .), or that torch"
        )


def _environment() -> dict[str, str]:
    """The environment in which the program finds libtorch."""
    environment = dict(os.environ)
    libraries = _torch_folder() / "lib"
    # Beside this package, where torch mostly is, the program finds it by itself.
    if libraries.parent.parent.resolve() != PROGRAM.parents[2].resolve():
        paths = [str(libraries), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    return environment


def main() -> NoReturn:
    """The command `pipedream`: becomes the program."""
    try:
        check_torch()
    except ImportError as error:
        print(f"pipedream: {error}", file=sys.stderr)
        sys.exit(78)
    os.execve(PROGRAM, [str(PROGRAM), *sys.argv[1:]], _environment())


ERASE = "\x1b[K"  # what erases a bar before the next line
MESSAGE = "pipedream: "  # how an error message begins
WRITTEN = "written to "  # how a line begins that names a file of the result


class _Screen:
    """Shows what the program writes to stderr, with two exceptions.

    The last message of a program that fails is raised as an exception, and would be seen twice. Files
    in the folder `hidden` are of no interest, because it will be removed.
    """

    def __init__(self, show: bool, hidden: str | None) -> None:
        self._show = show
        self._hidden = None if hidden is None else WRITTEN + hidden
        self._held = ""
        self._is_message = False  # whether what is held is an error message
        self.holds_messages = True

    def add(self, text: str) -> None:
        """Takes text as it comes, and shows all lines that may be shown."""
        self._held += text
        while self._held and not self._is_message:
            begin = self._held.removeprefix(ERASE)
            self._is_message = self.holds_messages and begin.startswith(MESSAGE)
            if self._is_message or self._may_be_held(begin):
                return
            line = re.match(r"[^\r\n]*[\r\n]", self._held)
            end = line.end() if line else len(self._held)
            if self._hidden is None or not begin.startswith(self._hidden):
                self._write(self._held[:end])
            self._held = self._held[end:]

    @staticmethod
    def _may_be_held(begin: str) -> bool:
        """Whether the rest of the line decides if it is shown."""
        if "\n" in begin or "\r" in begin:
            return False
        return begin.startswith(WRITTEN) or any(each.startswith(begin) for each in (ERASE, MESSAGE, WRITTEN))

    def end(self, failed: bool) -> str:
        """The error message of a program that failed."""
        held, self._held = self._held, ""
        if not failed or not self._is_message:
            self._write(held)
        return held.removeprefix(ERASE).removeprefix(MESSAGE).strip() if self._is_message else ""

    def _write(self, text: str) -> None:
        if self._show and text:
            sys.stderr.write(text)
            sys.stderr.flush()


def _stderr_pair(terminal: bool) -> tuple[int, int]:
    """Both ends of the program's stderr. On a terminal it is one too, so that it draws bars."""
    if not terminal:
        return os.pipe()
    import termios

    ours, theirs = os.openpty()
    mode = termios.tcgetattr(theirs)
    mode[1] &= ~termios.OPOST  # line ends stay as they are
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    if hasattr(termios, "tcsetwinsize"):
        with contextlib.suppress(OSError, ValueError, termios.error):  # a terminal of unknown size
            termios.tcsetwinsize(theirs, termios.tcgetwinsize(sys.stderr.fileno()))
    return ours, theirs


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError as error:
        if error.errno == errno.EIO:  # how the end of a pseudo-terminal shows
            return b""
        raise


class _Process:
    """The running program."""

    def __init__(self, words: Sequence[str], show: bool, hidden: str | None) -> None:
        terminal = show and sys.stderr is not None and sys.stderr.isatty()
        self._screen = _Screen(show and sys.stderr is not None, hidden)
        self._stdout = tempfile.TemporaryFile()
        self._stderr, theirs = _stderr_pair(terminal)
        # The program has a session of its own, so the terminal does not send it Ctrl-C; interrupt() does, once
        # for each key press. PIPEDREAM_PARENT makes it stop if this process ends.
        self._process = subprocess.Popen(
            [str(PROGRAM), *words],
            stdin=subprocess.DEVNULL,
            stdout=self._stdout,
            stderr=theirs,
            env=_environment() | {"PIPEDREAM_PARENT": str(os.getpid())},
            start_new_session=True,
        )
        os.close(theirs)

    def interrupt(self) -> None:
        self._screen.holds_messages = False
        self._process.send_signal(signal.SIGINT)

    def finish(self) -> tuple[int, bytes, str]:
        """Exit code, what it printed, and the error message."""
        try:
            rest = b""
            while chunk := _read(self._stderr):
                text, rest = _decoded(rest + chunk)
                self._screen.add(text)
            code = self._process.wait()
            message = self._screen.end(failed=code != 0)
            self._stdout.seek(0)
            return code, self._stdout.read(), message
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            os.close(self._stderr)
            self._stdout.close()


class _Interrupts:
    """Takes over Ctrl-C for as long as the block lasts, so that it stops the program and not this process.

    Only the main thread of a process can do so. In another thread Ctrl-C does what it did before.
    """

    def __init__(self) -> None:
        self.count = 0
        self.process: _Process | None = None

    def _handle(self, *_: object) -> None:
        self.count += 1
        if self.process is not None:
            self.process.interrupt()

    def __enter__(self) -> _Interrupts:
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def run(self, process: _Process) -> tuple[int, bytes, str]:
        self.process = process
        for _ in range(self.count):  # those that came before it ran
            process.interrupt()
        try:
            return process.finish()
        finally:
            self.process = None


def _decoded(data: bytes) -> tuple[str, bytes]:
    """As much of the bytes as is text, and the beginning of a character that is not whole."""
    for cut in range(4):
        try:
            return data[: len(data) - cut].decode(), data[len(data) - cut :]
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace"), b""


def run(words: Sequence[str], show: bool = True, hidden: str | None = None) -> str:
    """Runs the program with these arguments, and returns what it prints.

    Its progress is shown on stderr if `show` is true, except for lines about files in the folder
    `hidden`. Raises the exception of its exit code, and KeyboardInterrupt if it was interrupted.
    """
    with _Interrupts() as interrupts:
        code, printed, message = interrupts.run(_Process(words, show, hidden))
    if interrupts.count > 0 and code != 0:
        raise KeyboardInterrupt
    if code != 0:
        raise _failure(code, message)
    return printed.decode()


def _failure(code: int, message: str) -> Error:
    if code < 0:
        why = " (is there too little memory?)" if -code == signal.SIGKILL else ""
        return error_of(code, f"the program was ended by signal {-code}{why}")
    return error_of(code, message or f"the program ended with exit code {code}")
