"""The functions of this package. Each prepares files, runs the program and reads what it wrote."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, Union

from . import _program

_program.check_torch()  # before libtorch is loaded

# ruff: noqa: E402
import torch
from safetensors.torch import load_file

from ._data import Data, Samples
from ._errors import BadUsage, Error, Interrupted, IoError
from ._export import Roles, export
from ._results import Comparison, Evaluation, Plan, Profile, Result, Simulation, Step, number

Path = Union[str, "os.PathLike[str]"]
Model = torch.nn.Module | Path

DEFAULT_LOSS = "cross-entropy"
DEFAULT_WORKERS = 2


def train(
    model: Model,
    data: Data | str | None = None,
    *,
    loss: str = DEFAULT_LOSS,
    workers: int | None = None,
    system: str = "auto",
    epochs: int = 1,
    batch: int | None = None,
    learning_rate: float | None = None,
    optimiser: str | None = None,
    seed: int | None = None,
    held_out: Data | None = None,
    plan: Plan | Path | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Trains a model on workers of this machine, and loads the trained weights back into it.

    model: a torch.nn.Module; or the file of torch.export; or the name of a built-in network.
    data: the samples: tensors or numpy arrays in the order of forward's arguments, the target last; a
        dict of them by the arguments' names, with "target"; or a torch.utils.data.Dataset of such
        samples. If the model is a file or a name, it may also be a string as `--data` takes it, or be
        left out; then made-up samples are used.
    loss: "cross-entropy", "mse", "language-model", or "none" if the model returns its loss.
    workers: threads that train together; 2, or those of the plan, if it is not given.
    system: the training system; "auto" takes the fastest that fits.
    batch: samples per minibatch. Each replica of the first stage reads minibatches of this size.
    optimiser: "sgd", "momentum", "adam" or "adamw".
    held_out: samples to evaluate with, as `data`. Without them, the last tenth of the data is held out.
    plan: train with this plan instead of making one.
    out: a folder that keeps the model's file, the data, checkpoints and results, for `resume`. It must
        not hold a training yet, unless `overwrite` is true.
    progress: show progress on stderr.
    options: any other flag of `pipedream train`, e.g. checkpoint_every="10min", momentum=0.8,
        no_evaluation=True.

    Ctrl-C stops after the next update. The model then has the weights of that moment, and
    KeyboardInterrupt is raised. Other failures raise an exception of this package.
    """
    if "minibatches" not in options:
        options["epochs"] = epochs
    if plan is None:
        options["system"] = system
    options |= {
        "workers": _workers_for(workers, plan),
        "batch": batch,
        "learning_rate": learning_rate,
        "optimiser": optimiser,
        "seed": seed,
        "plan": plan,
    }
    with _folder_for(out, overwrite) as folder:
        source = _Source(folder.new, model, loss, batch, progress)
        words = [*source.model(data), *source.data(data, held_out), *_flags(options, folder.new)]
        return _train(folder.begin(words), folder.run, source.module, out, progress)


def resume(out: Path, model: torch.nn.Module | None = None, *, progress: bool = True, **options: Any) -> Result:
    """Goes on with a training that `train(…, out=…)` began, from its newest checkpoint.

    model: gets the trained weights, if it is given.
    options: flags of `pipedream train` that change something: epochs=10, workers=4, system="dapple", ….
    """
    if not isinstance(out, (str, os.PathLike)):
        raise BadUsage(f"wanted the folder of a training, found {_kind_of(out)}")
    folder = pathlib.Path(out)
    run = folder / "run"
    if not run.is_dir():
        raise BadUsage(f"{folder} holds no training that pipedream.train(…, out={str(folder)!r}) began")
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        words = ["--resume", str(run), *_flags(options, pathlib.Path(scratch))]
        return _train(words, run, model, out, progress, is_new=False)


def profile(
    model: Model,
    data: Data | None = None,
    *,
    loss: str | None = None,
    batch: int | None = None,
    workers: int = 1,
    seconds: float = 5,
    optimiser: str | None = None,
    progress: bool = True,
    **options: Any,
) -> Profile:
    """Measures the layers of a model on this machine.

    model, loss, batch: as for `train`; without `loss`, the one that fits.
    data: inputs of the model, or data as for `train`; the program needs only its shapes.
    workers: the number of workers that run at the same time while measuring. Use the number that will
        train.
    seconds: measure for about this long.
    options: any other flag of `pipedream profile`, e.g. device="cuda:0".
    """
    options |= {"batch": batch, "workers": workers, "seconds": seconds, "optimiser": optimiser}
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        folder = pathlib.Path(scratch)
        source = _Source(folder, model, loss, batch, progress, trains=False)
        words = ["profile", *source.model(data), "--json", *_flags(options, folder)]
        return Profile(json.loads(_program.run(words, progress)))


