// Builds elements. Text only ever becomes text nodes: what models, compilers and candidates say is
// never read as HTML.
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function show(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// rows: arrays of cells; a cell is text, a node, or {text, number, title}.
export function table(heads, rows) {
  const cell = (tag, value) => {
    if (value !== null && typeof value === "object" && !(value instanceof Node) && !Array.isArray(value)) {
      return el(tag, { class: value.number ? "number" : null, title: value.title }, value.text);
    }
    return el(tag, null, value);
  };
  return el("table", null,
    el("thead", null, el("tr", null, heads.map((head) => cell("th", head)))),
    el("tbody", null, rows.map((row) => row instanceof Node ? row : el("tr", null, row.map((value) => cell("td", value))))));
}

export function card(label, value, attributes) {
  return el("div", { class: "card", ...attributes }, el("span", { class: "quiet" }, label), el("b", null, value));
}
