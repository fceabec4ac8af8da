// Signs drawn here: not every machine has a glyph for each.

const NAMESPACE = "http://www.w3.org/2000/svg";
const PATHS = {
  sent: "M3 8.5 6.5 12 13 4.5",
  done: "M1 8.5 4.5 12 10.5 4.5M7.5 11 8.5 12 15 4.5",
  waiting: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8M8 4.5V8l2.4 1.6",
  cross: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  alert: "M8 2.5v7M8 12.8v.4",
  eyes: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  thumb: "M2.5 7.5h2.3v6H2.5zM4.8 8l2.6-5.2c1.2 0 1.7.8 1.5 1.8L8.5 6.8h3.6c.9 0 1.5.8 1.3 1.7l-.9 3.7c-.2.8-.8 1.3-1.6 1.3H4.8",
  thumb_down: "M13.5 8.5h-2.3v-6h2.3zM11.2 8l-2.6 5.2c-1.2 0-1.7-.8-1.5-1.8l.4-2.2H3.9c-.9 0-1.5-.8-1.3-1.7l.9-3.7c.2-.8.8-1.3 1.6-1.3h6.1",
  heart: "M8 13.5L2.9 8.4a3.1 3.1 0 0 1 4.4-4.4l.7.7.7-.7a3.1 3.1 0 0 1 4.4 4.4z",
  smile: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM5.8 6.4h.01M10.2 6.4h.01M5.2 9.3c1.2 2 4.4 2 5.6 0",
  sad: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM5.8 6.4h.01M10.2 6.4h.01M5.4 11c1.2-1.8 4-1.8 5.2 0",
  star: "M8 1.9l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.7l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
  tick: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM5.2 8.2l2 2 3.6-4.2",
  mic: "M8 1.8a2.1 2.1 0 0 1 2.1 2.1v3.2a2.1 2.1 0 0 1-4.2 0V3.9A2.1 2.1 0 0 1 8 1.8zM3.6 7a4.4 4.4 0 0 0 8.8 0M8 11.5v2.7",
  stop: "M4.5 4.5h7v7h-7z",
  sticker: "M8 14A6 6 0 1 1 14 8c0 .6-6 6-6 6zM5.8 6.5h.01M10.2 6.5h.01M5.5 9.2c1 1.5 4 1.5 5 0",
  people: "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.2a2.4 2.4 0 0 1 0 4.6M12 10.3c1.6.5 2.5 1.8 2.5 3.7",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  up: "M8 13.5v-11M3.5 7 8 2.5 12.5 7",
  down: "M8 2.5v11M3.5 9 8 13.5 12.5 9",
  back: "M13.5 8h-11M7 3.5 2.5 8 7 12.5",
  plus: "M8 2.5v11M2.5 8h11",
  out: "M4 12 12 4M5.5 4H12v6.5",
  into: "M2 8h11M9 4l4 4-4 4",
  from: "M14 8H3M7 4 3 8l4 4",
  bars: "M2 13v-2.5M6 13V8.5M10 13V6M14 13V3",
  pause: "M5 3v10M11 3v10",
  play: "M4.5 2.8 12.5 8l-8 5.2z",
  record: "M8 3.5a4.5 4.5 0 1 0 0 9A4.5 4.5 0 1 0 8 3.5",
  bolt: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  spark: "M8 1.5 9.6 6.4 14.5 8 9.6 9.6 8 14.5 6.4 9.6 1.5 8 6.4 6.4z",
};

// Give a sign; `label` is what a screen reader says, and without one it says nothing.
export function icon(name, label = "") {
  const svg = document.createElementNS(NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NAMESPACE, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
