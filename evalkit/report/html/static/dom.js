// Elements from texts. Nothing here, or anywhere in this script, makes markup of a text: what an agent wrote is put
// into text nodes, and what could mislead the eye (control characters, what turns the direction of writing) is shown.

const CONTROL = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
    "\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]",
  "gu",
);

const NAMES = (
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC " +
  "FS GS RS US"
).split(" ");

/** What a control character is shown as. */
function named(char) {
  const code = char.codePointAt(0);
  if (code < 32) return NAMES[code];
  if (code === 127) return "DEL";
  return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

/** Append a text to an element, control characters made visible. */
function putPlain(parent, text) {
  if (text.search(CONTROL) < 0) {
    parent.append(text);
    return;
  }
  let at = 0;
  for (const found of text.matchAll(CONTROL)) {
    if (found.index > at) parent.append(text.slice(at, found.index));
    const shown = document.createElement("span");
    shown.className = "ctl";
    shown.title = "U+" + found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    shown.textContent = named(found[0]);
    parent.append(shown);
    at = found.index + found[0].length;
  }
  if (at < text.length) parent.append(at ? text.slice(at) : text);
}

/** Append a text; what `find` (a global regular expression, or null) matches is marked. */
function put(parent, text, find) {
  if (!find) return putPlain(parent, text);
  let at = 0;
  for (const found of text.matchAll(find)) {
    if (found.index > at) putPlain(parent, text.slice(at, found.index));
    const mark = document.createElement("mark");
    putPlain(mark, found[0]);
    parent.append(mark);
    at = found.index + found[0].length;
  }
  if (at < text.length) putPlain(parent, text.slice(at));
}

/** An element: h("a", {class: "x", href: "#"}, "text", other). Handlers are functions: {onclick: f}. */
function h(tag, given, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(2)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (child instanceof Node) made.append(child);
    else putPlain(made, String(child));
  }
  return made;
}

/** The parts of a name, of a file for instance: in it a line feed and a tab are no layout, and shown too. */
const nameParts = (text) =>
  String(text)
    .split(/([\t\n])/)
    .map((part) =>
      part === "\n" || part === "\t"
        ? h("span", {class: "ctl", title: part === "\n" ? "U+000A" : "U+0009"}, part === "\n" ? "LF" : "HT")
        : part,
    );

const $ = (id) => document.getElementById(id);

const number = (value) => value.toLocaleString("en-US");

function dollars(value) {
  if (value === null || value === undefined) return "";
  return "$" + (value && value < 0.01 ? value.toFixed(4) : value.toFixed(2));
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 10) return Math.round(seconds * 100) / 100 + " s";
  if (seconds < 120) return Math.round(seconds) + " s";
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return minutes + " min " + Math.round(seconds % 60) + " s";
  return Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
}

function tokens(count) {
  if (count === null || count === undefined) return "";
  if (count < 10000) return number(count);
  if (count < 1e6) return Math.round(count / 1000) + "k";
  return (count / 1e6).toFixed(2) + "M";
}

const bytes = (count) =>
  count < 1e4
    ? number(count) + " bytes"
    : count < 1e6
      ? Math.round(count / 1e3) + " kB"
      : (count / 1e6).toFixed(1) + " MB";

const MARKS = {pass: "✓", fail: "✕", contaminated: "◐", error: "!", "not run": "·", skipped: "s"};

/** A status as its mark. */
function markOf(status, more) {
  return h(
    "i",
    {class: "mark " + status.replace(" ", "-") + (more ? " " + more : ""), title: status, "aria-label": status},
    MARKS[status] || "?",
  );
}

/** Whether the person types into a field. */
const typing = (target) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
