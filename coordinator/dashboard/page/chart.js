// Charts: best so far, and the raw samples of a measurement.
import { d3 } from "./d3.js";

const WIDTH = 900, HEIGHT = 260, LEFT = 56, RIGHT = 24, TOP = 16, BOTTOM = 34;
const MOST_DOTS = 1500;  // more than a row of pixels would show nothing more

// An SVG with both axes. x, y: scales that map to pixels; `whole`: x counts something.
function chart(label, x, y, xLabel, yLabel, whole) {
  const svg = d3.create("svg").attr("class", "chart").attr("viewBox", `0 0 ${WIDTH} ${HEIGHT}`).attr("role", "img").attr("aria-label", label);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${HEIGHT - BOTTOM})`).call(d3.axisBottom(x).ticks(whole ? Math.min(8, x.domain()[1]) : 8));
  svg.append("g").attr("class", "axis grid").attr("transform", `translate(${LEFT},0)`).call(d3.axisLeft(y).ticks(5).tickSize(LEFT + RIGHT - WIDTH));
  svg.append("text").attr("x", WIDTH - RIGHT).attr("y", HEIGHT - 3).attr("text-anchor", "end").text(xLabel);
  svg.append("text").attr("x", 2).attr("y", 10).text(yLabel);
  return svg;
}

const scales = (xDomain, yDomain) => [d3.scaleLinear(xDomain, [LEFT, WIDTH - RIGHT]), d3.scaleLinear(yDomain, [HEIGHT - BOTTOM, TOP])];

// points: {passed, value, confirmed, [by]: number}; a failed one is a dot at the bottom.
export function bestSoFar(points, by, label) {
  const [x, y] = scales([0, d3.max(points, (point) => point[by]) || 1], [0, 1.05 * Math.max(1, d3.max(points, (point) => point.value))]);
  const svg = chart("Best so far", x, y, label, "speed-up over the baseline", by === "evaluations");
  const kind = (point) => (point.confirmed ? "confirmed" : point.passed ? "passed" : "failed");
  // Thins out points evenly, except for those that raise the best or are confirmed.
  const every = Math.ceil(points.length / MOST_DOTS), dots = [], steps = [];
  for (const [at, point] of points.entries()) {
    const better = point.passed && !point.confirmed && point.value > (steps.length ? steps[steps.length - 1].value : 0);
    if (better) steps.push(point);
    if (better || point.confirmed || at % every === 0) dots.push(point);
  }
  svg.append("g").selectAll("circle").data(dots).join("circle").attr("class", (point) => "dot " + kind(point)).attr("r", (point) => (point.confirmed ? 4 : 3))
    .attr("cx", (point) => x(point[by])).attr("cy", (point) => y(point.passed ? point.value : 0))
    .append("title").text((point) => `${kind(point)} ${point.value ? point.value.toFixed(3) + "x " : ""}${point.id.slice(0, 12)}`);
  if (steps.length) {
    const end = { [by]: x.domain()[1], value: steps[steps.length - 1].value };
    svg.append("path").attr("class", "line")
      .attr("d", d3.line().x((step) => x(step[by])).y((step) => y(step.value)).curve(d3.curveStepAfter)([...steps, end]));
  }
  return svg.node();
}

// What the marks of bestSoFar mean.
export function legend() {
  const entry = (mark, text) => {
    const svg = d3.create("svg").attr("class", "mark").attr("viewBox", "0 0 16 10").attr("aria-hidden", "true");
    mark(svg);
    const whole = document.createElement("span");
    whole.className = "quiet";
    whole.append(svg.node(), " " + text);
    return whole;
  };
  const dot = (kind, radius) => (svg) => svg.append("circle").attr("class", "dot " + kind).attr("cx", 8).attr("cy", 5).attr("r", radius);
  return [
    entry((svg) => svg.append("path").attr("class", "line").attr("d", "M0,5H16"), "best screening so far"),
    entry(dot("confirmed", 4), "confirmed"), entry(dot("passed", 3), "screened"), entry(dot("failed", 3), "failed"),
  ];
}

// One measurement: every timed call in order, their median and its interval.
export function samplePlot(samples) {
  const all = samples.latency_us || [];
  const sorted = [...all].sort(d3.ascending);
  const least = d3.min([sorted[0], samples.ci_low_us]), most = d3.max([d3.quantile(sorted, 0.995), samples.ci_high_us]);
  const [x, y] = scales([0, all.length], [0.98 * least, 1.02 * most]);
  const svg = chart("Samples", x, y, "call", "µs", true);
  if (samples.ci_high_us) {
    svg.append("rect").attr("class", "band").attr("x", LEFT).attr("width", WIDTH - LEFT - RIGHT)
      .attr("y", y(samples.ci_high_us)).attr("height", Math.max(1, y(samples.ci_low_us) - y(samples.ci_high_us)));
  }
  const every = Math.ceil(all.length / MOST_DOTS);
  const shown = d3.range(0, all.length, every).filter((call) => all[call] <= y.domain()[1]);
  svg.append("g").selectAll("circle").data(shown).join("circle").attr("class", "dot").attr("r", 1.5).attr("cx", x).attr("cy", (call) => y(all[call]));
  if (samples.median_us) {
    svg.append("line").attr("class", "line").attr("x1", LEFT).attr("x2", WIDTH - RIGHT).attr("y1", y(samples.median_us)).attr("y2", y(samples.median_us));
  }
  return svg.node();
}
