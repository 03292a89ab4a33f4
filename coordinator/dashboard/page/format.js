// Numbers and words of the API in readable form. 64-bit numbers come as strings.
import { d3 } from "./d3.js";

export const num = (value) => Number(value || 0);

export function count(value) {
  return num(value).toLocaleString("en-US");
}

export function usd(nano) {
  const dollars = num(nano) / 1e9;
  return "$" + dollars.toFixed(dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2);
}

export function micros(us) {
  const value = num(us);
  if (!value) return "";
  if (value < 1000) return value.toPrecision(4) + " µs";
  return value < 1e6 ? (value / 1e3).toPrecision(4) + " ms" : (value / 1e6).toPrecision(4) + " s";
}

// The number in "1.5s", a protobuf duration.
export const seconds = (text) => (text ? parseFloat(text) : 0);

export function span(value) {
  const s = Math.round(value);
  if (s < 60) return value < 10 ? value.toFixed(1) + " s" : s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
  return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
}

export const times = (ratio) => (num(ratio) > 0 ? num(ratio).toFixed(2) + "x" : "");

export function word(name, prefix) {
  if (!name) return "";
  return (name.startsWith(prefix) ? name.slice(prefix.length) : name).toLowerCase().replaceAll("_", " ");
}

export const outcome = (name) => word(name, "OUTCOME_");
const formatted = (form) => (at) => (at ? form(new Date(at)) : "");
export const clock = formatted(d3.timeFormat("%H:%M:%S"));
export const date = formatted(d3.timeFormat("%Y-%m-%d %H:%M:%S"));
export const brief = (id) => (id || "").slice(0, 12);

// An address of this page; ids may hold any character.
export const link = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");
