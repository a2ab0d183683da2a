"""The results that the functions of this package return. Notebooks show them as tables."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from . import _html
from ._arguments import Path, kind_of, path_of
from ._errors import BadFile, IoError

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on

Json = dict[str, Any]


def number(value: float | None) -> float:
    """A number of the program's JSON, which has null instead of NaN."""
    return float("nan") if value is None else float(value)


def _optional(value: float | None) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True, repr=False, eq=False)
class _Document:
    """JSON that the program wrote (docs/formats.md)."""

    json: Json

    def __post_init__(self) -> None:
        """Subclasses check the JSON."""

    def save(self, file: Path) -> None:
        """Writes the JSON to a file, for the command line."""
        path = path_of(file, "file")
        try:
            path.write_text(json.dumps(self.json, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise IoError(f"cannot write {path}: {error.strerror}") from None


class _File(_Document):
    """A document that the program also reads. Raises BadFile if the JSON has another format."""

    FORMAT: ClassVar[str]  # the value of "format" in the JSON
    TYPES: ClassVar[dict[str, type]]  # the types of values that this package uses before the program checks the file

    def __post_init__(self) -> None:
        found = self.json.get("format", "no format") if isinstance(self.json, dict) else kind_of(self.json)
        if found != self.FORMAT:
            raise BadFile(f"wanted JSON of the format {self.FORMAT!r}, as `pipedream` writes it, found {found!r}")
        for key, kind in self.TYPES.items():
            if not isinstance(self.json.get(key), kind):
                raise BadFile(f"{key!r}: wanted {kind.__name__}, found {self.json.get(key)!r}")

    @classmethod
    def load(cls, file: Path) -> Self:
        """Reads a file that `save` wrote, or the program with `-o`."""
        path = path_of(file, "file")
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror}") from None
        except ValueError as error:
            raise BadFile(f"{path}: wanted JSON that `pipedream` wrote: {error}") from None
        except BadFile as error:
            raise BadFile(f"{path}: {error}") from None


class _OfSystem(_Document):
    """A document about one training system."""

    @property
    def system(self) -> str:
        """The training system, e.g. "pipedream" (`pipedream systems` lists them)."""
        return str(self.json["system"])

    @property
    def config(self) -> str:
        """The number of replicas of each stage: "7-1" is a stage on seven workers, then a stage on one."""
        return str(self.json["config"])


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
        """The sum of forward, backward and update."""
        return self.forward + self.backward + self.update


class Profile(_File):
    """The times of each layer of a model, and the sizes of its tensors."""

    FORMAT = "pipedream-profile"
    TYPES: ClassVar[dict[str, type]] = {"model": str, "batch": int, "device": str, "layers": list}

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
        """The sum of the layers' seconds."""
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
    seconds: float  # time of the computation for one minibatch
    weight_bytes: int
    memory_bytes: int  # the largest memory that a worker of the stage needs


class Plan(_File, _OfSystem):
    """The stages of a training: which layers run on which workers. The plan has its predicted and simulated speed."""

    FORMAT = "pipedream-plan"
    TYPES: ClassVar[dict[str, type]] = {"model": str, "system": str, "config": str, "workers": int, "stages": list}

    @property
    def batch(self) -> int | None:
        """Samples of the minibatches that the plan was made for; None if a file does not say it."""
        batch = self.json.get("batch")
        return None if batch is None else int(batch)

    @property
    def samples_per_second(self) -> float | None:
        """The predicted speed; None for a plan that a training with other settings used."""
        return _optional(self.json["predicted"]["samples_per_second"])

    @property
    def simulated_samples_per_second(self) -> float | None:
        """The speed in a simulation, by which plans are chosen; None if the plan was not simulated."""
        seconds = _optional(self.json["predicted"].get("simulated_seconds_per_minibatch"))
        return None if self.batch is None or seconds is None else self.batch / seconds

    @property
    def speedup_over_data_parallel(self) -> float | None:
        """The simulated speedup over data parallelism on the same workers; None if there is no plan for that."""
        return _optional(self.json["predicted"].get("speedup_over_dp"))

    @property
    def stages(self) -> list[Stage]:
        return [
            Stage(each["layers"], each["workers"], each["seconds"], each["weight_bytes"], each["memory_bytes"])
            for each in self.json["stages"]
        ]

    def __repr__(self) -> str:
        return f"Plan({self._title()})"

    def _title(self) -> str:
        speeds = [(self.samples_per_second, "predicted"), (self.simulated_samples_per_second, "simulated")]
        words = [f"{_html.rate(speed)} {word}" for speed, word in speeds if speed is not None]
        return ", ".join([f"{self.system} {self.config}", *words])

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
        title = f"{self.json['model']}: {self._title()}"
        return _html.table(("stage", "layers", "workers", "compute", "weights", "memory"), rows, title, words=3)


@dataclass(frozen=True, repr=False, eq=False)
class Simulation(_OfSystem):
    """A simulated training by a plan."""

    timeline_svg: str = ""  # the timeline as a picture

    @property
    def samples_per_second(self) -> float:
        """The simulated speed; NaN if too few minibatches were simulated."""
        return number(self.json["samples_per_second"])

    @property
    def utilisation(self) -> float:
        """The share of the workers' time in which they compute."""
        return float(self.json["utilisation"])

    @property
    def peak_memory_bytes(self) -> list[int]:
        """The largest memory that each worker uses."""
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
        """As `Plan.config`; None if the system has no plan for this model. `problem` then says why."""
        found = self.json.get("config")
        return None if found is None else str(found)

    @property
    def problem(self) -> str | None:
        found = self.json.get("refused")
        return None if found is None else str(found)

    def _speed(self, which: str) -> float | None:
        part = self.json.get(which)
        return None if not part else number(part["samples_per_second"])

    @property
    def simulated(self) -> float | None:
        """Simulated samples per second; None if the system has no plan."""
        return self._speed("simulated")

    @property
    def measured(self) -> float | None:
        """Measured samples per second; None without run=True, and if the system has no plan."""
        return self._speed("measured")

    @property
    def staleness(self) -> int | None:
        """The largest number of updates that a gradient's weights may be old."""
        found = self.json.get("staleness")
        return None if found is None else int(found)

    def __repr__(self) -> str:
        speed = self.measured if self.measured is not None else self.simulated
        if speed is None:
            return f"Run({self.system}: {self.problem})"
        return f"Run({self.system} {self.config}, {_html.rate(speed)})"


class Comparison(_Document):
    """A comparison of all systems."""

    @property
    def auto(self) -> str | None:
        """The system that system="auto" chooses; None if no system has a plan."""
        found = self.json.get("auto")
        return None if found is None else str(found)

    @property
    def runs(self) -> list[Run]:
        return [Run(each) for each in self.json["runs"]]

    def __getitem__(self, system: str) -> Run:
        for run in self.runs:
            if run.system == system:
                return run
        raise KeyError(f"{system!r}: there are {', '.join(run.system for run in self.runs)}")

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

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
    samples: int  # samples trained so far, in all minibatches
    loss: float


@dataclass(frozen=True)
class Evaluation:
    """The loss and accuracy of the held-out samples after an epoch. Epochs are counted from 1."""

    epoch: int
    loss: float
    accuracy: float | None


@dataclass(frozen=True, repr=False, eq=False)
class Result(_OfSystem):
    """A training that has ended. The model has the trained weights."""

    plan: Plan
    history: list[Step]
    evaluations: list[Evaluation]
    timeline_svg: str  # the last part of the training as a picture
    folder: pathlib.Path | None  # the argument `out`

    @property
    def loss(self) -> float:
        """The loss of the last minibatch."""
        return number(self.json["loss"])

    @property
    def held_out_loss(self) -> float | None:
        return _optional(self.json.get("held_out_loss"))

    @property
    def accuracy(self) -> float | None:
        """The share of held-out predictions that are right; None if the loss has no classes."""
        return _optional(self.json.get("accuracy"))

    @property
    def minibatches(self) -> int:
        return int(self.json["minibatches"])

    @property
    def samples(self) -> int:
        return int(self.json["samples"])

    @property
    def samples_per_second(self) -> float:
        """The measured speed; NaN if the training was too short to measure it."""
        return number(self.json["samples_per_second"])

    @property
    def predicted_samples_per_second(self) -> float | None:
        return _optional(self.json.get("predicted_samples_per_second"))

    @property
    def simulated_samples_per_second(self) -> float | None:
        return _optional(self.json.get("simulated_samples_per_second"))

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
