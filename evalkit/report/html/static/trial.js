// A trial's page. Its data is a script of its own beside the page, loaded when the trial is opened.

const POLICY = window.trustedTypes
  ? window.trustedTypes.createPolicy("evalkit", {createScriptURL: (url) => url})
  : {createScriptURL: (url) => url};
const WAITING = new Map();
const LOADED = new Map();
const KEPT = 12;
let open = null;

/** What the script of a trial calls. */
Object.defineProperty(window, "evalkit", {value: (data) => {
  const done = WAITING.get(data.place);
  if (done) done(data);
}});

/** The data of a trial. The last few stay in memory. */
function load(one) {
  if (LOADED.has(one.place)) return Promise.resolve(LOADED.get(one.place));
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const path = one.place.split("/").map(encodeURIComponent).join("/");
    WAITING.set(one.place, (data) => {
      LOADED.set(one.place, data);
      for (const old of LOADED.keys()) if (LOADED.size > KEPT) LOADED.delete(old);
      resolve(data);
    });
    script.onload = () => { script.remove(); WAITING.delete(one.place); reject(new Error("the file holds another trial")); };
    script.onerror = () => { script.remove(); WAITING.delete(one.place); reject(new Error("there is no such file")); };
    script.src = POLICY.createScriptURL(INDEX.data + "/" + path + ".js");
    document.head.append(script);
  });
}

function section(id, label, count, ...parts) {
  return {id, label, count, element: h("section", {id: "part-" + id}, h("h2", null, label, count ? h("span", {class: "dim"}, " " + count) : ""), ...parts)};
}

const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");

/** Words of the trial's numbers, those that are known. */
function drawFacts(one, data) {
  const usage = (data && data.usage) || {};
  const facts = [
    ["subject", one.subject], ["suite", one.suite], ["lane", data && data.lane],
    ["time", one.ended ? duration(one.seconds) : ""], ["turns", one.turns], ["tokens", tokens(one.tokens)],
    ["cost", dollars(one.cost), usage.cost_source], ["judge", one.judge === null ? "" : one.judge.toFixed(1) + " of 10"],
    ["ended", data ? data.ending.status + (data.ending.detail ? ": " + data.ending.detail : "") : ""],
  ];
  return h("dl", {class: "facts"}, facts.filter((fact) => fact[1] !== "" && fact[1] !== null && fact[1] !== undefined)
    .map(([name, value, title]) => h("div", {title: title || null}, h("dt", null, name), h("dd", null, value))));
}

/** A text in which `line 12` leads to that line of the transcript. */
function withLines(text) {
  return text.split(/(\bline \d{1,7}\b)/).map((part, at) => at % 2
    ? h("a", {href: hashOf({...state, part: "conversation", file: "", line: Number(part.slice(5))})}, part) : part);
}

function drawCheck(check) {
  const told = [];
  const lines = check.kind === "transcript" || check.kind === "calls";
  if (check.evidence) told.push(h("pre", {class: "evidence"}, lines ? withLines(check.evidence) : check.evidence));
  const failedFirst = [...(check.tests || [])].sort((a, b) => Number(a.status === "passed") - Number(b.status === "passed"));
  if (failedFirst.length) {
    told.push(h("ul", {class: "tests"}, failedFirst.map((test) => h("li", null, markOf({passed: "pass", failed: "fail", skipped: "skipped"}[test.status] || test.status, "small"),
      " ", test.name, test.message ? h("pre", null, test.message) : ""))));
  }
  if ((check.measures || []).length) {
    told.push(h("table", {class: "measures"}, check.measures.map((one) => h("tr", null, h("td", null, one.name), h("td", {class: "n"}, one.value.toFixed(2)),
      h("td", null, sized(h("span", {class: "meter"}, h("i")), one.value * 100))))));
  }
  if (check.votes.length > 1 || check.votes.some((vote) => vote.error)) {
    told.push(h("table", {class: "votes"}, h("caption", null, "votes"), check.votes.map((vote) => h("tr", null, h("td", null, vote.model), h("td", {class: "n"}, vote.number),
      h("td", null, vote.error ? h("span", {class: "came error"}, vote.error) : vote.scores.join("  "))))));
  }
  if (check.judged) {
    const cost = dollars(check.judged.cost);
    told.push(h("p", {class: "dim"}, "judged by " + check.judged.model + (cost ? ", " + cost : "") + (check.judged.retries ? ", asked again " + plural(check.judged.retries, "time") : "")));
    for (const note of check.judged.notes) told.push(h("p", {class: "dim"}, note));
  }
  told.push(h("p", {class: "dim small"}, check.kind + " · " + duration(check.seconds) + " · key " + check.key.slice(0, 12)));
  const labels = [check.advisory && "advisory", check.must_fail && "must fail here"].filter(Boolean);
  const head = h("summary", null, markOf(check.status), h("span", {class: "id"}, check.id), h("span", {class: "said"}, check.description || ""),
    labels.map((label) => h("span", {class: "tag"}, label)), check.score === null || check.score === undefined ? "" : h("span", {class: "score"}, check.score.toFixed(1)),
    h("span", {class: "why"}, check.summary));
  const amiss = check.status === "fail" || check.status === "error";
  return h("details", {class: "check " + check.status, open: amiss || check.kind === "judge"}, head, h("div", {class: "inside"}, told));
}

