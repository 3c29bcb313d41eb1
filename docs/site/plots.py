"""Draws the plots of the pages as SVG. One version of matplotlib makes the same bytes each time."""

import io
import math
import re
from xml.sax.saxutils import escape

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

matplotlib.rcdefaults()
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "rig", "font.sans-serif": ["DejaVu Sans"], "font.size": 8,
    "axes.edgecolor": "#888888", "axes.spines.left": False, "axes.spines.right": False,
    "axes.spines.top": False, "axes.axisbelow": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "xtick.labelsize": 7, "xtick.bottom": False, "ytick.left": False, "lines.linewidth": 1.2, "lines.markersize": 3})

WIDTH, EDGE, HEAD = 680, 15, 64  # in points: of a picture, of its margin, of what is above the axes
LETTER, FIGURE_SPACE = 5, "\u2007"  # the approximate width of a letter, and a space that is as wide as a digit
RIG, SLOWER, MEAN, TARGET = "#4a86c5", "#e0a08a", "#1f4e86", "#b3401e"
COLOURS = [MEAN, TARGET, "#3c8d3c", "#8a5fb0", "#777777"]


def picture(height, title, subtitle):
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    words(figure, EDGE, 22, title, size=11, weight="bold")
    words(figure, EDGE, 35, subtitle, color="#555555")
    return figure


def words(figure, x, y, text, **style):
    """Text whose base line begins at points from the upper left corner."""
    width, height = figure.get_size_inches() * 72
    figure.text(x / width, 1 - y / height, text, **style)


def axes(figure, left, top, width, height):
    across, down = figure.get_size_inches() * 72
    return figure.add_axes([left / across, 1 - (top + height) / down, width / across, height / down])