def plan(
    source: Model | Profile,
    data: Data | None = None,
    *,
    workers: int | None = None,
    cluster: Path | None = None,
    system: str = "auto",
    optimiser: str | None = None,
    progress: bool = True,
    loss: str | None = None,
    batch: int | None = None,
    seconds: float = 5,
    **options: Any,
) -> Plan:
    """Plans which layers should run on which workers.

    source: a Profile, or a model, which is measured first (see `profile`, also for `data`).
    workers: of this machine (2 if neither this nor `cluster` is given).
    cluster: a file that describes machines and links (docs/formats.md), instead of `workers`.
    options: any other flag of `pipedream plan`, e.g. straight=True, memory="2GiB".
    """
    workers = _workers_for(workers, cluster=cluster)
    measured = _measured(source, data, workers, loss, batch, seconds, optimiser, progress)
    options |= {"system": system, "optimiser": optimiser}
    with _planning(measured, workers, cluster, options) as words:
        return Plan(json.loads(_program.run(["plan", *words], progress)))


def simulate(
    source: Model | Profile,
    data: Data | None = None,
    *,
    plan: Plan | Path | None = None,
    workers: int | None = None,
    cluster: Path | None = None,
    system: str = "auto",
    optimiser: str | None = None,
    progress: bool = True,
    loss: str | None = None,
    batch: int | None = None,
    seconds: float = 5,
    **options: Any,
) -> Simulation:
    """Shows what a plan would do, without running it.

    plan: the plan; without it, one is made for `system`.
    options: any other flag of `pipedream simulate`, e.g. minibatches=50, straggler="1:0.5".
    The rest is as for the function `plan`.
    """
    workers = _workers_for(workers, plan, cluster)
    measured = _measured(source, data, workers, loss, batch, seconds, optimiser, progress)
    if plan is None:
        options["system"] = system
    options |= {"plan": plan, "optimiser": optimiser}
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        picture = pathlib.Path(options.pop("svg", pathlib.Path(scratch) / "timeline.svg"))
        with _planning(measured, workers, cluster, options | {"svg": picture}) as words:
            made = json.loads(_program.run(["simulate", *words], progress, hidden=scratch))
        return Simulation(made, picture.read_text(encoding="utf-8"))


def compare(
    source: Model | Profile,
    data: Data | str | None = None,
    *,
    run: bool = False,
    workers: int | None = None,
    cluster: Path | None = None,
    optimiser: str | None = None,
    progress: bool = True,
    loss: str | None = None,
    batch: int | None = None,
    seconds: float = 5,
    **options: Any,
) -> Comparison:
    """Puts all training systems side by side: simulated, or with `run` really trained as well.

    With `run`, `source` is a model, `data` is as for `train`, and the model's weights stay as they are.
    options: any other flag of `pipedream compare`, e.g. link="100Mbit/s", minibatches=40.
    The rest is as for the function `plan`.
    """
    if not run:
        if isinstance(data, str):
            raise BadUsage("data as a text is for run=True, which trains")
        workers = _workers_for(workers, cluster=cluster)
        measured = _measured(source, data, workers, loss, batch, seconds, optimiser, progress)
        with _planning(measured, workers, cluster, options | {"optimiser": optimiser}) as words:
            return Comparison(json.loads(_program.run(["compare", *words], progress)))
    if isinstance(source, Profile):
        raise BadUsage("run=True trains: wanted a model, found a Profile")
    if cluster is not None and workers is None:
        raise BadUsage("run=True with a cluster wants its number of workers, too")
    options |= {"workers": _workers_for(workers), "cluster": cluster, "batch": batch, "optimiser": optimiser}
    options["profile_seconds"] = seconds
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        folder = pathlib.Path(scratch)
        prepared = _Source(folder, source, loss, batch, progress)
        words = [*prepared.model(data), *prepared.data(data, None), *_flags(options, folder)]
        return Comparison(json.loads(_program.run(["compare", "--run", "--json", *words], progress)))


