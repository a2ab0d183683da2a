"""What bench/accuracy.py measured, as figures, tables and pictures. No program is called here."""
import html
import math
import statistics

MOST_SAMPLES = 1.1  # of plain training's, that pipedream with stashing may need
HELD = 5            # evaluations whose median must be at the target: one lucky evaluation is none

# Okabe and Ito's colours, and dashes as a second sign. No two variants look alike.
STYLES = [("#000000", ""), ("#d55e00", ""), ("#d55e00", "6 3"), ("#d55e00", "2 3"),
          ("#0072b2", ""), ("#009e73", ""), ("#009e73", "6 3"), ("#56b4e9", ""),
          ("#56b4e9", "6 3"), ("#cc79a7", ""), ("#cc79a7", "6 3"), ("#e69f00", ""),
          ("#999999", "")]
PANEL_WIDTH, PANEL_HEIGHT = 400, 250
MARGIN = {"left": 58, "right": 16, "top": 34, "bottom": 40}


def is_better(task, value, than):
    return value >= than if task["figure"] == "accuracy" else value <= than


def samples_to_target(task, curve):
    """The samples of the first evaluation from which on the target is held: it is at the target, and
    so is the median of it and the next four. None if there is none. A curve is [[samples, value], …]."""
    for i, (samples, value) in enumerate(curve):
        held = statistics.median(found for _, found in curve[i:i + HELD])
        if is_better(task, value, task["target"]) and is_better(task, held, task["target"]):
            return samples
    return None


def is_settled(task, curve):
    """Whether further evaluations cannot change what samples_to_target() returns."""
    reached = samples_to_target(task, curve)
    return reached is not None and [samples for samples, _ in curve].index(reached) + HELD <= len(curve)


def best_of(task, curve):
    return (max if task["figure"] == "accuracy" else min)(value for _, value in curve)


def best_rate(task, curves):
    """The learning rate whose curve reaches the target after the fewest samples; if none does, the
    one with the best value. `curves`: by learning rate."""
    def rank(rate):
        samples = samples_to_target(task, curves[rate])
        best = best_of(task, curves[rate])
        return (samples is None, samples or 0, -best if task["figure"] == "accuracy" else best)
    return min(curves, key=rank)


def summary_of(task, measured):
    """The row of a variant. `measured`: {"rate", "curves": one per seed, "speeds": by link}."""
    reached = [samples_to_target(task, curve) for curve in measured["curves"]]
    found = [samples for samples in reached if samples is not None]
    samples = statistics.median(found) if len(found) == len(reached) else None
    return {"rate": measured["rate"], "samples": samples, "reached": len(found),
            "seeds": len(reached),
            "best": statistics.median(best_of(task, curve) for curve in measured["curves"]),
            "speeds": measured["speeds"],
            "seconds": {link: samples / speed if samples else None
                        for link, speed in measured["speeds"].items()}}


def bar_of(rows):
    """Samples of pipedream over those of plain training; None if either did not reach the target."""
    plain, stashing = rows.get("plain", {}).get("samples"), rows.get("pipedream", {}).get("samples")
    return stashing / plain if plain and stashing else None


def is_met(rows):
    ratio = bar_of(rows)
    return ratio is not None and ratio <= MOST_SAMPLES


def figure_text(task, value):
    return f"{100 * value:.1f} %" if task["figure"] == "accuracy" else f"{value:.2f}"


