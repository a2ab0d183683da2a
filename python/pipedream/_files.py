"""Writes a model and its data to files for the program, and makes the flags that name them."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping
from numbers import Real

import torch

from . import _faithful
from ._arguments import Path, kind_of, path_of, want_count
from ._data import Data, Samples
from ._errors import BadUsage
from ._export import TARGET, Roles, export

Model = torch.nn.Module | Path

DEFAULT_LOSS = "cross-entropy"
DATA = "data.safetensors"
HELD_OUT = "held_out.safetensors"
DATA_KIND = "safetensors:"  # how the value of --data begins


def names_in(folder: pathlib.Path) -> dict[str, str]:
    """Files that this package wrote to the folder, and what messages call them."""
    names = {str(folder / DATA): "the data", str(folder / HELD_OUT): "the held-out data"}
    names |= {str(folder / f"{each}.json"): f"the {each}" for each in ("plan", "profile")}
    return names | {str(file): "the model" for file in folder.glob("*.pt2")}


def moved_inputs(run: pathlib.Path, inputs: pathlib.Path) -> list[str]:
    """Returns --model and --data with the files in `inputs`, for a training whose folder was moved or copied.

    The run's configuration then names files in the old folder. Otherwise returns no flags.
    """
    try:
        flags = json.loads((run / "config.json").read_text(encoding="utf-8"))["flags"]
        model, data = flags.get("model"), flags.get("data")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []  # the program says what is wrong with the configuration
    words: list[str] = []
    if isinstance(model, str) and (new := _moved(model, inputs)) != model:
        words += ["--model", new]
    if isinstance(data, str) and data.startswith(DATA_KIND):
        files = data.removeprefix(DATA_KIND).split(",")
        moved = [_moved(file, inputs) for file in files]
        if moved != files:
            words += ["--data", DATA_KIND + ",".join(_without_comma(file) for file in moved)]
    return words


def _moved(file: str, inputs: pathlib.Path) -> str:
    """The file in `inputs` for `file`, which the configuration of a training names.

    If this package wrote `file`, or if it does not exist, that is the file with its name in `inputs`.
    """
    new = inputs / os.path.basename(file)
    is_ours = os.path.basename(os.path.dirname(file)) == inputs.name
    return str(new) if is_ours or (not os.path.exists(file) and new.is_file()) else file


def _without_comma(file: str) -> str:
    if "," in file:
        raise BadUsage(f"{file}: wanted a folder without a comma in its name")
    return file


def is_share(held_out: object) -> bool:
    """Whether the argument `held_out` is a share of the data. Otherwise it is None or samples."""
    return isinstance(held_out, Real) and not isinstance(held_out, bool)


class Source:
    """A model and its data, which are written to `folder`."""

    def __init__(
        self, folder: pathlib.Path, model: Model, loss: str | None, batch: int | None, show: bool, trains: bool = True
    ) -> None:
        """`trains` is false for a measurement."""
        if not isinstance(model, (torch.nn.Module, str, os.PathLike)):
            raise BadUsage(f"wanted a torch.nn.Module, a file or a name as the model, found {kind_of(model)}")
        if not isinstance(loss, (str, type(None))):
            raise BadUsage(
                f"loss: wanted the name of a loss, such as 'cross-entropy', found {kind_of(loss)}; for any other, let "
                "the model return its loss, and say loss='none'"
            )
        want_count(batch, "batch")
        self.module = _faithful.plain(model) if isinstance(model, torch.nn.Module) else None
        if isinstance(self.module, torch.jit.ScriptModule):
            raise BadUsage(
                "wanted a torch.nn.Module as the model, found one of TorchScript, which torch.export does not take: "
                "give the module that it was made from"
            )
        self._given = model
        self._folder, self._loss, self._batch, self._show, self._trains = folder, loss, batch, show, trains
        self._names: dict[str | int, str] = {}  # the names of the inputs and the target in the file
        self._samples: Samples | None = None

    def model(self, data: Data | str | None, evaluates: bool = False) -> list[str]:
        """Returns --model and --loss. Exports a module. `evaluates` says if the program will evaluate the model."""
        if self.module is not None:
            file = self._folder / f"{type(self.module).__name__}.pt2"  # the program names the network after the file
            self._export(self.module, data, evaluates, file)
            return ["--model", str(file), *self._loss_words()]
        path_of(self._given, "model")
        name = os.fspath(self._given)  # type: ignore[arg-type]
        is_file = name.endswith(".pt2") or "/" in name  # as in the program (src/imported/entry.h)
        return ["--model", name, *(self._loss_words() if is_file or self._loss != DEFAULT_LOSS else [])]

    def _loss_words(self) -> list[str]:
        return [] if self._loss is None else ["--loss", self._loss]

    def _export(self, module: torch.nn.Module, data: Data | str | None, evaluates: bool, file: pathlib.Path) -> None:
        if data is None or isinstance(data, str):
            raise BadUsage("a model wants data with it: tensors, a dict of them, or a data set")
        self._samples = Samples(data)
        roles = Roles(module, self._samples, self._loss, self._trains)
        names = export(module, self._samples, roles, self._batch, evaluates, file)
        self._names = dict(zip(roles.inputs, names))
        if roles.target is not None:
            self._names[roles.target] = TARGET

    def data(self, data: Data | str | None, held_out: Data | float | None) -> list[str]:
        """Returns --data and --held-out. Writes the samples to files."""
        share = ["--held-out", str(held_out)] if is_share(held_out) else []
        if data is None or isinstance(data, str):
            if held_out is not None and not share:
                what = "was left out" if data is None else "is text"
                raise BadUsage(f"held_out: wanted a number, because `data` {what}; found {kind_of(held_out)}")
            return [*share, *([] if data is None else ["--data", data])]
        samples = self._samples or Samples(data)
        names = self._names or _own_names(samples)
        files = [self._write(samples, names, DATA)]
        if held_out is not None and not share:
            files.append(self._write(Samples(held_out, "held_out"), names, HELD_OUT))
        return [*share, "--data", DATA_KIND + ",".join(files)]

    def _write(self, samples: Samples, names: Mapping[str | int, str], name: str) -> str:
        missing = [key for key in names if key not in samples.keys]
        if missing:
            which = missing[0] if isinstance(missing[0], str) else f"tensor number {missing[0] + 1}"
            raise BadUsage(f"the held-out samples have no {which}, which the data has")
        file = self._folder / name
        _without_comma(str(file))
        samples.write(file, names, self._show)
        return str(file)


def _own_names(samples: Samples) -> dict[str | int, str]:
    if not isinstance(samples.keys[0], str):
        raise BadUsage(
            "for a model that is no torch.nn.Module, wanted data as a dict by the names of its inputs, such as input "
            "and target"
        )
    return {key: str(key) for key in samples.keys}
