"""The tables and verdicts of bench/cluster.py, made from what was measured. No program is called."""
from cluster_formulas import (
    ALONE,
    DATA_PARALLEL,
    DDP,
    TORCH_ALONE,
    alone_speed,
    busy_of,
    is_measured,
    rate_text,
    ratio_to,
    row_called,
    speed_of,
    spread_of,
    wire_bytes_of,
)
from threads_seen import text_of

STEADY = 0.05  # a row whose runs spread more is too unsteady to judge
STALE_GAIN = 1.25  # what a system with stale weights must gain, or `auto` leaves it (--prefer balanced)
WITHIN = 0.97  # of the speed of the right choice


# ---- tables ----------------------------------------------------------------------------------

TITLES = ["system", "plan", "samples/s", "spread", "× dp-bsp", "× DDP", "of alone", "busy",
          "kB/sample", "predicted", "simulated"]


def text(value, form):
    return "–" if value is None else form.format(value)


def percent(value):
    return text(None if value is None else 100 * value, "{:.0f} %")


def cells_of(group, row):
    alone = alone_speed(group)
    wire = wire_bytes_of(row)
    return [row["system"], row.get("plan") or "–", f"{speed_of(row):.4g}",
            f"{100 * spread_of(row):.1f} %",
            text(ratio_to(group, row, DATA_PARALLEL), "{:.2f}"),
            text(ratio_to(group, row, DDP), "{:.2f}"),
            percent(speed_of(row) / alone if alone else None), percent(busy_of(row)),
            text(wire / 1000 if wire is not None else None, "{:,.4g}" if (wire or 0) < 1e6 else "{:,.0f}"),
            text(row.get("predicted"), "{:.4g}"), text(row.get("simulated"), "{:.4g}")]


def title_of(group):
    link = group["link"]
    rate = rate_text(group["mbit"])
    return f"{group['model']}, {rate}" + ("" if link == rate else f" ({link})")


def table_of(group):
    """Markdown, whose columns are aligned for people."""
    rows = [TITLES, *(cells_of(group, row) for row in group["rows"] if is_measured(row))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(TITLES))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"{row['system']}: {row.get('refused', 'not measured')}"
             for row in group["rows"] if not is_measured(row)]
    notes += [f"{row['system']}, cores by thread: {text_of(row['threads'])}"
              for row in group["rows"] if row.get("threads")]
    if group.get("auto"):
        notes.append(f"auto takes {group['auto']}")
    return "\n".join(lines + [f"- {note}" for note in notes + group.get("notes", [])])


# ---- bars ------------------------------------------------------------------------------------

def bar(what, found, wanted, rows):
    """met is None if one of the rows that it is about is too unsteady."""
    steady = all(spread_of(row) <= STEADY for row in rows)
    return {"what": what, "found": found, "wanted": wanted,
            "met": found >= wanted if steady else None}


def ratio_bar(group, system, other, wanted):
    row, against = row_called(group, system), row_called(group, other)
    if not is_measured(row) or not is_measured(against):
        return []
    return [bar(f"{title_of(group)}: {system} over {other}", speed_of(row) / speed_of(against),
                wanted, [row, against])]


def alone_bar(group, system, wanted):
    row = row_called(group, system)
    alone = [r for r in (row_called(group, ALONE), row_called(group, TORCH_ALONE)) if is_measured(r)]
    if not is_measured(row) or not alone:
        return []
    return [bar(f"{title_of(group)}: {system} of what all cores give alone",
                speed_of(row) / alone_speed(group), wanted, [row, max(alone, key=speed_of)])]


def simulated_bar(group, system, wanted):
    row = row_called(group, system)
    if not is_measured(row) or not row.get("simulated"):
        return []
    return [bar(f"{title_of(group)}: {system} of its simulated speed",
                speed_of(row) / row["simulated"], wanted, [row])]


