"""The folder of a training: what `out` names, or a temporary one."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from ._arguments import Path, path_of
from ._errors import BadUsage, IoError
from ._files import DATA, HELD_OUT

INPUTS = ("*.pt2", DATA, HELD_OUT, "plan.json", "profile.json")  # what this package writes to `inputs`
BEFORE_TRAINING = (".lock", "cluster.toml", "*.tmp*")  # what the program writes to `run` before config.json


class Folder:
    """The folder `inputs` has the model and the data. The program writes to the folder `run`.

    The inputs are prepared in `new`. A training that cannot begin therefore leaves no files, and does not
    change an earlier training.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self.new = path / ".new"
        self.inputs = path / "inputs"
        self.run = path / "run"
        shutil.rmtree(self.new, ignore_errors=True)  # a process that was killed left it
        self.new.mkdir(parents=True)

    def begin(self, words: list[str]) -> list[str]:
        """Renames `new` to `inputs`. Returns `words`, arguments of the program, with the new names of the files."""
        try:
            for old in (self.inputs, self.run):
                if old.exists():
                    shutil.rmtree(old)
            self.new.rename(self.inputs)
        except OSError as error:
            raise IoError(f"cannot replace the training in {self._path}: {error.strerror}") from None
        return [word.replace(str(self.new), str(self.inputs)) for word in words]

    def give_up(self) -> None:
        """Removes the inputs if the training has not begun."""
        if self.new.exists():
            shutil.rmtree(self.new)
            with contextlib.suppress(OSError):  # the folder has other files
                self._path.rmdir()


def _holds_training(run: pathlib.Path) -> bool:
    return (run / "config.json").exists() or (run / "checkpoints").exists()


def _foreign(path: pathlib.Path) -> list[str]:
    """The files in a folder that no training that failed early can have left in it."""
    if not path.exists():
        return []
    found = [each.name for each in path.iterdir() if each.name not in (".new", "inputs", "run")]
    for folder, ours in ((path / "inputs", INPUTS), (path / "run", BEFORE_TRAINING)):
        inside = folder.iterdir() if folder.is_dir() else [folder] if folder.exists() else []
        found += [str(each.relative_to(path)) for each in inside if not any(each.match(kind) for kind in ours)]
    return found


@contextlib.contextmanager
def folder_for(out: Path | None, overwrite: bool) -> Iterator[Folder]:
    """Yields the folder `out`, or a temporary one if it is None."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
            yield Folder(pathlib.Path(scratch))
        return
    path = path_of(out, "out").absolute()
    try:
        if _holds_training(path / "run"):
            if not overwrite:
                raise BadUsage(
                    f"{out} holds a training: pipedream.resume({os.fspath(out)!r}) goes on with it, "
                    "overwrite=True replaces it"
                )
        elif path.exists() and not path.is_dir():
            raise BadUsage(f"out: wanted a folder, found the file {out}: choose another name")
        elif foreign := _foreign(path):
            raise BadUsage(f"{out} has files that are not of a training, such as {foreign[0]}: choose another folder")
        folder = Folder(path)
    except OSError as error:
        raise IoError(f"cannot use the folder {out}: {error.strerror}") from None
    try:
        yield folder
    finally:
        folder.give_up()