class _Source:
    """A model and its data as files in a folder, and the flags that name them."""

    def __init__(
        self, folder: pathlib.Path, model: Model, loss: str | None, batch: int | None, show: bool, trains: bool = True
    ) -> None:
        if not isinstance(model, (torch.nn.Module, str, os.PathLike)):
            raise BadUsage(f"wanted a torch.nn.Module, a file or a name as the model, found {_kind_of(model)}")
        if not isinstance(loss, (str, type(None))):
            raise BadUsage(
                f"loss: wanted the name of a loss, such as 'cross-entropy', found {_kind_of(loss)}; for any other, let "
                "the model return its loss, and say loss='none'"
            )
        self.module = model if isinstance(model, torch.nn.Module) else None
        self._given = model
        self._folder, self._loss, self._batch, self._show, self._trains = folder, loss, batch, show, trains
        self._names: dict[str | int, str] = {}  # of the inputs and the target, in the file
        self._samples: Samples | None = None

    def model(self, data: Data | str | None) -> list[str]:
        """--model and --loss. Exports a module."""
        if self.module is not None:
            file = self._folder / f"{type(self.module).__name__}.pt2"  # the network is called so
            self._export(self.module, data, file)
            return ["--model", str(file), *self._loss_words()]
        name = os.fspath(self._given)  # type: ignore[arg-type]
        is_file = name.endswith(".pt2") or "/" in name  # as the program decides it
        return ["--model", name, *(self._loss_words() if is_file or self._loss != DEFAULT_LOSS else [])]

    def _loss_words(self) -> list[str]:
        return [] if self._loss is None else ["--loss", self._loss]

    def _export(self, module: torch.nn.Module, data: Data | str | None, file: pathlib.Path) -> None:
        if data is None or isinstance(data, str):
            raise BadUsage("a model wants data with it: tensors, a dict of them, or a data set")
        self._samples = Samples(data)
        roles = Roles(module, self._samples, self._loss, self._trains)
        names = export(module, self._samples, roles, self._batch, file)
        self._names = dict(zip(roles.inputs, names))
        if roles.target is not None:
            self._names[roles.target] = "target"

    def data(self, data: Data | str | None, held_out: Data | None) -> list[str]:
        """--data. Writes the samples to files."""
        if data is None or isinstance(data, str):
            if held_out is not None:
                raise BadUsage("held_out wants data of the same kind with it")
            return [] if data is None else ["--data", data]
        samples = self._samples or Samples(data)
        names = self._names or _own_names(samples)
        files = [self._write(samples, names, "data.safetensors")]
        if held_out is not None:
            files.append(self._write(Samples(held_out), names, "held_out.safetensors"))
        return ["--data", "safetensors:" + ",".join(files)]

    def _write(self, samples: Samples, names: Mapping[str | int, str], name: str) -> str:
        missing = [key for key in names if key not in samples.keys]
        if missing:
            raise BadUsage(f"the held-out samples have no {missing[0]!r}, which the data has")
        file = self._folder / name
        if "," in str(file):
            raise BadUsage(f"{file}: the name of the folder must have no comma")
        samples.write(file, names, self._show)
        return str(file)


