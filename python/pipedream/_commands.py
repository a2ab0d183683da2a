"""The functions of this package. Each prepares files, runs the program and reads what it wrote."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _program

_program.check_torch()  # before libtorch is loaded

# ruff: noqa: E402
import torch
from safetensors.torch import load_file

from . import _faithful
from ._arguments import Path, kind_of, path_of, want_count
from ._data import Data
from ._errors import BadUsage, Interrupted
from ._files import DEFAULT_LOSS, Model, Source, is_share, moved_inputs, names_in
from ._folder import folder_for
from ._results import Comparison, Evaluation, Plan, Profile, Result, Simulation, Step, number

DEFAULT_WORKERS = 2
# Flags of the program that are no options of these functions: the functions give them themselves, or they only
# print something.
NO_OPTIONS = ("config", "data", "dry_run", "help", "json", "model", "resume", "version")
# Arguments that are numbers or names. The program would take the next flag as the value of True.
WITH_VALUE = (
    "batch", "cluster", "device", "epochs", "export", "learning_rate", "minibatches", "momentum", "optimiser", "plan",
    "seconds", "seed", "svg", "system", "trace", "workers",
)  # fmt: skip


def train(
    model: Model,
    data: Data | str | None = None,
    *,
    loss: str = DEFAULT_LOSS,
    workers: int | None = None,
    system: str = "auto",
    epochs: int | None = None,
    batch: int | None = None,
    learning_rate: float | None = None,
    optimiser: str | None = None,
    seed: int | None = None,
    held_out: Data | float | None = None,
    plan: Plan | Path | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Trains a model on workers of this machine, and loads the trained weights back into it.

    model: a torch.nn.Module; or a file that torch.export.save wrote; or the name of a built-in network.
    data: the samples: tensors or numpy arrays in the order of forward's arguments, the target last; a
        dict of them by the arguments' names, with "target"; or a torch.utils.data.Dataset of such
        samples. If the model is a file or a name, `data` may also be a string as `--data` takes it, or be
        left out; then made-up samples are used.
    loss: "cross-entropy", "mse", "language-model", or "none" if the model returns its loss.
    workers: the number of threads that train together. Without it, the plan's, or 2 without a plan.
    system: the training system; "auto" takes the fastest that fits.
    epochs: passes over the training data: 1, unless minibatches=… says how many minibatches to train.
    batch: samples per minibatch. Each replica of the first stage reads minibatches of this size. Without it, the
        plan's, or the program's default without a plan.
    optimiser: "sgd", "momentum", "adam" or "adamw".
    held_out: samples to evaluate with, as `data`; or the share of the samples that is held out, from the end
        of the data. 0 trains on all samples. Without it, the last tenth is held out.
    plan: the plan to train with, or its file. Its system is used. Without it, a plan is made.
    out: a folder that keeps the model's file, the data, checkpoints and results, for `resume`.
    overwrite: replace the training that `out` holds. Without it, such a folder is refused.
    progress: show progress on stderr.
    options: any other flag of `pipedream train`, e.g. checkpoint_every="10min", momentum=0.8,
        no_evaluation=True.

    Ctrl-C stops after the next update. The model then has the weights of that moment, and
    KeyboardInterrupt is raised. Other failures raise an exception of this package.
    """
    given = None if plan is None else _plan_of(plan)
    if given is None:
        options["system"] = system
    elif system not in ("auto", given.system):
        raise BadUsage(f"system={system!r}: the plan is for {given.system!r}; leave one of the two out")
    if batch is None and given is not None:
        batch = given.batch
    options |= {
        "workers": _workers_for(workers, given),
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "optimiser": optimiser,
        "seed": seed,
        "plan": plan,
    }
    evaluates = not options.get("no_evaluation") and not (is_share(held_out) and held_out == 0)
    with folder_for(out, overwrite) as folder:
        source = Source(folder.new, model, loss, batch, progress)
        words = [*source.model(data, evaluates), *_flags(options, folder.new)]
        # The program checks the flags before the samples are written, since that may take long, and before an
        # earlier training is replaced.
        check = ["train", "--dry-run", *words, "--out", str(folder.run), "--overwrite"]
        _program.run(check, show=False, names=names_in(folder.new))
        words = folder.begin([*words, *source.data(data, held_out)])
        return _train(words, folder.run, source.module, out, progress, names_in(folder.inputs))


