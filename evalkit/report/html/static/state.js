// What is shown stands in the address, after `#`: so a link leads there, and going back undoes a step.

const INDEX = JSON.parse($("index").textContent);
const TRIALS = INDEX.trials;
TRIALS.forEach((one, at) => {
  one.number = at;
  one.subject = [one.agent, one.model, one.played && "played from " + one.played].filter(Boolean).join(" ");
  one.unit = one.case + (one.track && "@" + one.track) + (one.arm && "+" + one.arm);
  one.text = [one.suite, one.unit, one.subject, one.tier, one.reason].join("\n").toLowerCase();
});
const BY_PLACE = new Map(TRIALS.map((one) => [one.place, one]));

/** The address -> what is to be shown. Lists are parted by commas. */
function readState(hash = location.hash) {
  const given = new URLSearchParams(hash.slice(1));
  const list = (name) => (given.get(name) || "").split(",").filter(Boolean);
  return {
    q: given.get("q") || "",
    status: list("status"),
    suite: list("suite"),
    arm: list("arm"),
    tier: list("tier"),
    failed: given.get("failed") || "",
    view: given.get("view") === "list" ? "list" : "matrix",
    sort: given.get("sort") || "",
    trial: given.get("trial") || "",
    find: given.get("find") || "",
    line: Number(given.get("line")) || 0,
    part: given.get("part") || "",
    file: given.get("file") || "",
  };
}

let state = readState();

function hashOf(of) {
  const given = new URLSearchParams();
  for (const name of [
    "q",
    "status",
    "suite",
    "arm",
    "tier",
    "failed",
    "view",
    "sort",
    "trial",
    "part",
    "file",
    "find",
    "line",
  ]) {
    const value = Array.isArray(of[name]) ? of[name].join(",") : String(of[name] || "");
    if (value && !(name === "view" && value === "matrix")) given.set(name, value);
  }
  return "#" + given.toString();
}

const CLOSED = {trial: "", find: "", line: 0, part: "", file: ""};

/** Another state. `keep`: it is no step that one goes back from. */
function go(changes, keep) {
  state = {...state, ...changes};
  const hash = hashOf(state);
  if (hash !== (location.hash || "#")) {
    if (keep) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
  show();
}

/** The address of a trial, with the filters as they are. */
const linkTo = (one) => hashOf({...state, ...CLOSED, trial: one.place});

/** Whether a trial is among those that the filters leave. */
function fits(one) {
  const {q, status, suite, arm, tier, failed} = state;
  if (status.length && !status.includes(one.status)) return false;
  if (suite.length && !suite.includes(one.suite)) return false;
  if (arm.length && !arm.includes(one.arm)) return false;
  if (tier.length && !tier.includes(one.tier)) return false;
  if (failed && !one.checks.some(([id, came]) => id === failed && came === "fail")) return false;
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => one.text.includes(word));
}

/** The trials that the filters leave, in the order in which they stand. */
const shownTrials = () => (state.view === "list" ? sorted(IN_ORDER.filter(fits)) : IN_ORDER.filter(fits));
