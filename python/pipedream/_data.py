"""Samples as users have them: tensors, arrays, dicts of them, or a Dataset; and the file they go to."""

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

from ._errors import BadUsage, IoError

Array = Any  # a tensor, a numpy array, or anything that torch.as_tensor takes
Data = Union[Array, Sequence[Array], Mapping[str, Array], "Dataset[Any]"]

TYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
ROWS_AT_ONCE = 1 << 24  # bytes


def _as_tensor(value: Any, what: str) -> torch.Tensor:
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise BadUsage(
            f"{what}: wanted a tensor, an array or a number, found {type(value).__name__} ({error}); a "
            "transform of the data set may turn it into a tensor"
        ) from None
    if tensor.dtype not in TYPES:
        raise BadUsage(f"{what}: tensors of {tensor.dtype} cannot be read")
    return tensor.detach()


def _parts(sample: Any) -> dict[str | int, Any]:
    """The tensors of data or of one sample, by name or by position."""
    if isinstance(sample, Mapping):
        return {str(name): value for name, value in sample.items()}
    if isinstance(sample, (tuple, list)):
        return dict(enumerate(sample))
    return {0: sample}


class Samples:
    """Samples whose tensors have names, or positions if the data is a sequence."""

    def __init__(self, data: Data) -> None:
        if isinstance(data, DataLoader):
            raise BadUsage("wanted a data set, found a DataLoader: give its .dataset")
        if isinstance(data, IterableDataset):
            raise BadUsage("wanted a data set with a length, found an IterableDataset")
        self._dataset = data if isinstance(data, Dataset) else None
        self._tensors: dict[str | int, torch.Tensor] = {}
        if self._dataset is None:
            if isinstance(data, (tuple, list)) and data and not hasattr(data[0], "__len__"):
                raise BadUsage("wanted one tensor or array for each input, found a list of numbers")
            self._tensors = {key: _as_tensor(each, f"data[{key!r}]") for key, each in _parts(data).items()}
            self.count = self._counted()
            self._first = {key: each[:1] for key, each in self._tensors.items()}
        else:
            self.count = len(self._dataset)  # type: ignore[arg-type]
            if self.count > 0:
                self._first = {key: each[None] for key, each in self._sample(0).items()}
        if self.count < 2:
            raise BadUsage(f"wanted at least two samples, found {self.count}")
        for key, each in self._first.items():
            if each.numel() == 0:
                raise BadUsage(f"data[{key!r}]: each sample has the shape {list(each.shape[1:])}, which holds nothing")

    def _counted(self) -> int:
        if not self._tensors:
            raise BadUsage("the data has no tensors")
        for key, each in self._tensors.items():
            if each.dim() == 0:
                raise BadUsage(
                    f"data[{key!r}]: wanted a tensor whose first dimension counts the samples, found a number"
                )
        counts = {key: len(each) for key, each in self._tensors.items()}
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{key!r}: {count}" for key, count in counts.items())
            raise BadUsage(f"all tensors must have the same number of samples in their first dimension; found {found}")
        return next(iter(counts.values()))

    def _sample(self, index: int) -> dict[str | int, torch.Tensor]:
        assert self._dataset is not None
        parts = _parts(self._dataset[index])
        return {key: _as_tensor(each, f"sample {index}, {key!r}") for key, each in parts.items()}

    @property
    def keys(self) -> list[str | int]:
        """Names, or positions 0, 1, …."""
        return list(self._first)

    def head(self, key: str | int, count: int) -> torch.Tensor:
        """One tensor of the first `count` samples; the samples repeat if there are fewer."""
        rows = [index % self.count for index in range(count)]
        if self._dataset is None:
            return self._tensors[key][rows]
        return torch.stack([self._sample(row)[key] for row in rows])

    def write(self, file: pathlib.Path, names: Mapping[str | int, str], show: bool) -> None:
        """Writes the tensors that have names to a safetensors file, through memory."""
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
                if key not in sample:
                    raise BadUsage(f"sample {index} of the data set has no {key!r}, which sample 0 has")
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
            # Space is taken now, so that a full disk is an error here and not a fault in the middle.
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
        into = self._tensors[name]
        if value.shape != into.shape[1:] or value.dtype != into.dtype:
            raise BadUsage(
                f"sample {row}, {name}: wanted {into.dtype} {list(into.shape[1:])} as in sample 0, found "
                f"{value.dtype} {list(value.shape)}"
            )
        into[row] = value

    def put_all(self, name: str, values: torch.Tensor) -> None:
        into = self._tensors[name]
        size = max(1, ROWS_AT_ONCE // max(1, into[0].numel() * into.dtype.itemsize))
        for first in range(0, len(into), size):
            into[first : first + size] = values[first : first + size]

    def __enter__(self) -> _TensorFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._tensors.clear()
        del self._map  # it ends with the last tensor that refers to it
        self._file.close()


class _Progress:
    """A line on stderr, from the second second on."""

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
