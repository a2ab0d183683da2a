"""What the functions of this package return: fields, and tables for notebooks."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from . import _html

Json = dict[str, Any]


def _read(file: str | os.PathLike[str]) -> Json:
    made: Json = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    return made


def number(value: float | None) -> float:
    """JSON has no NaN: the program writes null."""
    return float("nan") if value is None else float(value)


class _Document:
    """What the program wrote, as it wrote it (docs/formats.md)."""

    json: Json

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the JSON to a file, for the command line."""
        pathlib.Path(file).write_text(json.dumps(self.json, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Layer:
    """One layer of a profile. Times are seconds for a minibatch."""

    name: str
    kind: str
    forward: float
    backward: float
    update: float
    weight_bytes: int
    output_bytes: int

    @property
    def seconds(self) -> float:
        """Forward, backward and update together."""
        return self.forward + self.backward + self.update


@dataclass(frozen=True, repr=False, eq=False)
class Profile(_Document):
    """How long each layer takes, and how large its tensors are."""

    json: Json

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Profile:
        """Reads a profile that `save` or `pipedream profile -o` wrote."""
        return cls(_read(file))

    @property
    def model(self) -> str:
        return str(self.json["model"])

    @property
    def batch(self) -> int:
        """Samples of a minibatch."""
        return int(self.json["batch"])

    @property
    def device(self) -> str:
        return str(self.json["device"])

    @property
    def layers(self) -> list[Layer]:
        return [
            Layer(
                name=each["name"],
                kind=each["kind"],
                forward=each["forward"],
                backward=each["backward"],
                update=each.get("update_seconds", 0.0),
                weight_bytes=each["weight_bytes"],
                output_bytes=sum(output["bytes"] for output in each["outputs"]),
            )
            for each in self.json["layers"]
            if not each.get("input")
        ]

    @property
    def seconds(self) -> float:
        """The sum over the layers."""
        return sum(layer.seconds for layer in self.layers)

    def __repr__(self) -> str:
        return (
            f"Profile({self.model}, minibatch of {self.batch}, {len(self.layers)} layers on {self.device}, "
            f"{_html.milliseconds(self.seconds)})"
        )

    def _repr_html_(self) -> str:
        whole = self.seconds or 1.0
        rows = [
            (
                layer.name,
                layer.kind,
                _html.milliseconds(layer.forward),
                _html.milliseconds(layer.backward),
                _html.milliseconds(layer.update),
                _html.percent(layer.seconds / whole),
                _html.size(layer.output_bytes),
                _html.size(layer.weight_bytes),
            )
            for layer in self.layers
        ]
        title = f"{self.model}, minibatch of {self.batch}, on {self.device}"
        columns = ("layer", "kind", "forward", "backward", "update", "share", "output", "weights")
        return _html.table(columns, rows, title, words=2)


@dataclass(frozen=True)
class Stage:
    """One stage of a plan."""

    layers: list[str]
    workers: list[int]
    seconds: float  # compute for one minibatch
    weight_bytes: int
    memory_bytes: int  # the most that one of its workers needs


@dataclass(frozen=True, repr=False, eq=False)
class Plan(_Document):
    """Which layers run on which workers, and what is predicted for it."""

    json: Json

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Plan:
        """Reads a plan that `save` or `pipedream plan -o` wrote."""
        return cls(_read(file))

    @property
    def system(self) -> str:
        """The training system, e.g. "pipedream" (`pipedream systems` lists them)."""
        return str(self.json["system"])

    @property
    def config(self) -> str:
        """The number of replicas of each stage: "7-1" is a stage on seven workers, then one on one."""
        return str(self.json["config"])

    @property
    def samples_per_second(self) -> float:
        """As predicted."""
        return float(self.json["predicted"]["samples_per_second"])

    @property
    def speedup_over_data_parallel(self) -> float | None:
        """As predicted, over data parallelism on the same workers; None if that has no plan."""
        found = self.json["predicted"].get("speedup_over_dp")
        return None if found is None else float(found)

    @property
    def stages(self) -> list[Stage]:
        return [
            Stage(each["layers"], each["workers"], each["seconds"], each["weight_bytes"], each["memory_bytes"])
            for each in self.json["stages"]
        ]

    def __repr__(self) -> str:
        return f"Plan({self.system} {self.config}, {_html.rate(self.samples_per_second)} predicted)"

    def _repr_html_(self) -> str:
        rows = []
        for number, stage in enumerate(self.stages):
            first, last = stage.layers[0], stage.layers[-1]
            rows.append(
                (
                    number,
                    first if first == last else f"{first} … {last} ({len(stage.layers)})",
                    ", ".join(map(str, stage.workers)),
                    _html.milliseconds(stage.seconds),
                    _html.size(stage.weight_bytes),
                    _html.size(stage.memory_bytes),
                )
            )
        title = f"{self.json['model']}: {self.system} {self.config}, {_html.rate(self.samples_per_second)} predicted"
        return _html.table(("stage", "layers", "workers", "compute", "weights", "memory"), rows, title, words=3)


@dataclass(frozen=True, repr=False, eq=False)
class Simulation(_Document):
    """What a plan would do on a cluster."""

    json: Json
    timeline_svg: str = ""  # the timeline as a picture

    @property
    def system(self) -> str:
        return str(self.json["system"])

    @property
    def config(self) -> str:
        return str(self.json["config"])

    @property
    def samples_per_second(self) -> float:
        return float(self.json["samples_per_second"])

    @property
    def utilisation(self) -> float:
        """The share of the workers' time in which they compute."""
        return float(self.json["utilisation"])

    @property
    def peak_memory_bytes(self) -> list[int]:
        """Of each worker."""
        return list(self.json["peak_memory_bytes"])

    def __repr__(self) -> str:
        return f"Simulation({self.system} {self.config}, {_html.rate(self.samples_per_second)})"

    def _repr_html_(self) -> str:
        rows = [
            ("speed", _html.rate(self.samples_per_second)),
            ("busy", _html.percent(self.utilisation)),
            ("largest memory of a worker", _html.size(max(self.peak_memory_bytes))),
        ]
        title = f"{self.json['model']}: {self.system} {self.config}, simulated"
        return _html.table(("", ""), rows, title) + _html.picture(self.timeline_svg)


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """One system in a comparison."""

    json: Json

    @property
    def system(self) -> str:
        return str(self.json["system"])

    @property
    def config(self) -> str | None:
        """None if the system has no plan for this model; `problem` says why."""
        found = self.json.get("config")
        return None if found is None else str(found)

    @property
    def problem(self) -> str | None:
        found = self.json.get("refused")
        return None if found is None else str(found)

    def _speed(self, which: str) -> float | None:
        part = self.json.get(which)
        return None if not part else float(part["samples_per_second"])

    @property
    def simulated(self) -> float | None:
        """Samples per second."""
        return self._speed("simulated")

    @property
    def measured(self) -> float | None:
        """Samples per second; None unless the systems were really run."""
        return self._speed("measured")

    @property
    def staleness(self) -> int | None:
        """By how many updates the weights of a gradient may be old."""
        found = self.json.get("staleness")
        return None if found is None else int(found)

    def __repr__(self) -> str:
        speed = self.measured if self.measured is not None else self.simulated
        if speed is None:
            return f"Run({self.system}: {self.problem})"
        return f"Run({self.system} {self.config}, {_html.rate(speed)})"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(_Document):
    """All systems side by side."""

    json: Json

    @property
    def auto(self) -> str | None:
        """What system="auto" chooses."""
        found = self.json.get("auto")
        return None if found is None else str(found)

    @property
    def runs(self) -> list[Run]:
        return [Run(each) for each in self.json["runs"]]

    def __getitem__(self, system: str) -> Run:
        for run in self.runs:
            if run.system == system:
                return run
        raise KeyError(system)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(map(repr, self.runs))})"

    def _repr_html_(self) -> str:
        was_run = any(run.measured is not None for run in self.runs)

        def shown(speed: float | None) -> str:
            return "–" if speed is None else _html.rate(speed)

        rows = []
        for run in self.runs:
            behind = run.staleness
            row = [
                ("▶ " if run.system == self.auto else "") + run.system,
                run.config or run.problem or "–",
                shown(run.simulated),
            ]
            if was_run:
                row.append(shown(run.measured))
            row.append("–" if behind is None else "none" if behind == 0 else str(behind))
            rows.append(row)
        columns = ["system", "plan", "simulated", *(["measured"] if was_run else []), "updates behind"]
        return _html.table(columns, rows, f"{self.json['model']}: ▶ is the choice of system='auto'", words=2)


