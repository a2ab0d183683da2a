"""Tables for notebooks. They have no colours of their own, so they fit light and dark notebooks."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: float) -> str:
    """A number of bytes as text: "1.5 MiB"."""
    unit = 0
    while count >= 1024 and unit + 1 < len(UNITS):
        count /= 1024
        unit += 1
    return f"{count:.4g} {UNITS[unit]}"


def milliseconds(seconds: float) -> str:
    number, unit = (seconds * 1000, "ms") if seconds < 0.9995 else (seconds, "s")
    return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"


def rate(samples_per_second: float) -> str:
    if math.isnan(samples_per_second):
        return "too short to measure"
    digits = ".4g" if samples_per_second < 1000 else ".0f"
    return f"{samples_per_second:,{digits}} samples/s"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", words: int = 1) -> str:
    """A table. The first `words` columns are aligned left; the others have numbers and are aligned right."""

    def cell(tag: str, value: object, side: str) -> str:
        return f'<{tag} style="text-align:{side};padding:2px 8px">{html.escape(str(value))}</{tag}>'

    def row(tag: str, values: Sequence[object]) -> str:
        cells = (cell(tag, value, "left" if i < words else "right") for i, value in enumerate(values))
        return f"<tr>{''.join(cells)}</tr>"

    caption = f'<caption style="text-align:left">{html.escape(title)}</caption>' if title else ""
    body = "".join(row("td", values) for values in rows)
    return f"<table>{caption}<thead>{row('th', columns)}</thead><tbody>{body}</tbody></table>"


def picture(svg: str) -> str:
    """A drawing as part of a page, at most as wide as the page."""
    at = svg.find("<svg")
    return f'<div style="max-width:100%;overflow-x:auto">{svg[at:]}</div>' if at >= 0 else ""
