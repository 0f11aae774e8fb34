// The keyboard. `?` shows what there is.

const KEYS = [
  ["?", "these keys"],
  ["/", "filter; in a trial: search the conversation"],
  ["Esc", "leave a field; back to all trials"],
  ["← ↑ → ↓", "move in the matrix or the list"],
  ["Enter", "open the trial"],
  ["j  k", "next and previous trial, as filtered"],
  ["f", "next trial that did not pass"],
  ["v", "matrix or list"],
  ["1  2  3  4  5  6", "parts of a trial"],
  ["n  p", "next and previous place found"],
  ["e", "open or fold all calls"],
];

function drawHelp() {
  $("help").replaceChildren(
    h("h2", null, "Keys"),
    h(
      "dl",
      null,
      KEYS.map(([keys, what]) =>
        h(
          "div",
          null,
          h(
            "dt",
            null,
            keys.split(/ +/).map((key) => h("kbd", null, key)),
          ),
          h("dd", null, what),
        ),
      ),
    ),
    h("form", {method: "dialog"}, h("button", null, "close")),
  );
}

/** Move among the marks, or the lines of the list. */
function move(key) {
  if (state.view === "list") {
    const links = [...document.querySelectorAll("#list td.case a")];
    const at = links.indexOf(document.activeElement);
    const to =
      links[
        at < 0
          ? 0
          : Math.max(0, Math.min(links.length - 1, at + (key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0)))
      ];
    if (to) to.focus();
    return;
  }
  const rows = [...TABLE.querySelectorAll("tbody:not([hidden]) tr:not(.suite):not([hidden])")];
  const marks = (row) => [...row.querySelectorAll("a.mark:not([hidden])")].filter((mark) => !mark.closest("td").hidden);
  const now = document.activeElement;
  if (!(now instanceof HTMLElement) || !now.matches("a.mark") || !TABLE.contains(now)) {
    if (rows[0] && marks(rows[0])[0]) marks(rows[0])[0].focus();
    return;
  }
  const row = now.closest("tr"),
    cell = now.closest("td");
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const all = marks(row),
      to = all[all.indexOf(now) + (key === "ArrowRight" ? 1 : -1)];
    if (to) to.focus();
    return;
  }
  const nth = [...cell.children].indexOf(now);
  for (let at = rows.indexOf(row) + (key === "ArrowDown" ? 1 : -1); rows[at]; at += key === "ArrowDown" ? 1 : -1) {
    const there = [...rows[at].cells[cell.cellIndex].children].filter((mark) => !mark.hidden);
    const to = there[Math.min(nth, there.length - 1)] || marks(rows[at])[0];
    if (to) {
      to.focus();
      return;
    }
  }
}

function neighbour(by, wanted) {
  const list = shownTrials();
  const now = BY_PLACE.get(state.trial);
  let at = now ? list.indexOf(now) : by > 0 ? -1 : list.length;
  do {
    at += by;
  } while (list[at] && !wanted(list[at]));
  if (list[at]) go({...CLOSED, trial: list[at].place});
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const {key, target} = event;
  if (typing(target)) {
    if (key === "Escape") target.blur();
    return;
  }
  const inTrial = Boolean(state.trial);
  const done = () => event.preventDefault();
  if (key === "?") {
    $("help").showModal();
    done();
  } else if (key === "/") {
    const field = inTrial ? $("find") : $("q");
    if (field) {
      field.focus();
      field.select();
    }
    done();
  } else if (key === "Escape" && inTrial) {
    go({...CLOSED});
    done();
  } else if (key === "j" || key === "k") {
    neighbour(key === "j" ? 1 : -1, () => true);
    done();
  } else if (key === "f") {
    neighbour(1, (one) => one.status !== "pass");
    done();
  } else if (key === "v" && !inTrial) {
    go({view: state.view === "list" ? "matrix" : "list"}, true);
    done();
  } else if (!inTrial && key.startsWith("Arrow")) {
    move(key);
    done();
  } else if (inTrial && open && /^[1-6]$/.test(key) && open.parts[Number(key) - 1]) {
    went = "";
    go({part: open.parts[Number(key) - 1], line: 0, file: ""}, true);
    done();
  } else if (inTrial && open && open.search && (key === "n" || key === "p")) {
    open.search.step(key === "n" ? 1 : -1);
    done();
  } else if (inTrial && open && open.search && key === "e") {
    open.search.toggle();
    done();
  }
}