@dataclass(frozen=True)
class Step:
    """The loss of one minibatch in training."""

    minibatch: int
    samples: int  # trained so far
    loss: float


@dataclass(frozen=True)
class Evaluation:
    """What the held-out samples gave after an epoch, counted from 1."""

    epoch: int
    loss: float
    accuracy: float | None


@dataclass(frozen=True, repr=False, eq=False)
class Result(_Document):
    """A training that has ended. The model has the trained weights."""

    json: Json
    plan: Plan
    history: list[Step]
    evaluations: list[Evaluation]
    timeline_svg: str  # the last part of the training as a picture
    folder: pathlib.Path | None  # what `out` named: run, checkpoints, weights

    @property
    def system(self) -> str:
        return str(self.json["system"])

    @property
    def loss(self) -> float:
        """The mean over the last minibatches."""
        return number(self.json["loss"])

    @property
    def held_out_loss(self) -> float | None:
        found = self.json.get("held_out_loss")
        return None if found is None else float(found)

    @property
    def accuracy(self) -> float | None:
        """The share of held-out predictions that are right; None if the loss has no classes."""
        found = self.json.get("accuracy")
        return None if found is None else float(found)

    @property
    def minibatches(self) -> int:
        return int(self.json["minibatches"])

    @property
    def samples(self) -> int:
        return int(self.json["samples"])

    @property
    def samples_per_second(self) -> float:
        """As measured; NaN if the training was too short to measure it."""
        return number(self.json["samples_per_second"])

    @property
    def predicted_samples_per_second(self) -> float | None:
        found = self.json.get("predicted_samples_per_second")
        return None if found is None else float(found)

    @property
    def simulated_samples_per_second(self) -> float | None:
        found = self.json.get("simulated_samples_per_second")
        return None if found is None else float(found)

    def __repr__(self) -> str:
        return (
            f"Result({self.system} {self.plan.config}, {self.minibatches:,} minibatches, loss {self.loss:.4f}, "
            f"{_html.rate(self.samples_per_second)})"
        )

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = [
            ("system and plan", f"{self.system} {self.plan.config}"),
            ("minibatches", f"{self.minibatches:,}"),
            ("loss", f"{self.loss:.4f}"),
        ]
        if self.held_out_loss is not None:
            rows.append(("held-out loss", f"{self.held_out_loss:.4f}"))
        if self.accuracy is not None:
            rows.append(("held-out accuracy", _html.percent(self.accuracy)))
        rows.append(("measured", _html.rate(self.samples_per_second)))
        if self.simulated_samples_per_second is not None:
            rows.append(("simulated", _html.rate(self.simulated_samples_per_second)))
        return _html.table(("", ""), rows, f"{self.json['model']}, trained") + _html.picture(self.timeline_svg)