def resume(out: Path, model: torch.nn.Module | None = None, *, progress: bool = True, **options: Any) -> Result:
    """Goes on with a training that `train(…, out=…)` began, from its newest checkpoint.

    model: the weights of the checkpoint are loaded into it, and the trained weights at the end. Without it,
        the trained weights are only in the folder.
    options: flags of `pipedream train` that change something: epochs=10, workers=4, system="dapple", ….

    The folder may have been moved since the training began.
    """
    folder = path_of(out, "out").absolute()
    run = folder / "run"
    if model is not None and not isinstance(model, torch.nn.Module):
        raise BadUsage(f"model: wanted the torch.nn.Module that gets the weights, or None, found {kind_of(model)}")
    if not os.path.isdir(run):
        raise BadUsage(f"{out} holds no training that pipedream.train(…, out={os.fspath(out)!r}) began")
    if not (run / "checkpoints").is_dir():
        raise BadUsage(f"the training in {out} ended before its first checkpoint: begin it again with pipedream.train")
    module = None if model is None else _faithful.plain(model)
    if module is not None:
        _load_newest(module, run)  # refuses another model
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        words = ["--resume", str(run), *moved_inputs(run, folder / "inputs"), *_flags(options, pathlib.Path(scratch))]
        return _train(words, run, module, out, progress, names_in(folder / "inputs"), is_new=False)


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

    model, batch: as for `train`.
    loss: as for `train`. Without it, the program takes the loss that fits.
    data: inputs of the model, or data as for `train`. Only the shapes and types matter: the program measures
        with made-up inputs.
    workers: the number of workers that run at the same time while measuring. Use the number that will
        train.
    seconds: about how long to measure.
    options: any other flag of `pipedream profile`, e.g. device="cuda:0".
    """
    options |= {"batch": batch, "workers": workers, "seconds": seconds, "optimiser": optimiser}
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        folder = pathlib.Path(scratch)
        source = Source(folder, model, loss, batch, progress, trains=False)
        words = ["profile", *source.model(data), "--json", *_flags(options, folder)]
        return Profile(json.loads(_program.run(words, progress, names=names_in(folder))))


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
    workers: the number of workers of this machine; 2 if neither it nor `cluster` is given.
    cluster: a file that describes machines and links (docs/formats.md), instead of `workers`.
    options: any other flag of `pipedream plan`, e.g. straight=True, memory="2GiB". Flags of
        `pipedream profile`, such as device="cuda:0", go to the function `profile`.
    """
    options["system"] = system
    measuring = _Measuring(source, data, loss, batch, seconds, optimiser, progress)
    with _planning(measuring, _workers_for(workers, cluster=cluster), cluster, options) as (words, names):
        return Plan(json.loads(_program.run(["plan", *words], progress, names=names)))


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
    """Simulates a training by a plan. Nothing is trained.

    plan: the plan, or its file. Without it, a plan is made for `system`.
    options: any other flag of `pipedream simulate`, e.g. minibatches=50, straggler="1:0.5".
    The rest is as for the function `plan`.
    """
    options["plan"] = plan
    if plan is None:
        options["system"] = system
    measuring = _Measuring(source, data, loss, batch, seconds, optimiser, progress)
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        svg = options.pop("svg", None)
        picture = pathlib.Path(scratch) / "timeline.svg" if svg is None else path_of(svg, "svg")
        workers = _workers_for(workers, None if plan is None else _plan_of(plan), cluster)
        with _planning(measuring, workers, cluster, options | {"svg": picture}) as (words, names):
            made = json.loads(_program.run(["simulate", *words], progress, scratch, names))
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
    """Compares all training systems. They are simulated, and with `run` they also train.

    With `run`, `source` is a model, `data` is as for `train`, and the model's weights stay as they are.
    options: any other flag of `pipedream compare`, e.g. link="100Mbit/s", minibatches=40.
    The rest is as for the function `plan`.
    """
    if not run:
        if isinstance(data, str):
            raise BadUsage("data as a string is for run=True, which trains")
        measuring = _Measuring(source, data, loss, batch, seconds, optimiser, progress)
        with _planning(measuring, _workers_for(workers, cluster=cluster), cluster, options) as (words, names):
            return Comparison(json.loads(_program.run(["compare", *words], progress, names=names)))
    if isinstance(source, Profile):
        raise BadUsage("run=True trains: wanted a model, found a Profile")
    if cluster is not None and workers is None:
        raise BadUsage("run=True with a cluster wants its number of workers, too")
    options |= {"workers": _workers_for(workers), "cluster": cluster, "batch": batch, "optimiser": optimiser}
    options["profile_seconds"] = seconds
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        folder = pathlib.Path(scratch)
        prepared = Source(folder, source, loss, batch, progress)
        evaluates = bool(options.get("evaluation"))
        words = [*prepared.model(data, evaluates), *prepared.data(data, None), *_flags(options, folder)]
        made = _program.run(["compare", "--run", "--json", *words], progress, names=names_in(folder))
        return Comparison(json.loads(made))


