"""Reads samples from tensors, arrays, dicts of them or a Dataset, and writes them to a file."""

from __future__ import annotations

import json
import math
import mmap
import os
import pathlib
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Union

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from ._arguments import kind_of
from ._errors import BadUsage, IoError

Array = Any  # a tensor, a numpy array, or anything that torch.as_tensor takes
Data = Union[Array, Sequence[Array], Mapping[str, Array], "Dataset[Any]"]

TYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
ROWS_AT_ONCE = 1 << 24  # bytes that are copied to the file in one step


def _as_tensor(value: Any, what: str) -> torch.Tensor:
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise BadUsage(
            f"{what}: wanted a tensor, an array or a number, found {kind_of(value)} ({error}); convert it to "
            "a tensor of numbers (in a Dataset, a transform can)"
        ) from None
    if tensor.is_nested:
        raise BadUsage(f"{what}: wanted samples of one shape, found a nested tensor; padding may help")
    if tensor.layout is not torch.strided:
        raise BadUsage(f"{what}: wanted a dense tensor, found the layout {tensor.layout}; .to_dense() makes one")
    if tensor.is_meta:
        raise BadUsage(f"{what}: wanted numbers, found a tensor on the meta device, which has none")
    if tensor.dtype not in TYPES:
        types = ", ".join(str(each).removeprefix("torch.") for each in TYPES)
        raise BadUsage(f"{what}: wanted one of the types {types}, found {tensor.dtype}; .to() converts it")
    return tensor.detach()


def _parts(sample: Any) -> dict[str | int, Any]:
    """The tensors of data or of one sample, by name or by position."""
    if isinstance(sample, Mapping):
        return {str(name): value for name, value in sample.items()}
    if isinstance(sample, (tuple, list)):
        return dict(enumerate(sample))
    return {0: sample}


def _want_like(first: torch.Tensor, value: torch.Tensor | None, row: int, key: str | int) -> None:
    """Raises BadUsage unless `value` has the type and the shape of `first`, which is sample 0 as a batch of one."""
    if value is None:
        raise BadUsage(f"sample {row} of the data set has no {key!r}, which sample 0 has")
    if value.shape != first.shape[1:] or value.dtype != first.dtype:
        raise BadUsage(
            f"all samples must have the same shape and type: sample {row}, {key!r}: wanted {first.dtype} "
            f"{list(first.shape[1:])} as in sample 0, found {value.dtype} {list(value.shape)}; padding may help"
        )


