// The matrix stands in the page already; filters hide rows, columns and marks of it.

const LINKS = [...document.querySelectorAll("a.mark")];
/** The trials in the order in which they stand in the matrix. */
const IN_ORDER = LINKS.map((link) => TRIALS[Number(link.dataset.n)]);
const TABLE = document.querySelector("table.matrix");
const COLUMNS = [...TABLE.tHead.rows[0].cells];

function filterMatrix(kept) {
  const used = new Set();
  for (const body of TABLE.tBodies) {
    let any = false,
      head = null;
    for (const row of body.rows) {
      if (row.className === "suite") {
        head = row;
        continue;
      }
      let some = false;
      for (let at = 1; at < row.cells.length; at++) {
        for (const link of row.cells[at].children) {
          const stays = kept.has(Number(link.dataset.n));
          if (link.hidden === stays) link.hidden = !stays;
          if (stays) {
            some = true;
            used.add(at);
          }
        }
      }
      row.hidden = !some;
      any = any || some;
    }
    if (head) head.hidden = !any;
    body.hidden = !any;
  }
  COLUMNS.forEach((cell, at) => {
    if (at) hideColumn(at, !used.has(at));
  });
}

const HIDDEN_COLUMNS = new Set();

function hideColumn(at, hide) {
  if (hide === HIDDEN_COLUMNS.has(at)) return;
  if (hide) HIDDEN_COLUMNS.add(at);
  else HIDDEN_COLUMNS.delete(at);
  COLUMNS[at].hidden = hide;
  for (const body of TABLE.tBodies) {
    for (const row of body.rows) if (row.className !== "suite") row.cells[at].hidden = hide;
  }
}

/** The chips of the filters: a status each, and what else there are several of. */
function drawChips() {
  const several = (name) => {
    const found = [...new Set(TRIALS.map((one) => one[name]))].filter(Boolean);
    return found.length > 1 ? found : [];
  };
  const chip = (name, value, ...label) =>
    h(
      "button",
      {
        type: "button",
        class: "chip",
        "data-filter": name,
        "data-value": value,
        "aria-pressed": "false",
        onclick: () => {
          const now = state[name].includes(value)
            ? state[name].filter((other) => other !== value)
            : [...state[name], value];
          go({[name]: now}, true);
        },
      },
      ...label,
    );
  const statuses = Object.keys(MARKS).filter((status) => TRIALS.some((one) => one.status === status));
  const groups = [
    statuses.length > 1 ? statuses.map((status) => chip("status", status, markOf(status, "small"), status)) : [],
    ...["suite", "arm", "tier"].map((name) =>
      several(name)
        .slice(0, 12)
        .map((value) => chip(name, value, value)),
    ),
  ];
  const failed = new Map();
  for (const one of TRIALS)
    for (const [id, came] of one.checks) if (came === "fail") failed.set(id, (failed.get(id) || 0) + 1);
  const pick = h(
    "select",
    {
      id: "failed",
      "aria-label": "trials that fail a check",
      onchange: (event) => go({failed: event.target.value}, true),
    },
    h("option", {value: ""}, "any check"),
    [...failed]
      .sort((a, b) => b[1] - a[1])
      .map(([id, count]) => h("option", {value: id}, "fails " + id + " (" + count + ")")),
  );
  $("chips").append(
    ...groups.filter((group) => group.length).map((group) => h("span", {class: "group"}, group)),
    ...(failed.size ? [pick] : []),
  );
}

function drawFilters(count) {
  if (document.activeElement !== $("q")) $("q").value = state.q;
  for (const chip of document.querySelectorAll(".chip")) {
    chip.setAttribute("aria-pressed", String(state[chip.dataset.filter].includes(chip.dataset.value)));
  }
  if ($("failed")) $("failed").value = state.failed;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
  }
  $("shown").textContent = count === TRIALS.length ? "" : number(count) + " of " + number(TRIALS.length);
  $("nothing").hidden = count > 0;
}

/** Where the matrix is no wider than the page, its head stays in sight below the filters: a box that scrolls sideways
 * would keep it. */
function fitMatrix() {
  const box = $("matrix");
  box.classList.toggle("fits", TABLE.scrollWidth <= box.clientWidth);
  document.documentElement.style.setProperty(
    "--filters",
    (getComputedStyle($("filters")).position === "sticky" ? $("filters").offsetHeight : 0) + "px",
  );
}