def _workers_for(workers: int | None, plan: Plan | None = None, cluster: Path | None = None) -> int | None:
    """`workers` if it is given. Otherwise the plan's number of workers, None for a cluster's, or 2."""
    want_count(workers, "workers")
    if workers is not None or cluster is not None:
        return workers
    return DEFAULT_WORKERS if plan is None else int(plan.json["workers"])


def _plan_of(plan: Plan | Path) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if not isinstance(plan, (str, os.PathLike)):
        raise BadUsage(f"plan: wanted a Plan or its file, found {kind_of(plan)}")
    return Plan.load(path_of(plan, "plan"))


def _flags(options: Mapping[str, Any], folder: pathlib.Path) -> list[str]:
    """Returns options as flags of the program. Writes those that are profiles and plans to files in `folder`.

    no_evaluation=True is --no-evaluation, and split=[3, 5] is --split 3,5.
    """
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        if name in NO_OPTIONS:
            raise BadUsage(f"{name}= is no option of this function")
        if value is True and name in WITH_VALUE:
            raise BadUsage(f"{name}: wanted a value, found True")
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


@dataclass(frozen=True)
class _Measuring:
    """The arguments of a command that plans from which the profile is measured. `source` may be the profile."""

    source: Model | Profile
    data: Data | None
    loss: str | None
    batch: int | None
    seconds: float
    optimiser: str | None
    progress: bool

    def profile(self, workers: int) -> Profile:
        if isinstance(self.source, Profile):
            return self.source
        return profile(
            self.source,
            self.data,
            loss=self.loss,
            batch=self.batch,
            workers=workers,
            seconds=self.seconds,
            optimiser=self.optimiser,
            progress=self.progress,
        )


@contextlib.contextmanager
def _planning(
    measuring: _Measuring, workers: int | None, cluster: Path | None, options: Mapping[str, Any]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yields the arguments of a command that plans, and the result of names_in() for their files.

    The files are removed when the block ends.
    """
    all_options = {
        "profile": measuring.profile(workers or 1),
        "workers": workers,
        "cluster": cluster,
        "optimiser": measuring.optimiser,
        **options,
    }
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        words = ["--json", *_flags(all_options, pathlib.Path(scratch))]
        yield words, names_in(pathlib.Path(scratch))


def _train(
    words: list[str],
    run: pathlib.Path,
    module: torch.nn.Module | None,
    out: Path | None,
    progress: bool,
    names: Mapping[str, str],
    is_new: bool = True,
) -> Result:
    where = ["--out", str(run)] if is_new else []
    try:
        hidden = str(run) if out is None else None
        advice = f"; 'pipedream train --resume {run}' goes on"  # _rescue() says how to go on in Python
        printed = _program.run(["train", "--json", *words, *where], progress, hidden, names, dropped=advice)
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
    """Loads the weights of the newest checkpoint into the model, after an interrupt."""
    checkpoints = run / "checkpoints"
    if not checkpoints.is_dir() or not any(checkpoints.iterdir()):
        return
    if module is not None:
        _load_newest(module, run)
        if progress:
            print("the model has the weights of the newest checkpoint", file=sys.stderr)
    if out is not None and progress:
        print(f"pipedream.resume({os.fspath(out)!r}) goes on", file=sys.stderr)


def _load_newest(module: torch.nn.Module, run: pathlib.Path) -> None:
    """Loads the weights of the newest checkpoint into the model."""
    with tempfile.TemporaryDirectory(prefix="pipedream-") as scratch:
        weights = pathlib.Path(scratch) / "weights.safetensors"
        _program.run(["checkpoint", str(run), "--export", str(weights)], show=False)
        _load(module, weights)


def _load(module: torch.nn.Module, weights: pathlib.Path) -> None:
    """Loads trained tensors into a model. Its parameters stay on their devices.

    Nothing of the model is changed if one of the tensors does not fit.
    """
    trained = load_file(weights)
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in trained.items()}
    faults = [
        f"{name}: {_shape_in(found, name)}, and {_shape_in(wanted, name)} in the model"
        for name in sorted(wanted.keys() | found.keys())
        if wanted.get(name) != found.get(name)
    ]
    if faults:
        more = f"\n  and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise BadUsage("the trained weights are of another model:\n  " + "\n  ".join(faults[:5]) + more)
    module.load_state_dict(trained)


def _shape_in(tensors: Mapping[str, tuple[int, ...]], name: str) -> str:
    return f"the shape {list(tensors[name])}" if name in tensors else "missing"


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
