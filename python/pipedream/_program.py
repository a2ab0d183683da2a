"""Runs the program `pipedream`, which plans and trains, as a process."""

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
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ._build import TORCH_VERSION
from ._errors import BadUsage, Error, error_of

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
    # The program finds libtorch by itself if torch is installed in the same folder as this package.
    if libraries.parent.parent.resolve() != PROGRAM.parents[2].resolve():
        paths = [str(libraries), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    return environment


def main() -> NoReturn:
    """The command `pipedream`. Replaces this process by the program."""
    try:
        check_torch()
    except ImportError as error:
        print(f"pipedream: {error}", file=sys.stderr)
        sys.exit(78)
    os.execve(PROGRAM, [str(PROGRAM), *sys.argv[1:]], _environment())


ERASE = "\x1b[K"  # the program erases a progress bar with it, before it writes a line
MESSAGE = "pipedream: "  # the beginning of an error message
WRITTEN = "written to "  # the beginning of a line that names a file of the result


class _Screen:
    """Shows on stderr what the program writes there, with four exceptions.

    The error message of a program that fails is not shown, since it is raised as an exception. Lines that
    name files in the folder `hidden` are not shown, since the folder will be removed. The files in `names`
    are called by their names in it. The text `dropped` is left out.
    """

    def __init__(self, show: bool, hidden: str | None, names: Mapping[str, str], dropped: str) -> None:
        self._show = show
        self._names = {dropped: "", **names} if dropped else names
        self._hidden = None if hidden is None else WRITTEN + hidden
        self._held = ""
        self._is_message = False  # whether `_held` is an error message
        self.holds_messages = True

    def add(self, text: str) -> None:
        """Takes text of the program, which may end within a line, and shows what may be shown of it."""
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
        """Whether more of the line is needed to decide if it is shown."""
        if "\n" in begin or "\r" in begin:
            return False
        return begin.startswith(WRITTEN) or any(each.startswith(begin) for each in (ERASE, MESSAGE, WRITTEN))

    def end(self, failed: bool) -> str:
        """Returns the error message if the program failed. Shows the rest of the text otherwise."""
        held, self._held = self._held, ""
        if not failed or not self._is_message:
            self._write(held)
        return self._named(held.removeprefix(ERASE).removeprefix(MESSAGE).strip()) if self._is_message else ""

    def _named(self, text: str) -> str:
        for file, name in self._names.items():
            text = text.replace(file, name)
        return text

    def _write(self, text: str) -> None:
        if self._show and text:
            sys.stderr.write(self._named(text))
            sys.stderr.flush()


def _stderr_pair(terminal: bool) -> tuple[int, int]:
    """Both ends of the program's stderr: a pseudo-terminal, on which the program draws bars, or a pipe."""
    if not terminal:
        return os.pipe()
    import termios

    ours, theirs = os.openpty()
    mode = termios.tcgetattr(theirs)
    mode[1] &= ~termios.OPOST  # the terminal does not change line ends
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    if hasattr(termios, "tcsetwinsize"):
        with contextlib.suppress(OSError, ValueError, termios.error):  # the size of the terminal is unknown
            termios.tcsetwinsize(theirs, termios.tcgetwinsize(sys.stderr.fileno()))
    return ours, theirs


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError as error:
        if error.errno == errno.EIO:  # a pseudo-terminal ends with this error
            return b""
        raise


class _Process:
    """The running program."""

    def __init__(self, words: Sequence[str], screen: _Screen, terminal: bool) -> None:
        self._screen = screen
        self._stdout = tempfile.TemporaryFile()
        self._stderr, theirs = _stderr_pair(terminal)
        # The program has a session of its own, so the terminal does not send it Ctrl-C. interrupt() sends it, once
        # for each key press. PIPEDREAM_PARENT makes the program stop if this process ends.
        try:
            self._process = subprocess.Popen(
                [str(PROGRAM), *words],
                stdin=subprocess.DEVNULL,
                stdout=self._stdout,
                stderr=theirs,
                env=_environment() | {"PIPEDREAM_PARENT": str(os.getpid())},
                start_new_session=True,
            )
        except BaseException:
            os.close(self._stderr)
            self._stdout.close()
            raise
        finally:
            os.close(theirs)

    def interrupt(self) -> None:
        self._screen.holds_messages = False
        self._process.send_signal(signal.SIGINT)

    def finish(self) -> tuple[int, bytes, str]:
        """Waits for the program. Returns its exit code, what it printed to stdout, and its error message."""
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
    """Within the block, Ctrl-C stops the program and not this process.

    Only the main thread of a process can handle signals. In another thread, the block does not change Ctrl-C.
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
        for _ in range(self.count):  # interrupts that came before the program ran
            process.interrupt()
        try:
            return process.finish()
        finally:
            self.process = None


def _decoded(data: bytes) -> tuple[str, bytes]:
    """The text of the bytes, and the bytes of a character at the end that is not complete."""
    for cut in range(4):
        try:
            return data[: len(data) - cut].decode(), data[len(data) - cut :]
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace"), b""


def run(
    words: Sequence[str],
    show: bool = True,
    hidden: str | None = None,
    names: Mapping[str, str] | None = None,
    dropped: str = "",
) -> str:
    """Runs the program with these arguments, and returns what it prints.

    If `show` is true, its progress is shown on stderr, as _Screen says of the other arguments. Raises
    KeyboardInterrupt if Ctrl-C stopped the program, and the exception of its exit code if it failed.
    """
    show = show and sys.stderr is not None
    for word in words:
        _want_word(word)
    with _Interrupts() as interrupts:
        process = _Process(words, _Screen(show, hidden, names or {}, dropped), terminal=show and sys.stderr.isatty())
        code, printed, message = interrupts.run(process)
    if interrupts.count > 0 and code != 0:
        raise KeyboardInterrupt
    if code != 0:
        raise _failure(code, message)
    return printed.decode()


def _want_word(word: str) -> None:
    """Raises BadUsage if a program cannot take the text as an argument."""
    try:
        fits = b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise BadUsage(f"wanted text without NUL and lone surrogates, found {word!r}")


def _failure(code: int, message: str) -> Error:
    if code < 0:
        why = " (is there too little memory?)" if -code == signal.SIGKILL else ""
        return error_of(code, f"the program was ended by signal {-code}{why}")
    return error_of(code, _with_keywords(message) or f"the program ended with exit code {code}")


def _with_keywords(message: str) -> str:
    """The message with arguments of the functions instead of flags. Commands in quotation marks stay as they are."""
    parts = re.split(r"('pipedream [^']*')", message)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(
            r"(?<![\w-])--(?!help)([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), parts[place]
        )
    return "".join(parts)
