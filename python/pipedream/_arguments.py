"""Checks of arguments that several functions take, with messages for wrong ones."""

from __future__ import annotations

import os
import pathlib
from numbers import Integral
from typing import Union

from ._errors import BadUsage

Path = Union[str, "os.PathLike[str]"]


def kind_of(value: object) -> str:
    """The type of a value, for messages: "a list", "an int", "the class Linear"."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def path_of(value: object, name: str) -> pathlib.Path:
    """The argument `name` as a path. Raises BadUsage if its value cannot be one."""
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise BadUsage(f"{name}: wanted a path, as a str or a pathlib.Path, found {kind_of(value)}")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise BadUsage(f"{name}: wanted a path, found {text!r}")
    return pathlib.Path(text)


def want_count(value: object, name: str) -> None:
    """Raises BadUsage unless the value of the argument `name` is None or a whole number from 1."""
    is_count = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    if value is not None and not is_count:
        raise BadUsage(f"{name}: wanted a whole number from 1, found {value!r}")
