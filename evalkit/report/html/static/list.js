// The trials as a list, a line each, in any order.

const FIELDS = [
  ["status", "status", (one) => Object.keys(MARKS).indexOf(one.status)],
  ["case", "case", (one) => one.unit],
  ["subject", "subject", (one) => one.subject],
  ["trial", "trial", (one) => one.trial],
  ["checks", "checks", (one) => one.checks.filter((check) => check[1] === "pass").length / (one.checks.length || 1)],
  ["judge", "judge", (one) => one.judge],
  ["turns", "turns", (one) => one.turns],
  ["tokens", "tokens", (one) => one.tokens],
  ["cost", "cost", (one) => one.cost],
  ["seconds", "time", (one) => one.seconds],
];

/** By the field that `sort` names; `-` before it turns the order. What is not known comes last. */
function sorted(trials) {
  const name = state.sort.replace(/^-/, "");
  const field = FIELDS.find((one) => one[0] === name);
  if (!field) return trials;
  const turn = state.sort.startsWith("-") ? -1 : 1;
  const lacks = (value) => value === null || value === undefined;
  return [...trials].sort((a, b) => {
    const x = field[2](a),
      y = field[2](b);
    if (lacks(x) || lacks(y)) return Number(lacks(x)) - Number(lacks(y));
    return turn * (typeof x === "string" ? x.localeCompare(y) : x - y);
  });
}

function drawList(trials) {
  const head = h(
    "tr",
    null,
    FIELDS.map(([name, label]) => {
      const by = state.sort.replace(/^-/, "") === name;
      const down = state.sort.startsWith("-");
      return h(
        "th",
        {scope: "col", class: name, "aria-sort": by ? (down ? "descending" : "ascending") : null},
        h(
          "button",
          {type: "button", onclick: () => go({sort: by ? (down ? "" : "-" + name) : name}, true)},
          label,
          by ? (down ? " ↓" : " ↑") : "",
        ),
      );
    }),
  );
  const row = (one) =>
    h(
      "tr",
      {"data-n": one.number},
      h("td", {class: "status"}, markOf(one.status)),
      h("td", {class: "case"}, h("a", {href: linkTo(one), title: one.reason}, one.unit)),
      h("td", {class: "subject", title: one.subject}, one.subject),
      h("td", {class: "n"}, one.trial),
      h(
        "td",
        {class: "checks"},
        one.checks.length > 24
          ? one.checks.filter((check) => check[1] === "pass").length + "/" + one.checks.length
          : one.checks.map(([id, came]) => h("i", {class: "dot " + came, title: id + ": " + came})),
      ),
      h("td", {class: "n"}, one.judge === null ? "" : one.judge.toFixed(1)),
      h("td", {class: "n"}, one.turns === null ? "" : one.turns),
      h("td", {class: "n"}, tokens(one.tokens)),
      h("td", {class: "n"}, dollars(one.cost)),
      h("td", {class: "n"}, one.ended ? duration(one.seconds) : ""),
    );
  const body = h("tbody");
  let at = 0;
  moreLines = () => {
    body.append(...trials.slice(at, at + LINES).map(row));
    at += LINES;
    if (at >= trials.length) moreLines = null;
    return moreLines;
  };
  const mine = moreLines;
  const goOn = () => {
    if (moreLines === mine && moreLines()) setTimeout(goOn, 30);
  };
  goOn();
  $("list").replaceChildren(h("table", {class: "list"}, h("thead", null, head), body));
}

/** Lines that are drawn at once: more than a screen has. The others follow while the first ones are read. */
const LINES = 120;
let moreLines = null;

/** Draw the lines that are still missing, for who needs all of them now. */
function allLines() {
  while (moreLines) moreLines();
}
