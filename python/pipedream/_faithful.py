"""Finds what torch.export would silently lose of a model."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree

from ._errors import CannotMeet

TORCH = str(pathlib.Path(torch.__file__).parent)
# Reentrant checkpointing: torch.export follows its forward, which runs without gradients.
REENTRANT = torch.utils.checkpoint.CheckpointFunction


def plain(model: torch.nn.Module) -> torch.nn.Module:
    """The model inside of the wrappers of torch.compile and of torch's data parallelism."""
    while True:
        inner = getattr(model, "_orig_mod", None)  # torch.compile
        if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            inner = model.module
        if not isinstance(inner, torch.nn.Module):
            return model
        model = inner


def want_no_hooks(model: torch.nn.Module) -> None:
    """Raises CannotMeet if a parameter or a module has a hook that can change gradients. torch.export drops hooks."""
    for name, parameter in model.named_parameters():
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            raise CannotMeet(
                f"the parameter {name!r} has a hook on its gradient, which torch.export would lose: remove it"
            )
    for name, module in model.named_modules():
        if module._backward_hooks or module._backward_pre_hooks:
            raise CannotMeet(f"the module {name!r} has a backward hook, which torch.export would lose: remove it")


@contextlib.contextmanager
def right_lstm_states() -> Iterator[None]:
    """In this block, torch.export gives the final states of an LSTM their right shapes.

    torch 2.10 gives them the shape [layers, 1, samples, hidden] instead of [layers, samples, hidden].
    """

    def with_right_states(layer: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            output, states = layer(*args, **kwargs)
            return output, tuple(state.squeeze(0) if state.dim() == 3 else state for state in states)

        return run

    from torch._decomp import decompositions

    names = ("one_layer_lstm", "mkldnn_one_layer_lstm")
    layers = {name: getattr(decompositions, name) for name in names if hasattr(decompositions, name)}
    for name, layer in layers.items():
        setattr(decompositions, name, with_right_states(layer))
    try:
        yield
    finally:
        for name, layer in layers.items():
            setattr(decompositions, name, layer)


@contextlib.contextmanager
def refusing_own_gradients() -> Iterator[None]:
    """Raises CannotMeet if the block exports a model that defines gradients of its own.

    torch.export records the operators of forward. The gradients of the exported model are those of the operators.
    """
    found: set[str] = set()
    apply: Any = torch.autograd.Function.__dict__["apply"]
    hook: Callable[..., Any] = torch.Tensor.register_hook

    def watched_apply(cls: type[torch.autograd.Function], *args: Any, **kwargs: Any) -> Any:
        if cls is REENTRANT:
            found.add(
                "forward calls torch.utils.checkpoint with use_reentrant=True. torch.export drops its gradient: "
                "pass use_reentrant=False"
            )
        elif not cls.__module__.startswith("torch."):
            found.add(
                f"forward calls {cls.__name__}.apply, a torch.autograd.Function. torch.export drops its backward: "
                "compute the same with operators of PyTorch (x + (y - x).detach() has the value of y and the "
                "gradient of x)"
            )
        return apply.__get__(None, cls)(*args, **kwargs)

    def watched_hook(self: torch.Tensor, *args: Any) -> Any:
        if not sys._getframe(1).f_code.co_filename.startswith(TORCH):
            found.add("forward calls Tensor.register_hook. torch.export drops the hook: compute the same without it")
        return hook(self, *args)

    torch.autograd.Function.apply = classmethod(watched_apply)  # type: ignore[assignment, method-assign]
    torch.Tensor.register_hook = watched_hook  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.autograd.Function.apply = apply  # type: ignore[method-assign]
        torch.Tensor.register_hook = hook  # type: ignore[method-assign]
    if found:
        raise CannotMeet("torch.export would change the model's gradients:\n  " + "\n  ".join(sorted(found)))


def evaluates_alike(
    program: torch.export.ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: object
) -> bool:
    """Whether the program returns `wanted` in evaluation mode, as the module does.

    It returns something else if forward has code for one mode only: the export has the code for training.
    """
    module = program.module()
    for node in list(module.graph.nodes):
        _switch(node)
    module.recompile()
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    found = seeded(lambda: torch.func.functional_call(module, buffers, args, kwargs))
    ours, theirs = _first_tensor(found), _first_tensor(wanted)
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return ours is None and theirs is None
    ours, theirs = ours.detach().double(), theirs.detach().double()
    scale = float(theirs.abs().max()) if theirs.numel() > 0 else 0.0
    return torch.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * scale, equal_nan=True)


def seeded(compute: Callable[[], Any]) -> Any:
    """The result of `compute`, with the same random numbers at each call."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return compute()


def _switch(node: torch.fx.Node) -> None:
    """Switches a call to evaluation mode, as the program does (src/imported/special.cpp)."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return
    aten = torch.ops.aten
    means = {aten.bernoulli_.float: aten.fill_.Scalar, aten.bernoulli.p: aten.full_like.default}
    if node.target in means:
        node.target, node.args, node.kwargs = means[node.target], node.args[:2], {}
        return
    for place, argument in enumerate(node.target._schema.arguments):
        off = {"train": False, "training": False, "use_input_stats": False, "dropout_p": 0.0}.get(argument.name)
        if off is None:
            continue
        if place < len(node.args):
            node.update_arg(place, off)
        elif argument.name in node.kwargs:
            node.update_kwarg(argument.name, off)


def _first_tensor(value: object) -> torch.Tensor | None:
    return next((each for each in _pytree.tree_leaves(value) if isinstance(each, torch.Tensor)), None)
