// Lines that two texts share, and those that only one has: [["same" | "added" | "removed", line], ...].
// The longest common subsequence of what lies between equal beginnings and ends; a middle that is
// too large counts as replaced.
const MOST_CELLS = 4e6;

export function lineDiff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
  const same = (list) => list.map((line) => ["same", line]);
  return [...same(a.slice(0, start)), ...middle(x, y), ...same(a.slice(a.length - end))];
}

function middle(x, y) {
  if ((x.length + 1) * (y.length + 1) > MOST_CELLS) {
    return [...x.map((line) => ["removed", line]), ...y.map((line) => ["added", line])];
  }
  const width = y.length + 1;
  const length = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i -= 1) {
    for (let j = y.length - 1; j >= 0; j -= 1) {
      length[i * width + j] = x[i] === y[j] ? length[(i + 1) * width + j + 1] + 1 : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      lines.push(["same", x[i]]);
      i += 1;
      j += 1;
    } else if (j >= y.length || (i < x.length && length[(i + 1) * width + j] >= length[i * width + j + 1])) {
      lines.push(["removed", x[i]]);
      i += 1;
    } else {
      lines.push(["added", y[j]]);
      j += 1;
    }
  }
  return lines;
}