def save(figure, path, title, described):
    """Writes the picture, with its title and what it shows for readers who do not see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
    svg = buffer.getvalue()
    for bulk, rest in ((r"<!--.*?-->\n *", ""), (r"(\.\d\d)\d+", r"\1"), (r' transform="rotate\(-0 [^"]*"', ""),
                       (r"\s*\n *", "\n"), (r"\n(?=[^<])", " ")):
        svg = re.sub(bulk, rest, svg, flags=re.DOTALL)
    # A halo keeps text legible above lines.
    style = "text{paint-order:stroke;stroke:#fff;stroke-width:2px}"
    svg = svg.replace("</style>", style + "</style>", 1)
    about = f"<title>{escape(title)}</title>\n<desc>{escape(described)}</desc>\n"
    path.write_text(svg.replace("<defs>", about + "<defs>", 1), encoding="utf-8")


def steps_to(greatest):
    """Multiples of 1, 2 or 5 times a power of ten: at most six, of which the last one is not less."""
    unit = 10 ** math.floor(math.log10(greatest / 6))
    step = next(times * unit for times in (1, 2, 5, 10) if greatest <= 6 * times * unit)
    return [i * step for i in range(math.ceil(greatest / step) + 1)]


def bars(path, title, subtitle, described, panels, rows):
    """A bar per row (graph, F, a value per panel) with its value; panels stand side by side."""
    places, labels = [], []
    for i, (graph, width, _) in enumerate(rows):
        is_first = i == 0 or graph != rows[i - 1][0]
        places.append((places[-1] + (17 if is_first else 10.5)) if places else 8)
        labels.append(f"{graph}\u2003{width.rjust(3, FIGURE_SPACE)}" if is_first else width)
    height = places[-1] + 8
    figure = picture(HEAD + height + 40, title, subtitle)
    names = EDGE + LETTER * max(len(graph) for graph, _, _ in rows) + 30
    words(figure, names - 4, HEAD - 4, "graph\u2003F:k" if ":" in rows[0][1] else "graph\u2003F", ha="right")
    share = (WIDTH - names - EDGE) / len(panels)
    for i, panel in enumerate(panels):
        ax = axes(figure, names + i * share, HEAD, share - 36, height)
        values = [values[i] for _, _, values in rows]
        ticks = steps_to(max(1, panel.target or 1, *(value for value in values if value is not None)))
        ax.set(ylim=(height, 0), xlim=(0, ticks[-1]), xlabel=panel.axis)
        ax.set_xticks(ticks, [f"{tick:.{1 if ticks[1] < 1 else 0}f}" for tick in ticks])
        ax.set_yticks(places, labels if i == 0 else [""] * len(labels))
        ax.grid(axis="x")
        drawn = [(y, x, colour_of(row, x, panel)) for y, x, row in zip(places, values, rows) if x is not None]
        for colour in (RIG, SLOWER, MEAN):
            draw_bars(ax, [(y, x) for y, x, of in drawn if of == colour], colour)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.text(1, -4, panel.one, ha="right" if ticks[-1] < 8 else "left")
        if panel.target and panel.target != 1:
            ax.axvline(panel.target, color=TARGET, linewidth=0.8, linestyle="--")
            ax.text(panel.target, -4, f" {panel.target:.2f}: target of the mean", color=TARGET)
        for y, x, _ in drawn:
            ax.text(x + ticks[-1] * 4 / share, y, f"{x:.2f}", va="center", size=7)
    save(figure, path, title, described)


def colour_of(row, value, panel):
    """A geometric mean has no F; bars where the peer is faster stand out."""
    return MEAN if not row[1] else SLOWER if panel.one == "1: as fast" and value < 1 else RIG


def draw_bars(ax, bars, colour):
    """One path for all, because a path each would be four times as long."""
    boxes = [Path([(0, y - 4), (x, y - 4), (x, y + 4), (0, y + 4), (0, y - 4)], closed=True) for y, x in bars]
    if boxes:
        ax.add_patch(PathPatch(Path.make_compound_path(*boxes), facecolor=colour, linewidth=0))


def curves(path, title, subtitle, described, pictures, *, across, up, note, xticks, yticks, base=None,
           per_line=4):
    """Small pictures (name, points by curve, a level or nothing) on the same axes."""
    names = sorted({name for _, by_name, _ in pictures for name in by_name}, key=lambda name: (name != "rig", name))
    lines = math.ceil(len(pictures) / per_line)
    wide, high = (WIDTH - EDGE - 35) / per_line, 130
    figure = picture(HEAD + 12 + lines * high, title, subtitle)
    x = EDGE
    for name, colour in zip(names, COLOURS):
        words(figure, x, 52, name, color=colour, weight="bold")
        x += 1.15 * LETTER * len(name) + 12
    words(figure, x, 52, f"across: {across}; up: {up}; {note}")
    for i, (name, by_name, level) in enumerate(pictures):
        ax = axes(figure, EDGE + 20 + i % per_line * wide, HEAD + 12 + i // per_line * high, wide - 22, high - 35)
        if base:
            ax.set_xscale("log", base=base)
        ax.minorticks_off()
        ax.set(xlim=(xticks[0], xticks[-1]), ylim=(yticks[0], yticks[-1]))
        ax.set_xticks(xticks, [f"{tick:g}" if tick >= 1 or not base else f"1/{1 / tick:g}" for tick in xticks])
        ax.set_yticks(yticks, [f"{tick:g}" for tick in yticks] if i % per_line == 0 else [""] * len(yticks))
        ax.grid()
        ax.set_title(name, loc="left", size=7, weight="bold", pad=4)
        if level is not None:
            ax.axhline(level, color="black", linewidth=0.8)
        for curve, points in sorted(by_name.items()):
            ax.plot(*zip(*points), marker="o", color=COLOURS[names.index(curve)], clip_on=False)
            described += f"\n{name}, {curve}: " + ", ".join(f"{x:.2f} {y:.2f}" for x, y in points)
    save(figure, path, title, described)