def number_text(value):
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table_of(task, rows, links):
    """One line per variant. `links`: names, in the order of the columns."""
    heads = ["system", "learning rate", f"samples to {figure_text(task, task['target'])}",
             "× dp-bsp", "best", *[head for link in links
                                   for head in (f"samples/s, {link}", f"seconds, {link}")]]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    base = rows.get("dp-bsp", {}).get("samples")
    for name, row in rows.items():
        reached = ("" if row["reached"] in (0, row["seeds"])
                   else f" ({row['reached']} of {row['seeds']} seeds)")
        ratio = f"{row['samples'] / base:.2f}" if row["samples"] and base else "–"
        cells = [name, f"{row['rate']:g}", number_text(row["samples"]) + reached, ratio,
                 figure_text(task, row["best"])]
        for link in links:
            cells += [number_text(row["speeds"].get(link)), number_text(row["seconds"].get(link))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


# ---- pictures ---------------------------------------------------------------------------------

def ticks(low, high, count):
    span = high - low
    power = 10 ** math.floor(math.log10(span / count))
    step = next(f * power for f in (1, 2, 5, 10) if span / (f * power) <= count)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def panel(title, x_name, lines, target, y_range, left):
    """One chart. `lines`: (colour, dash, [(x, y), …])."""
    wide = PANEL_WIDTH - MARGIN["left"] - MARGIN["right"]
    high = PANEL_HEIGHT - MARGIN["top"] - MARGIN["bottom"]
    x_most = max((x for *_, points in lines for x, _ in points), default=0) or 1
    low, top = y_range[0], max(y_range[1], y_range[0] + 1e-9)

    def place(x, y):
        return (left + MARGIN["left"] + x / x_most * wide,
                MARGIN["top"] + (1 - (min(max(y, low), top) - low) / (top - low)) * high)

    parts = [f'<text x="{left + MARGIN["left"]}" y="20" font-weight="600">{html.escape(title)}</text>']
    for tick in ticks(low, top, 5):
        x, y = place(0, tick)
        parts.append(f'<path d="M{x:.1f} {y:.1f}h{wide}" stroke="#ddd"/>'
                     f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in ticks(0, x_most, 4):
        x, y = place(tick, low)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{tick:,g}</text>')
    x, y = place(0, target)
    parts.append(f'<path d="M{x:.1f} {y:.1f}h{wide}" stroke="#000" stroke-dasharray="2 2"/>')
    parts.append(f'<text x="{left + MARGIN["left"] + wide / 2:.1f}" y="{PANEL_HEIGHT - 6}" '
                 f'text-anchor="middle">{html.escape(x_name)}</text>')
    for colour, dash, points in lines:
        steps = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in points)
        parts.append(f'<path d="M{steps}" fill="none" stroke="{colour}" stroke-width="1.6"' +
                     (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
    return "".join(parts)


def picture_of(task, measured, links):
    """Curves of the first seed over samples, and over seconds for each link. `measured`: by
    variant, as for summary_of()."""
    names = list(measured)
    values = [value for each in measured.values() for _, value in each["curves"][0]]
    y_range = ((min(values), 1.0) if task["figure"] == "accuracy"
               else (min(values), min(max(values), 3 * task["target"])))

    whole = [(*STYLES[i % len(STYLES)], measured[name]["curves"][0]) for i, name in enumerate(names)]

    def of(link):
        """The variants that were measured on this link, with their styles."""
        return [(*STYLES[i % len(STYLES)],
                 [(samples / measured[name]["speeds"][link], value)
                  for samples, value in measured[name]["curves"][0]])
                for i, name in enumerate(names) if link in measured[name]["speeds"]]

    panels = [panel(f"{task['name']}: {task['figure']}", "samples", whole, task["target"], y_range, 0)]
    for i, link in enumerate(links):
        panels.append(panel(link, "seconds of training", of(link), task["target"], y_range,
                            (i + 1) * PANEL_WIDTH))
    width = PANEL_WIDTH * len(panels)
    legend = []
    column = 50 + 7 * max(len(name) for name in names)
    in_row = max(1, (width - MARGIN["left"]) // column)
    for i, name in enumerate(names):
        colour, dash = STYLES[i % len(STYLES)]
        x, y = MARGIN["left"] + i % in_row * column, PANEL_HEIGHT + 18 + i // in_row * 20
        legend.append(f'<path d="M{x} {y - 4}h26" stroke="{colour}" stroke-width="2.4"' +
                      (f' stroke-dasharray="{dash}"' if dash else "") +
                      f'/><text x="{x + 34}" y="{y}">{html.escape(name)}</text>')
    height = PANEL_HEIGHT + 28 + (len(names) - 1) // in_row * 20
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
            f'<rect width="{width}" height="{height}" fill="#fff"/>'
            + "".join(panels) + "".join(legend) + "</svg>\n")