class Samples:
    """Samples whose tensors have names, or positions if the data is a sequence."""

    def __init__(self, data: Data, name: str = "data") -> None:
        """`name` is the name of the argument `data`, for messages."""
        if isinstance(data, DataLoader):
            raise BadUsage(f"{name}: wanted a data set, found a DataLoader: give its .dataset")
        if isinstance(data, IterableDataset):
            raise BadUsage(f"{name}: wanted a data set with a length, found an IterableDataset")
        self._name = name
        self._dataset = data if isinstance(data, Dataset) else None
        self._tensors: dict[str | int, torch.Tensor] = {}
        if self._dataset is None:
            if isinstance(data, (tuple, list)) and data and not hasattr(data[0], "__len__"):
                raise BadUsage(f"{name}: wanted one tensor or array for each input, found a list of numbers")
            self._tensors = {key: _as_tensor(each, f"{name}[{key!r}]") for key, each in _parts(data).items()}
            self.count = self._counted()
            self._first = {key: each[:1] for key, each in self._tensors.items()}
        else:
            self.count = self._length()
            if self.count > 0:
                self._first = {key: each[None] for key, each in self._sample(0).items()}
        if self.count < 2:
            raise BadUsage(f"{name}: wanted at least two samples, found {self.count}")
        if not self._first:
            raise BadUsage(f"{name}: wanted a tensor in each sample, found none in sample 0")
        for key, each in self._first.items():
            if each.numel() == 0:
                raise BadUsage(
                    f"{name}[{key!r}]: each sample has the shape {list(each.shape[1:])}, which holds nothing"
                )

    def _length(self) -> int:
        try:
            return len(self._dataset)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise BadUsage(f"{self._name}: wanted a data set with a length, as __len__ returns it: {error}") from error

    def _counted(self) -> int:
        if not self._tensors:
            raise BadUsage(f"{self._name}: wanted at least one tensor, found none")
        for key, each in self._tensors.items():
            if each.dim() == 0:
                raise BadUsage(
                    f"{self._name}[{key!r}]: wanted a tensor whose first dimension counts the samples, found a number"
                )
        counts = {key: len(each) for key, each in self._tensors.items()}
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{key!r}: {count}" for key, count in counts.items())
            raise BadUsage(
                f"{self._name}: wanted the same number of samples in each tensor's first dimension, found {found}"
            )
        return next(iter(counts.values()))

    def _sample(self, index: int) -> dict[str | int, torch.Tensor]:
        assert self._dataset is not None
        parts = _parts(self._dataset[index])
        return {key: _as_tensor(each, f"sample {index}, {key!r}") for key, each in parts.items()}

    @property
    def keys(self) -> list[str | int]:
        """The names of the tensors, or their positions 0, 1, …."""
        return list(self._first)

    def head(self, keys: Sequence[str | int], count: int) -> list[torch.Tensor]:
        """The tensors `keys` of the first `count` samples. If there are fewer samples, they repeat."""
        rows = [index % self.count for index in range(count)]
        if self._dataset is None:
            return [self._tensors[key][rows] for key in keys]
        samples = [self._sample(row) for row in rows]
        for row, sample in zip(rows, samples):
            for key in keys:
                _want_like(self._first[key], sample.get(key), row, key)
        return [torch.stack([sample[key] for sample in samples]) for key in keys]

    def write(self, file: pathlib.Path, names: Mapping[str | int, str], show: bool) -> None:
        """Writes the tensors in `names` to a safetensors file that is mapped into memory."""
        shapes = {key: [self.count, *self._first[key].shape[1:]] for key in names}
        types = {key: self._first[key].dtype for key in names}
        with _TensorFile(file, {names[key]: (types[key], shapes[key]) for key in names}) as rows:
            if self._dataset is None:
                for key, name in names.items():
                    rows.put_all(name, self._tensors[key])
            else:
                self._write_samples(rows, names, show)

    def _write_samples(self, rows: _TensorFile, names: Mapping[str | int, str], show: bool) -> None:
        progress = _Progress("writing the data set", self.count, show)
        for index in range(self.count):
            sample = self._sample(index)
            for key, name in names.items():
                _want_like(self._first[key], sample.get(key), index, key)
                rows.put(name, index, sample[key])
            progress.step(index + 1)
        progress.end()


class _TensorFile:
    """A safetensors file that is filled row by row."""

    def __init__(self, file: pathlib.Path, tensors: Mapping[str, tuple[torch.dtype, list[int]]]) -> None:
        head: dict[str, Any] = {}
        end = 0
        for name, (dtype, shape) in tensors.items():
            begin, end = end, end + math.prod(shape) * dtype.itemsize
            head[name] = {"dtype": TYPES[dtype], "shape": shape, "data_offsets": [begin, end]}
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        start = 8 + len(text)
        try:
            self._file = open(file, "w+b")
            # Reserves the space on the disk. Without it, a write to the map of a full disk ends the process (SIGBUS).
            os.posix_fallocate(self._file.fileno(), 0, start + end)
        except OSError as error:
            raise IoError(
                f"cannot write {(start + end) / 1e9:,.3f} GB of samples to {file}: {error.strerror}"
            ) from None
        self._file.write(len(text).to_bytes(8, "little") + text)
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), start + end)
        self._tensors = {
            name: torch.frombuffer(
                self._map, dtype=dtype, count=math.prod(shape), offset=start + head[name]["data_offsets"][0]
            ).view(shape)
            for name, (dtype, shape) in tensors.items()
        }

    def put(self, name: str, row: int, value: torch.Tensor) -> None:
        self._tensors[name][row] = value

    def put_all(self, name: str, values: torch.Tensor) -> None:
        into = self._tensors[name]
        size = max(1, ROWS_AT_ONCE // max(1, into[0].numel() * into.dtype.itemsize))
        for first in range(0, len(into), size):
            into[first : first + size] = values[first : first + size]

    def __enter__(self) -> _TensorFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._tensors.clear()
        del self._map  # the file is unmapped with the last tensor that refers to it
        self._file.close()


class _Progress:
    """A line on stderr that shows the progress of what takes longer than a second."""

    def __init__(self, title: str, total: int, show: bool) -> None:
        self._title, self._total = title, total
        self._show = show and sys.stderr is not None
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + 1
        self._drawn = False

    def step(self, done: int) -> None:
        if not self._show or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + (0.1 if self._terminal else 5)
        line = f"{self._title}: {done:,} of {self._total:,} samples"
        sys.stderr.write(f"\r\x1b[K{line}" if self._terminal else line + "\n")
        sys.stderr.flush()
        self._drawn = self._terminal

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
