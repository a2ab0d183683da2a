"""Exports a PyTorch model to a file with torch.export, for any number of samples."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import os
import pathlib
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch.nn.utils.rnn import PackedSequence

from . import _faithful
from ._data import Samples
from ._errors import BadUsage, CannotMeet, IoError

TARGET = "target"
LOSSES_WITHOUT_TARGET = ("language-model", "none")
FIXED_BATCH = 32  # minibatch of a model whose number of samples torch.export fixes, if the user gives no `batch`
HERE = str(pathlib.Path(__file__).parent)
MODULES = os.path.join(_faithful.TORCH, "nn", "modules")

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _Signature:
    """The parameters of forward."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._all = list(inspect.signature(model.forward).parameters.values())
        self.positional = [each.name for each in self._all if each.kind in POSITIONAL]
        self.keyword_only = [each.name for each in self._all if each.kind is inspect.Parameter.KEYWORD_ONLY]
        self.any_position = self._named(inspect.Parameter.VAR_POSITIONAL)  # the name of *args
        self.any_keyword = self._named(inspect.Parameter.VAR_KEYWORD)  # the name of **kwargs

    def _named(self, kind: object) -> str | None:
        return next((each.name for each in self._all if each.kind is kind), None)

    def required(self) -> list[str]:
        variable = (self.any_position, self.any_keyword)
        return [each.name for each in self._all if each.default is each.empty and each.name not in variable]

    def names(self) -> str:
        return ", ".join(str(each) for each in self._all)


class Roles:
    """Which tensors of the data are inputs of the model, and which is the target."""

    def __init__(self, model: torch.nn.Module, samples: Samples, loss: str | None, trains: bool) -> None:
        """`trains` is false for a measurement. The data may then lack the target."""
        self.target: str | int | None = None
        self.positional: list[str | int] = []  # in the order of forward's parameters
        self.keywords: list[str] = []
        self._signature = _Signature(model)
        keys = samples.keys
        if isinstance(keys[0], str):
            self._by_name([str(key) for key in keys])
        else:
            self._by_position(keys, loss if trains else None)
        if trains and self.target is None and loss is not None and loss not in LOSSES_WITHOUT_TARGET:
            raise BadUsage(
                f"loss={loss!r} wants a target in the data; found only the model's inputs. If the model returns its "
                "loss, say loss='none'"
            )

    @property
    def inputs(self) -> list[str | int]:
        return [*self.positional, *self.keywords]

    def _by_name(self, keys: list[str]) -> None:
        takes = self._signature
        known = [*takes.positional, *takes.keyword_only]
        others = [key for key in keys if key not in known and key != TARGET]
        missing = [name for name in takes.required() if name not in keys]
        if missing or (others and takes.any_keyword is None):
            raise BadUsage(
                f"wanted data with the names of forward's arguments ({takes.names()}) and '{TARGET}'; found "
                f"{', '.join(keys)}"
            )
        self.target = TARGET if TARGET in keys and TARGET not in known else None
        for name in takes.positional:
            if name not in keys:
                break  # the parameters after a gap are given by keyword
            self.positional.append(name)
        self.keywords = [name for name in known if name in keys and name not in self.positional] + others

    def _by_position(self, keys: list[str | int], loss: str | None) -> None:
        takes = self._signature
        required = len(takes.required())
        most = len(keys) if takes.any_position is not None else len(takes.positional)
        # If `loss` is None, the last tensor is the target if there are more tensors than forward requires.
        has_target = loss not in LOSSES_WITHOUT_TARGET if loss is not None else len(keys) > required
        count = len(keys) - (1 if has_target else 0)
        if not required <= count <= most or count < 1:
            raise BadUsage(
                f"wanted a tensor for each of forward's arguments ({takes.names()})"
                + (", then the target" if has_target else "")
                + f"; found {len(keys)} tensor{'' if len(keys) == 1 else 's'}"
                + (". If the model returns its loss, say loss='none'" if has_target and len(keys) == required else "")
                + (". loss='none' takes no target: the model returns its loss" if loss == "none" else "")
            )
        self.positional = keys[:count]
        self.target = keys[-1] if has_target else None

    def dynamic_shapes(self) -> dict[str, Any]:
        """The `dynamic_shapes` of torch.export: the first dimension of every input is the number of samples."""
        takes = self._signature
        each = {0: torch.export.Dim("batch")}
        shapes: dict[str, Any] = {name: each for name, _ in zip(takes.positional, self.positional)}
        others = len(self.positional) - len(takes.positional)
        if takes.any_position is not None and others > 0:
            shapes[takes.any_position] = (each,) * others
        for name in self.keywords:
            if name in takes.positional or name in takes.keyword_only:
                shapes[name] = each
            elif takes.any_keyword is not None:
                shapes.setdefault(takes.any_keyword, {})[name] = each
        return shapes


class _Example:
    """Arguments of forward, made of the first samples of the data."""

    def __init__(self, model: torch.nn.Module, samples: Samples, roles: Roles, count: int) -> None:
        self.count = count
        device = next((each.device for each in model.parameters()), torch.device("cpu"))
        # The program converts samples to the types of the exported inputs. Arrays of numpy are mostly float64.
        real = next((each.dtype for each in model.parameters() if each.is_floating_point()), torch.get_default_dtype())
        inputs = [
            each.to(device, real if each.is_floating_point() else each.dtype)
            for each in samples.head(roles.inputs, count)
        ]
        self.args = tuple(inputs[: len(roles.positional)])
        self.kwargs = dict(zip(roles.keywords, inputs[len(roles.positional) :]))

    def result_of(self, model: torch.nn.Module) -> object:
        """What the model returns in evaluation mode. forward gets copies of the buffers, since it may write to them."""
        buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
        with _in_mode(model, training=False):
            try:
                return _faithful.seeded(lambda: torch.func.functional_call(model, buffers, self.args, self.kwargs))
            except Exception as error:
                raise BadUsage(
                    f"the model cannot run on the first {self.count} samples of the data: {_first_line(error)}"
                    f"{_place_of(error)}"
                ) from error