def bytes_bar(group, system, wanted):
    """Bytes do not depend on how steady the machine is."""
    row, against = row_called(group, system), row_called(group, DATA_PARALLEL)
    if not is_measured(row) or not is_measured(against) or not wire_bytes_of(against):
        return []
    return [bar(f"{title_of(group)}: bytes that {system} saves of {DATA_PARALLEL}'s",
                1 - wire_bytes_of(row) / wire_bytes_of(against), wanted, [])]


def auto_bar(group, traits):
    """`auto` should take the fastest system with exact weights, or the fastest with stale ones if
    that gains enough."""
    rows = [row for row in group["rows"] if is_measured(row) and traits.get(row["system"], {}).get("automatic")]
    chosen = row_called(group, group.get("auto"))
    exact = max((r for r in rows if not traits[r["system"]]["stale"]), key=speed_of, default=None)
    stale = max((r for r in rows if traits[r["system"]]["stale"]), key=speed_of, default=None)
    if not is_measured(chosen) or exact is None:
        return []
    right = stale if stale and speed_of(stale) >= STALE_GAIN * speed_of(exact) else exact
    return [bar(f"{title_of(group)}: auto's choice {chosen['system']} over {right['system']}, the fastest that its rule allows",
                speed_of(chosen) / speed_of(right), WITHIN, [chosen, right])]


EFFECTIVE_BARS = {"vgg16": 5.28, "alexnet": 4.92, "gnmt16": 2.34, "resnet50": 0.98}


def bars_of(group, shape, traits):
    """What the group must reach on a cluster of that shape (hosts, workers of each)."""
    model, mbit, link = group["model"], group["mbit"], group["link"]
    found = []
    if shape in ((2, 1), (4, 4)):
        found += ratio_bar(group, DATA_PARALLEL, DDP, 0.95) if model == "vgg16" else []
    if shape == (2, 1) and mbit == 100 and model in ("vgg16", "gnmt8"):
        found += simulated_bar(group, "pipedream", 0.97)
    if shape == (4, 4):
        if model == "vgg16" and mbit == 1000:
            found += alone_bar(group, "pipedream", 0.87) + ratio_bar(group, "pipedream", DDP, 3.7)
        if model == "vgg16" and mbit == 200:
            found += alone_bar(group, "pipedream", 0.78) + ratio_bar(group, "pipedream", DDP, 14)
        if link == "effective" and model in EFFECTIVE_BARS:
            found += ratio_bar(group, "pipedream", DATA_PARALLEL, EFFECTIVE_BARS[model])
        found += auto_bar(group, traits)
    if model == "vgg16" and (shape == (2, 1) and mbit == 100 or shape == (4, 4)):
        found += bytes_bar(group, "pipedream", 0.95)
    return found


def verdict_of(each):
    answer = {True: "met", False: "NOT met", None: f"not judged, runs spread by more than {100 * STEADY:.0f} %"}
    return f"{each['what']}: {each['found']:.3f} (bar {each['wanted']}): {answer[each['met']]}"


def failed_rows(results):
    return [(group, row) for group in results["groups"] for row in group["rows"]
            if row.get("refused", "").startswith("failed")]


def exit_code_of(results):
    """1: a bar is not met, or a system failed; 2: some bars could not be judged."""
    if failed_rows(results) or any(each["met"] is False for each in results["bars"]):
        return 1
    return 2 if any(each["met"] is None for each in results["bars"]) else 0


def report_of(results):
    machine = results["machine"]
    lines = [f"{results['hosts']} hosts of {results['workers_per_host']}; {machine['cores']} cores "
             f"({machine['processor']}), torch {machine['torch']}; medians of runs from which the "
             f"machine's host took at most {100 * results['most_stolen']:.0f} % of the processors' time", ""]
    for group in results["groups"]:
        lines += [title_of(group), "", table_of(group), ""]
    return "\n".join(lines + [verdict_of(each) for each in results["bars"]]) + "\n"