def _kind_of(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def _own_names(samples: Samples) -> dict[str | int, str]:
    if not isinstance(samples.keys[0], str):
        raise BadUsage("for a model in a file, wanted data as a dict by the names of the inputs")
    return {key: str(key) for key in samples.keys}


def _workers_for(workers: int | None, plan: Plan | Path | None = None, cluster: Path | None = None) -> int | None:
    """The number of workers that is meant if the user names none: the plan's, the cluster's, or 2."""
    if workers is not None or cluster is not None:
        return workers
    if plan is None:
        return DEFAULT_WORKERS
    return int((plan if isinstance(plan, Plan) else Plan.load(plan)).json["workers"])


class _Folder:
    """The folder of a training: `inputs` has the model and the data, `run` what the program writes.

    The inputs are prepared in `new`. So a training that cannot begin leaves an earlier one as it was, and
    no files behind.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self.new = path / ".new"
        self.run = path / "run"
        shutil.rmtree(self.new, ignore_errors=True)  # of a process that was killed
        self.new.mkdir(parents=True)

    def begin(self, words: list[str]) -> list[str]:
        """Puts the inputs in their place. Returns the arguments of the program, which name files in `new`."""
        inputs = self._path / "inputs"
        for old in (inputs, self.run):
            shutil.rmtree(old, ignore_errors=True)
        self.new.rename(inputs)
        return [word.replace(str(self.new), str(inputs)) for word in words]

    def give_up(self) -> None:
        """After a failure. Does nothing once the training has begun."""
        if self.new.exists():
            shutil.rmtree(self.new)
            with contextlib.suppress(OSError):  # other files are there
                self._path.rmdir()


@contextlib.contextmanager
def _folder_for(out: Path | None, overwrite: bool) -> Iterator[_Folder]:
    """The folder `out`, or one that is removed at the end."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
            yield _Folder(pathlib.Path(scratch))
        return
    path = pathlib.Path(out).absolute()
    run = path / "run"
    if (run / "config.json").exists() or (run / "checkpoints").exists():
        if not overwrite:
            raise BadUsage(
                f"{out} holds a training: pipedream.resume({os.fspath(out)!r}) goes on with it, "
                "overwrite=True replaces it"
            )
    elif path.exists() and (not path.is_dir() or any(each.name != ".new" for each in path.iterdir())):
        raise BadUsage(f"{out} has files that are not of a training: choose another folder")
    try:
        folder = _Folder(path)
    except OSError as error:
        raise IoError(f"cannot make the folder {out}: {error.strerror}") from None
    try:
        yield folder
    finally:
        folder.give_up()


def _flags(options: Mapping[str, Any], folder: pathlib.Path) -> list[str]:
    """Options as the program's flags: no_evaluation=True is --no-evaluation, split=[3, 5] is --split 3,5."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if isinstance(value, (Profile, Plan)):
            file = folder / f"{name}.json"
            value.save(file)
            value = file
        if isinstance(value, (tuple, list)):
            value = ",".join(map(str, value))
        if value is not True:
            words.append(str(value))
    return words


def _measured(
    source: Model | Profile,
    data: Data | None,
    workers: int | None,
    loss: str | None,
    batch: int | None,
    seconds: float,
    optimiser: str | None,
    progress: bool,
) -> Profile:
    if isinstance(source, Profile):
        return source
    return profile(
        source,
        data,
        loss=loss,
        batch=batch,
        workers=workers or 1,
        seconds=seconds,
        optimiser=optimiser,
        progress=progress,
    )


@contextlib.contextmanager
def _planning(
    measured: Profile, workers: int | None, cluster: Path | None, options: Mapping[str, Any]
) -> Iterator[list[str]]:
    """The arguments of a command that plans. The files that they name exist as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        all_options = {"profile": measured, "workers": workers, "cluster": cluster, **options}
        yield ["--json", *_flags(all_options, pathlib.Path(scratch))]


def _train(
    words: list[str],
    run: pathlib.Path,
    module: torch.nn.Module | None,
    out: Path | None,
    progress: bool,
    is_new: bool = True,
) -> Result:
    where = ["--out", str(run)] if is_new else []
    try:
        hidden = str(run) if out is None else None
        printed = _program.run(["train", "--json", *words, *where], progress, hidden)
    except (KeyboardInterrupt, Interrupted):
        _rescue(run, module, out, progress)
        raise
    if module is not None:
        _load(module, run / "weights.safetensors")
    history, evaluations = _metrics(run / "metrics.jsonl")
    return Result(
        # A run that has nothing left to train prints nothing.
        json=json.loads(printed or _text_of(run / "summary.json")),
        plan=Plan.load(run / "plan.json"),
        history=history,
        evaluations=evaluations,
        timeline_svg=_text_of(run / "timeline.svg"),
        folder=None if out is None else pathlib.Path(out),
    )


def _text_of(file: pathlib.Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _rescue(run: pathlib.Path, module: torch.nn.Module | None, out: Path | None, progress: bool) -> None:
    """After an interrupt: the model gets the weights of the newest checkpoint."""
    if not (run / "checkpoints").is_dir():
        return
    if module is not None:
        with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
            weights = pathlib.Path(scratch) / "weights.safetensors"
            try:
                _program.run(["checkpoint", str(run), "--export", str(weights)], show=False)
            except Error:
                return  # no checkpoint was written yet
            _load(module, weights)
        if progress:
            print("the model has the weights of the newest checkpoint", file=sys.stderr)
    if out is not None and progress:
        print(f"pipedream.resume({os.fspath(out)!r}) goes on", file=sys.stderr)


def _load(module: torch.nn.Module, weights: pathlib.Path) -> None:
    """Loads trained tensors into a model, whatever device it is on."""
    try:
        module.load_state_dict(load_file(weights))
    except RuntimeError as error:
        raise BadUsage(f"the trained weights are of another model: {error}") from None


def _metrics(file: pathlib.Path) -> tuple[list[Step], list[Evaluation]]:
    steps: list[Step] = []
    evaluations: list[Evaluation] = []
    for line in _text_of(file).splitlines():
        found = json.loads(line)
        if "held_out_loss" in found:
            loss = number(found["held_out_loss"])
            evaluations.append(Evaluation(found["epoch"] + 1, loss, found.get("accuracy")))
        elif "loss" in found:
            steps.append(Step(found["minibatch"], found["samples"], number(found["loss"])))
    return steps, evaluations