@contextlib.contextmanager
def _in_mode(model: torch.nn.Module, training: bool) -> Iterator[None]:
    """Sets the mode of a model. A model that has the mode already keeps the modes of its modules.

    In a model in training mode, modules in evaluation mode are frozen.
    """
    modes = {module: module.training for module in model.modules()}
    if model.training != training:
        model.train(training)
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def export(
    model: torch.nn.Module, samples: Samples, roles: Roles, batch: int | None, evaluates: bool, file: pathlib.Path
) -> list[str]:
    """Writes the model to the file, and returns the names of its inputs.

    Warns if `evaluates` is true and the exported model returns something else in evaluation mode than the module.
    """
    _faithful.want_no_hooks(model)
    _want_numbers(model)
    example = _Example(model, samples, roles, 2)
    try:
        program = _exported(model, example, roles.dynamic_shapes())
    except CannotMeet:
        raise
    except Exception as error:  # torch.export raises exceptions of many kinds
        example = _Example(model, samples, roles, batch or FIXED_BATCH)
        program = _with_fixed_batch(model, example, error)
    result = example.result_of(model)
    if evaluates and not _evaluates_alike(program, example, result):
        _warn(
            "in evaluation mode forward does something else than in training mode, besides dropout and batch "
            "normalisation, perhaps under `if self.training`. The held-out loss and accuracy are of the code for "
            "training; for those of model.eval(), evaluate the trained model in PyTorch"
        )
    _save(program, file)
    return [name for name in program.graph_signature.user_inputs if isinstance(name, str)]


def _want_numbers(model: torch.nn.Module) -> None:
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if tensor.is_meta:
            raise BadUsage(
                f"the model's {name!r} is on the meta device, which has no numbers: model.to_empty(device='cpu') makes "
                "room for them, then initialise them"
            )
        if any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape)):
            raise BadUsage(
                f"the model's {name!r} has elements that share memory, as expand() makes them: each must have its own; "
                "clone() copies them"
            )


def _save(program: torch.export.ExportedProgram, file: pathlib.Path) -> None:
    try:
        with _silence():
            torch.export.save(program, file)
    except OSError as error:
        raise IoError(f"cannot write the model to {file}: {error.strerror}") from None
    except Exception as error:
        raise CannotMeet(f"torch.export cannot save the model: {_first_line(error)}") from error


def _exported(model: torch.nn.Module, example: _Example, shapes: dict[str, Any] | None) -> torch.export.ExportedProgram:
    with _in_mode(model, training=True), _faithful.refusing_own_gradients(), _faithful.right_lstm_states(), _silence():
        return torch.export.export(model, example.args, example.kwargs, dynamic_shapes=shapes)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Hides what torch.export prints. Its exceptions have the same text."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                yield
    finally:
        logging.disable(level)


def _with_fixed_batch(model: torch.nn.Module, example: _Example, first: Exception) -> torch.export.ExportedProgram:
    try:
        program = _exported(model, example, None)
    except CannotMeet:
        raise
    except Exception as error:
        example.result_of(model)  # raises an exception if the model does not run in PyTorch
        raise CannotMeet(f"torch.export cannot export the model: {_first_line(error)}{_place_of(error)}") from error
    _warn(
        f"the model takes only minibatches of {example.count} samples, in one microbatch, because torch.export could "
        f"not leave their number open: {_first_line(first)}{_place_of(first)}"
    )
    return program


def _evaluates_alike(program: torch.export.ExportedProgram, example: _Example, result: object) -> bool:
    try:
        return _faithful.evaluates_alike(program, example.args, example.kwargs, result)
    except Exception:  # ExportedProgram.module() does not work for every program
        return True


def _uses_packed_sequences(error: Exception) -> bool:
    frames = traceback.walk_tb(error.__traceback__)
    return any(isinstance(value, PackedSequence) for frame, _ in frames for value in frame.f_locals.values())


def _first_line(error: Exception) -> str:
    if _uses_packed_sequences(error):
        return "packed sequences have sizes that depend on the data: give the LSTM padded samples, and mask its output"
    if isinstance(error, (fake_tensor.DynamicOutputShapeException, fake_tensor.DataDependentOutputException)):
        return f"what {error.func} returns has a size that depends on the data"
    if isinstance(error, torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode):
        return "forward decides by the content of a tensor, as `if x.sum() > 0` does (torch.where may do the same)"
    if "namedtuple" in str(error) or "dataclass" in str(error):
        return "forward returns a namedtuple or a dataclass: let it return a tensor, a tuple or a dict"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _place_of(error: Exception) -> str:
    """The last line of the user's code in the traceback, as " (net.py:12: y = x.view(3))"."""
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    own = [each for each in frames if os.path.isabs(each.filename)]
    own = [each for each in own if not each.filename.startswith((_faithful.TORCH, HERE))]
    # If the model is made of torch's modules alone, the line is one of theirs.
    modules = [each for each in frames if each.filename.startswith(MODULES) and each.name == "forward"]
    for frame in own or modules:
        return f" ({os.path.basename(frame.filename)}:{frame.lineno}: {frame.line})"
    return ""


def _warn(message: str) -> None:
    """Warns. The warning names the line of the user's code that called this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level + 1)
