"""Charts as SVG inside the page, drawn by pygal and coloured by our stylesheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

WIDTH, HEIGHT = 560, 220
_MAX_LABELS = 8
"""Days that are named below a chart; between them there is no room on a phone."""
_FEW = 5
"""Counts up to this number have a line each."""
_SVG = "http://www.w3.org/2000/svg"
_DROPPED = frozenset({"style", "script", "desc"})
"""Elements that the console's policy would refuse (styles and scripts in the page), or that its own table replaces."""
_DROPPED_ATTRIBUTES = frozenset({"style", "id"})


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing and the same as a table. `cells` are the words of each value, row by row; None is nothing to draw."""

    title: str
    svg: Markup | None
    heads: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    @property
    def key(self) -> str:
        """Return an id for the page."""
        return self.title.lower().replace(",", "").replace(" ", "-")


def bars(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> Markup | None:
    """Draw values as stacked columns; None if all are zero."""
    import pygal

    return _drawn(pygal.StackedBar, title, labels, series)


def lines(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> Markup | None:
    """Draw values as lines; None leaves a gap. A single day, of which no line can be drawn, has columns."""
    import pygal

    days = {day for values in series.values() for day, value in enumerate(values) if value is not None}
    return _drawn(pygal.Line if len(days) > 1 else pygal.Bar, title, labels, series)


def _drawn(kind: Any, title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> Markup | None:
    if not any(value for values in series.values() for value in values):
        return None
    every = max(1, -(-len(labels) // _MAX_LABELS))
    chart = kind(
        width=WIDTH,
        height=HEIGHT,
        js=[],
        css=[],
        no_prefix=True,
        disable_xml_declaration=True,
        show_legend=False,
        show_minor_x_labels=False,
        x_labels_major_every=every,
        max_scale=5,
        min_scale=2,
        margin=4,
        dots_size=3,
        include_x_axis=True,
        truncate_label=-1,
        no_data_text="",
    )
    chart.x_labels = list(labels)
    highest = max(sum(value or 0 for value in day) for day in zip(*series.values(), strict=True))
    if isinstance(highest, int) and highest <= _FEW:
        chart.y_labels = list(range(highest + 1))  # there is no half of a message
    for name, values in series.items():
        chart.add(name, list(values))
    return _for_page(chart.render(is_unicode=True), title)


def _for_page(svg: str, title: str) -> Markup:
    """Return a drawing as an element of our page. Everything in it is escaped, as pygal writes it as XML."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own drawing, a moment old
    _clean(root)
    for name in root.findall("title"):
        root.remove(name)
    root.set("class", "chart")
    root.set("role", "img")
    root.set("aria-label", f"{title}; the table below has the numbers")
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704


def _clean(node: ElementTree.Element) -> None:
    node.tag = node.tag.removeprefix(f"{{{_SVG}}}")
    for name in _DROPPED_ATTRIBUTES & node.attrib.keys():
        del node.attrib[name]
    for child in list(node):
        if child.tag.removeprefix(f"{{{_SVG}}}") in _DROPPED:
            node.remove(child)
        else:
            _clean(child)
