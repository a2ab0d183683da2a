"""A PyTorch model as a file: torch.export with any number of samples."""

from __future__ import annotations

import contextlib
import inspect
import pathlib
import warnings
from collections.abc import Iterator

import torch

from ._data import Samples
from ._errors import BadUsage, CannotMeet

TARGET = "target"
LOSSES_WITHOUT_TARGET = ("language-model", "none")
FIXED_BATCH = 32  # for models that take one number of samples only, if the user names none


def _parameters(model: torch.nn.Module) -> list[inspect.Parameter]:
    """What forward takes by position."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in inspect.signature(model.forward).parameters.values() if each.kind in kinds]


def _takes_any_number(model: torch.nn.Module) -> bool:
    kinds = [each.kind for each in inspect.signature(model.forward).parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds


class Roles:
    """Which tensors of the data are inputs of the model, in the order of forward, and which is the target."""

    def __init__(self, model: torch.nn.Module, samples: Samples, loss: str | None, trains: bool) -> None:
        """`trains` is false if only the shapes of the inputs matter; then the target may be left out."""
        self.target: str | int | None = None
        self.inputs: list[str | int] = []
        keys = samples.keys
        if isinstance(keys[0], str):
            self._by_name(model, keys)
        else:
            self._by_position(model, keys, loss if trains else None)
        if trains and self.target is None and loss is not None and loss not in LOSSES_WITHOUT_TARGET:
            raise BadUsage(f"loss={loss!r} wants a target in the data; found only the model's inputs")

    def _by_name(self, model: torch.nn.Module, keys: list[str | int]) -> None:
        known = [each.name for each in _parameters(model)]
        wanted = [each.name for each in _parameters(model) if each.default is inspect.Parameter.empty]
        self.inputs = [name for name in known if name in keys]
        self.target = TARGET if TARGET in keys and TARGET not in known else None
        unknown = [key for key in keys if key not in known and key != TARGET]
        missing = [name for name in wanted if name not in keys]
        if unknown or missing:
            raise BadUsage(
                f"wanted data with the names of forward's arguments ({', '.join(known)}) and '{TARGET}'; found "
                f"{', '.join(map(str, keys))}"
            )
        if self.inputs != known[: len(self.inputs)]:
            raise BadUsage(f"the data must have all arguments of forward up to {self.inputs[-1]!r}")

    def _by_position(self, model: torch.nn.Module, keys: list[str | int], loss: str | None) -> None:
        parameters = _parameters(model)
        required = sum(each.default is inspect.Parameter.empty for each in parameters)
        most = len(keys) if _takes_any_number(model) else len(parameters)
        # If `loss` is None, the last tensor is the target if there are more tensors than forward requires.
        has_target = loss not in LOSSES_WITHOUT_TARGET if loss is not None else len(keys) > required
        count = len(keys) - (1 if has_target else 0)
        if not required <= count <= most or count < 1:
            names = ", ".join(each.name for each in parameters)
            raise BadUsage(
                f"wanted a tensor for each of forward's arguments ({names})"
                + (", then the target" if has_target else "")
                + f"; found {len(keys)} tensors"
            )
        self.inputs = keys[:count]
        self.target = keys[-1] if has_target else None


@contextlib.contextmanager
def _in_training_mode(model: torch.nn.Module) -> Iterator[None]:
    """Modules that are in evaluation mode inside of a model in training mode stay so: they are frozen."""
    modes = {module: module.training for module in model.modules()}
    if not model.training:
        model.train()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def export(model: torch.nn.Module, samples: Samples, roles: Roles, batch: int | None, file: pathlib.Path) -> list[str]:
    """Writes the model to the file, and returns the names of its inputs."""
    with _in_training_mode(model):
        try:
            program = _exported(model, [samples.head(key, 2) for key in roles.inputs], is_fixed=False)
        except Exception as error:  # torch.export raises exceptions of many kinds
            program = _with_fixed_batch(model, samples, roles, batch or FIXED_BATCH, error)
    torch.export.save(program, file)
    return [name for name in program.graph_signature.user_inputs if isinstance(name, str)]


def _exported(model: torch.nn.Module, example: list[torch.Tensor], is_fixed: bool) -> torch.export.ExportedProgram:
    device = next((each.device for each in model.parameters()), torch.device("cpu"))
    # The program converts samples to the types of the inputs. Those of numpy are mostly float64.
    real = next((each.dtype for each in model.parameters() if each.is_floating_point()), torch.get_default_dtype())
    inputs = tuple(each.to(device, real if each.is_floating_point() else each.dtype) for each in example)
    batch = torch.export.Dim("batch")
    shapes: tuple[object, ...] | None = None if is_fixed else tuple({0: batch} for _ in inputs)
    if shapes is not None and _takes_any_number(model):
        named = len(_parameters(model))
        shapes = (*shapes[:named], shapes[named:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about torch's own future
        return torch.export.export(model, inputs, dynamic_shapes=shapes)


def _with_fixed_batch(
    model: torch.nn.Module, samples: Samples, roles: Roles, batch: int, first: Exception
) -> torch.export.ExportedProgram:
    try:
        example = [samples.head(key, batch) for key in roles.inputs]
        program = _exported(model, example, is_fixed=True)
    except Exception as error:
        raise _cannot(error) from error
    why = str(first).strip().splitlines()
    warnings.warn(
        f"the model takes only minibatches of {batch} samples, in one microbatch, because torch.export could not "
        f"leave their number open: {why[0] if why else type(first).__name__}",
        stacklevel=6,
    )
    return program


def _cannot(error: Exception) -> CannotMeet:
    return CannotMeet(f"torch.export cannot export the model: {error}")
