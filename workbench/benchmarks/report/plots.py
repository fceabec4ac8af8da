"""Plots as SVG: lines over a logarithmic axis. Thirty lines a file; a plotting library would write a thousand."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from workbench.benchmarks.report.results import ROOT

FOLDER = ROOT / "docs" / "performance"
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 300, 64, 150, 34, 46
_COLOURS = ("#0969da", "#57606a", "#bc4c00", "#8250df", "#1a7f37", "#cf222e")
_HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    ' font-family="sans-serif" font-size="11" fill="#24292f">'
)


def draw(results: Mapping[str, Any]) -> None:
    """Draw every plot, and remove those of which nothing is known any more."""
    FOLDER.mkdir(exist_ok=True)
    plots = [plot for run in results["benchmarks"].values() for plot in run["plots"]]
    drawn = [FOLDER / f"{plot['name']}.svg" for plot in plots]
    for path, plot in zip(drawn, plots, strict=True):
        path.write_text("\n".join(svg(plot)) + "\n", encoding="utf-8")
    for stale in set(FOLDER.glob("*.svg")) - set(drawn):
        stale.unlink()


def svg(plot: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a picture."""
    lines: Mapping[str, Sequence[Sequence[float]]] = plot["lines"]
    xs = sorted({x for points in lines.values() for x, _ in points})
    ticks = _ticks(max(y for points in lines.values() for _, y in points))
    low, span = math.log(xs[0]), math.log(xs[-1] / xs[0]) or 1.0
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def across(x: float) -> float:
        return round(_LEFT + (math.log(x) - low) / span * (right - _LEFT), 1)

    def up(y: float) -> float:
        return round(bottom - y / ticks[-1] * (bottom - _TOP), 1)

    yield _HEAD
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    yield f'<text x="{_LEFT}" y="18" font-size="13" font-weight="bold">{escape(plot["title"])}</text>'
    yield f'<text x="{_LEFT - 8}" y="{_TOP - 6}" text-anchor="end">{escape(plot["y"])}</text>'
    yield f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(plot["x"])}</text>'
    for tick in ticks:
        yield f'<path d="M{_LEFT} {up(tick)}H{right}" stroke="#d0d7de"/>'
        yield f'<text x="{_LEFT - 8}" y="{up(tick) + 4}" text-anchor="end">{tick:,.10g}</text>'
    for x in xs:
        yield f'<text x="{across(x)}" y="{bottom + 16}" text-anchor="middle">{x:,.10g}</text>'
    for number, (name, points) in enumerate(lines.items()):
        colour, at = _COLOURS[number % len(_COLOURS)], _TOP + 6 + 16 * number
        path = "L".join(f"{across(x)} {up(y)}" for x, y in points)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
        yield f'<path d="M{right + 12} {at}h16" stroke="{colour}" stroke-width="2"/>'
        yield f'<text x="{right + 34}" y="{at + 4}">{escape(name)}</text>'
    yield "</svg>"


def _ticks(most: float) -> list[float]:
    """Return round numbers from zero to at least `most`: four or five steps."""
    power = 10.0 ** math.floor(math.log10(most / 4)) if most > 0 else 1.0
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * 5 >= most)
    return [step * number for number in range(math.ceil(most / step) + 1)]
