// Charts drawn as SVG by hand: best so far, and the raw samples of a measurement.
import { svg } from "./dom.js";

const WIDTH = 900, HEIGHT = 260, LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 30;

// Round numbers from `least` to `most`.
function ticks(least, most, wanted) {
  if (!(most > least)) return [least];
  const raw = (most - least) / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const list = [];
  for (let value = Math.ceil(least / step) * step; value <= most; value += step) list.push(value);
  return list;
}

function frame(xMost, yLeast, yMost, xLabel, yLabel) {
  const x = (value) => LEFT + (WIDTH - LEFT - RIGHT) * (xMost > 0 ? value / xMost : 0);
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((value - yLeast) / (yMost - yLeast || 1));
  const parts = [];
  for (const tick of ticks(0, xMost, 8)) {
    parts.push(svg("text", { x: x(tick), y: HEIGHT - BOTTOM + 14, "text-anchor": "middle" }, +tick.toPrecision(4)));
  }
  for (const tick of ticks(yLeast, yMost, 5)) {
    parts.push(svg("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick) }));
    parts.push(svg("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, +tick.toPrecision(4)));
  }
  parts.push(svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, xLabel));
  parts.push(svg("text", { x: 2, y: TOP + 2, "dominant-baseline": "hanging" }, yLabel));
  return { x, y, parts };
}

const chart = (label, parts) => svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, parts);

// points: {passed, value, confirmed, [by]: number}; a failed one is a dot at the bottom.
export function bestSoFar(points, by, label) {
  const xMost = Math.max(1e-9, ...points.map((point) => point[by]));
  const yMost = Math.max(1, ...points.map((point) => point.value)) * 1.05;
  const { x, y, parts } = frame(xMost, 0, yMost, label, "speed-up over the baseline");
  let best = 0, path = "";
  // Thinned out evenly, but for those that count.
  const every = Math.max(1, Math.ceil(points.length / 1500));
  for (const [at, point] of points.entries()) {
    const kind = point.confirmed ? "confirmed" : point.passed ? "passed" : "failed";
    const counts = point.confirmed || (point.passed && point.value > best);
    if (counts || at % every === 0) parts.push(svg("circle", { class: "dot " + kind, cx: x(point[by]), cy: y(point.passed ? point.value : 0), r: point.confirmed ? 4 : 3 },
      svg("title", null, `${kind} ${point.value ? point.value.toFixed(3) + "x " : ""}${point.id.slice(0, 12)}`)));
    if (point.confirmed || !point.passed) continue;
    if (point.value > best) {
      path += path ? `H${x(point[by])}V${y(point.value)}` : `M${x(point[by])},${y(point.value)}`;
      best = point.value;
    }
  }
  if (path) parts.push(svg("path", { class: "line", d: path + `H${x(xMost)}` }));
  return chart("Best so far", parts);
}

// One measurement: every timed call in its order, its median and the interval of that.
export function samplePlot(samples) {
  const all = samples.latency_us || [];
  // Thinned out evenly: more dots than pixels tell nothing.
  const every = Math.max(1, Math.ceil(all.length / 1500));
  const sorted = [...all].sort((a, b) => a - b);
  const least = Math.min(sorted[0], samples.ci_low_us || sorted[0]);
  const most = Math.max(sorted[Math.floor(0.995 * (sorted.length - 1))], samples.ci_high_us || 0);
  const { x, y, parts } = frame(all.length, least * 0.98, most * 1.02, "call", "µs");
  if (samples.ci_high_us) {
    parts.push(svg("rect", { class: "band", x: LEFT, width: WIDTH - LEFT - RIGHT, y: y(samples.ci_high_us), height: Math.max(1, y(samples.ci_low_us) - y(samples.ci_high_us)) }));
  }
  for (let i = 0; i < all.length; i += every) {
    if (all[i] <= most * 1.02) parts.push(svg("circle", { class: "dot", cx: x(i), cy: y(all[i]), r: 1.5 }));
  }
  if (samples.median_us) {
    parts.push(svg("line", { class: "line", x1: LEFT, x2: WIDTH - RIGHT, y1: y(samples.median_us), y2: y(samples.median_us) }));
  }
  return chart("Samples", parts);
}