function drawAudit(audit) {
  if (!audit) return "";
  const findings = [...audit.findings, ...audit.tries];
  const told = findings.map((one) => h("li", null, one.outcome + " " + one.what + ": ", h("code", null, one.path), " by " + one.tool + ", ",
    h("a", {href: hashOf({...state, part: "conversation", line: one.line})}, "line " + one.line), one.evidence ? h("pre", null, one.evidence) : ""));
  if (audit.more) told.push(h("li", null, "and " + audit.more + " more"));
  if (!told.length && !audit.note && !audit.gaps) return "";
  return h("div", {class: audit.contaminated ? "audit bad" : "audit"}, h("h3", null, audit.contaminated ? "It saw what it must not see" : "What the audit noted"),
    audit.note ? h("p", null, audit.note) : "", audit.gaps ? h("p", null, plural(audit.gaps, "place") + " of the transcript cannot be read") : "",
    told.length ? h("ul", null, told) : "");
}

/** What came of grading the trial again, by the checks as they stood then. */
function drawRegraded(one) {
  if (!one) return "";
  const word = (status) => status ? (MARKS[status] ? [markOf(status, "small"), " ", status] : status) : "not there";
  return h("div", {class: "audit"}, h("h3", null, "Graded again: ", word(one.status)), h("p", null, one.reason),
    one.changes.length ? h("table", {class: "votes"}, one.changes.map(([check, old, now, summary]) => h("tr", null,
      h("td", null, check), h("td", null, word(old)), h("td", null, "→"), h("td", null, word(now)), h("td", {class: "dim"}, summary))))
      : h("p", {class: "dim"}, "Every check came to the same."),
    one.notes.map((note) => h("p", {class: "dim"}, note)));
}

/** Set the width of the bar within a meter, in percent. */
function sized(meter, percent) {
  meter.firstElementChild.style.width = Math.max(0, Math.min(100, percent)) + "%";
  return meter;
}

function drawTimes(spans) {
  const end = Math.max(0.001, ...spans.map((span) => span.start + span.seconds));
  const rows = spans.map((span) => {
    const bar = h("i", {class: "of-" + span.what});
    bar.style.left = (100 * span.start / end) + "%";
    bar.style.width = (100 * span.seconds / end) + "%";
    return h("div", {class: "span"}, h("span", {class: "name"}, span.name), h("span", {class: "lane"}, bar), h("span", {class: "n"}, duration(span.seconds)));
  });
  return [h("div", {class: "waterfall"}, rows),
    h("p", {class: "dim small"}, "Each bar begins where it could begin at the earliest: checks and judges once the agent has ended. They may have waited for a place.")];
}

function drawPictures(pictures) {
  return h("div", {class: "pictures"}, pictures.map((one) => h("figure", null,
    one.data ? h("a", {href: "#", onclick: (event) => { event.preventDefault(); event.currentTarget.parentElement.classList.toggle("large"); }},
      h("img", {src: "data:image/png;base64," + one.data, alt: "what the browser showed in the check " + one.check})) : "",
    h("figcaption", null, one.check, one.note ? h("span", {class: "dim"}, " " + one.note) : ""))));
}

function talkSum(talk) {
  const calls = Object.entries(talk.calls || {});
  const told = [calls.length ? plural(calls.reduce((sum, one) => sum + one[1], 0), "call") + " (" + calls.sort((a, b) => b[1] - a[1]).map(([tool, count]) => count + " " + tool).join(", ") + ")" : "",
    talk.replies ? (talk.replies === 1 ? "1 reply" : number(talk.replies) + " replies") : "",
    ...Object.entries(talk.results || {}).filter((one) => one[0] !== "ok").map(([status, count]) => count + " " + (status === "missing" ? "without a result" : status)),
    talk.gaps ? plural(talk.gaps, "gap") : "", talk.state ? "in the end: " + talk.state : "", talk.bytes ? bytes(talk.bytes) : ""];
  return told.filter(Boolean).join(" · ");
}

