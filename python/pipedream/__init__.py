"""Trains PyTorch models with pipeline parallelism. It chooses stages and system itself.

    result = pipedream.train(model, (images, labels), workers=4, epochs=2)

exports the model, measures its layers, plans how to spread them over the workers, trains it in C++
and loads the trained weights back into `model`. `profile`, `plan`, `simulate` and `compare` do the
steps one by one. The manual is docs/python.md of the project.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import BadFile, BadUsage, CannotMeet, Error, Interrupted, IoError, ProgramFault, WorkerLost
from ._results import Comparison, Evaluation, Layer, Plan, Profile, Result, Run, Simulation, Stage, Step

if TYPE_CHECKING:
    from ._commands import compare, plan, profile, resume, simulate, train

__all__ = [
    "BadFile",
    "BadUsage",
    "CannotMeet",
    "Comparison",
    "Error",
    "Evaluation",
    "Interrupted",
    "IoError",
    "Layer",
    "Plan",
    "Profile",
    "ProgramFault",
    "Result",
    "Run",
    "Simulation",
    "Stage",
    "Step",
    "WorkerLost",
    "compare",
    "plan",
    "profile",
    "resume",
    "simulate",
    "train",
]


def __getattr__(name: str) -> Any:
    """Imports the functions at their first use. They import torch, which takes seconds."""
    if name in __all__:
        return getattr(importlib.import_module("._commands", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