/** The heads of a trial's page: where it stands among others. */
function drawHead(one, data) {
  const list = shownTrials();
  const at = list.indexOf(one);
  const cell = TRIALS.filter((other) => other.unit === one.unit && other.subject === one.subject && other.suite === one.suite);
  const reason = one.reason.startsWith(one.status + ": ") ? one.reason.slice(one.status.length + 2) : one.reason;
  const near = (by) => at >= 0 && list[at + by];
  return h("div", {class: "head"},
    h("nav", {class: "crumbs"}, h("a", {href: hashOf({...state, ...CLOSED}), class: "back", title: "back (Esc)"}, "← all trials"),
      h("span", {class: "spacer"}),
      near(-1) ? h("a", {href: linkTo(near(-1)), title: "previous (k)"}, "‹ previous") : "", near(1) ? h("a", {href: linkTo(near(1)), title: "next (j)"}, "next ›") : ""),
    h("h1", null, markOf(one.status, "large"), h("span", null, one.case, one.track ? h("span", {class: "track"}, "@" + one.track) : "", one.arm ? h("span", {class: "arm"}, one.arm) : "")),
    cell.length > 1 ? h("nav", {class: "siblings", "aria-label": "trials of this case by this subject"}, cell.map((other) => h("a", {
      href: linkTo(other), class: "mark " + other.status.replace(" ", "-"), title: "trial " + other.trial + ": " + other.status, "aria-current": other === one ? "page" : null}, other.trial))) : "",
    h("p", {class: "reason " + one.status.replace(" ", "-")}, h("b", null, one.status), reason && reason !== one.status ? [" · ", data && reason.includes(" of the transcript") ? withLines(reason) : reason] : ""),
    drawFacts(one, data));
}

function drawTrial(one, data) {
  const page = $("trial");
  const parts = [];
  const checks = data.checks;
  const passed = checks.filter((check) => check.status === "pass").length;
  const notes = [data.note, ...data.ending.notes, ...data.left_out.map((line) => "left out of the final tree: " + line),
    data.failed ? plural(data.failed, "attempt") + " before this one that the provider failed" : ""].filter(Boolean);
  parts.push(section("checks", "Checks", passed + "/" + checks.length, drawAudit(data.audit), drawRegraded(data.regraded), checks.map(drawCheck),
    notes.length ? h("ul", {class: "notes"}, notes.map((note) => h("li", null, note))) : ""));
  parts.push(section("changes", "Changes", data.changes.files.length ? String(data.changes.files.length + (data.changes.more || 0)) : "", drawChanges(data.changes)));
  if (data.pictures.length) parts.push(section("screenshots", "Screenshots", String(data.pictures.length), drawPictures(data.pictures)));
  const talk = data.talk.events.length ? new Talk(data.talk) : null;
  const search = talk && new Search(talk);
  parts.push(section("conversation", "Conversation", "", talk ? [h("p", {class: "dim"}, talkSum(data.talk)), search.element, talk.element]
    : h("p", {class: "note"}, data.talk.note || "Its transcript tells nothing of what it did.")));
  parts.push(section("timing", "Timing", "", drawTimes(data.spans)));
  parts.push(section("details", "Keys and versions", "", h("table", {class: "pairs"}, data.facts.map(([name, value]) => h("tr", null, h("th", {scope: "row"}, name), h("td", null, h("code", null, value))))),
    h("p", {class: "dim"}, "Everything of this trial is in ", h("code", null, "results/" + data.run + "/" + data.place))));
  const links = parts.map((part, at) => h("a", {href: hashOf({...state, ...CLOSED, trial: one.place, part: part.id}), "data-part": part.id, title: "(" + (at + 1) + ")"}, part.label, part.count ? h("span", {class: "dim"}, " " + part.count) : ""));
  page.replaceChildren(drawHead(one, data), h("nav", {class: "parts", "aria-label": "parts"}, links), ...parts.map((part) => part.element));
  open = {place: one.place, talk, search, parts: parts.map((part) => part.id)};
}

/** A trial that has no result, or whose data is not there. */
function drawWithout(one, why) {
  $("trial").replaceChildren(drawHead(one, null), h("p", {class: "note"}, why));
  open = {place: one.place, talk: null, search: null, parts: []};
}

/** Show the trial that the state names, and the part of it. */
async function showTrial() {
  const one = BY_PLACE.get(state.trial);
  if (!one) {
    $("trial").replaceChildren(h("p", {class: "note"}, "There is no trial " + state.trial + " in this run. "), h("a", {href: hashOf({...state, ...CLOSED})}, "← all trials"));
    open = null;
    return;
  }
  if (!open || open.place !== one.place) {
    if (!one.ended) {
      drawWithout(one, "It has no result: nothing was graded.");
    } else {
      try {
        const data = await load(one);
        if (state.trial !== one.place) return;
        drawTrial(one, data);
      } catch (error) {
        if (state.trial !== one.place) return;
        drawWithout(one, "Its data cannot be loaded (" + INDEX.data + "/" + one.place + ".js: " + error.message + "). The folder " + INDEX.data + " belongs beside this file.");
      }
    }
    window.scrollTo(0, 0);
  }
  document.title = one.case + " · " + INDEX.run + " · evalkit";
  showPart();
}

let went = "";

/** Go to the part, the file, or the line of the transcript that the state names, once. */
function showPart() {
  const key = [state.trial, state.part, state.file, state.line].join("\n");
  if (open.search && state.find !== open.search.needle) open.search.look(state.find);
  if (key === went) return;
  went = key;
  for (const link of document.querySelectorAll("nav.parts a")) link.setAttribute("aria-current", String(link.dataset.part === state.part));
  if (state.line && open.talk) open.talk.goTo(state.line);
  else if (state.file) followFile(state.file);
  else if (state.part && $("part-" + state.part)) $("part-" + state.part).scrollIntoView({block: "start"});
}
