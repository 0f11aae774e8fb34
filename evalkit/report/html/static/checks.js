// What a trial's checks came to, with evidence; what its audit found; what came of grading it again.

/** Set the width of the bar within a meter, in percent. */
function sized(meter, percent) {
  meter.firstElementChild.style.width = Math.max(0, Math.min(100, percent)) + "%";
  return meter;
}

/** A text in which `line 12` leads to that line of the transcript. */
function withLines(text) {
  return text
    .split(/(\bline \d{1,7}\b)/)
    .map((part, at) =>
      at % 2
        ? h("a", {href: hashOf({...state, part: "conversation", file: "", line: Number(part.slice(5))})}, part)
        : part,
    );
}

function drawCheck(check) {
  const told = [];
  const lines = check.kind === "transcript" || check.kind === "calls";
  if (check.evidence) told.push(h("pre", {class: "evidence"}, lines ? withLines(check.evidence) : check.evidence));
  const failedFirst = [...(check.tests || [])].sort(
    (a, b) => Number(a.status === "passed") - Number(b.status === "passed"),
  );
  if (failedFirst.length) {
    told.push(
      h(
        "ul",
        {class: "tests"},
        failedFirst.map((test) =>
          h(
            "li",
            null,
            markOf({passed: "pass", failed: "fail", skipped: "skipped"}[test.status] || test.status, "small"),
            " ",
            test.name,
            test.message ? h("pre", null, test.message) : "",
          ),
        ),
      ),
    );
  }
  if ((check.measures || []).length) {
    told.push(
      h(
        "table",
        {class: "measures"},
        check.measures.map((one) =>
          h(
            "tr",
            null,
            h("td", null, one.name),
            h("td", {class: "n"}, one.value.toFixed(2)),
            h("td", null, sized(h("span", {class: "meter"}, h("i")), one.value * 100)),
          ),
        ),
      ),
    );
  }
  if (check.votes.length > 1 || check.votes.some((vote) => vote.error)) {
    told.push(
      h(
        "table",
        {class: "votes"},
        h("caption", null, "votes"),
        check.votes.map((vote) =>
          h(
            "tr",
            null,
            h("td", null, vote.model),
            h("td", {class: "n"}, vote.number),
            h("td", null, vote.error ? h("span", {class: "came error"}, vote.error) : vote.scores.join("  ")),
          ),
        ),
      ),
    );
  }
  if (check.judged) {
    const cost = dollars(check.judged.cost);
    told.push(
      h(
        "p",
        {class: "dim"},
        "judged by " +
          check.judged.model +
          (cost ? ", " + cost : "") +
          (check.judged.retries ? ", asked again " + plural(check.judged.retries, "time") : ""),
      ),
    );
    for (const note of check.judged.notes) told.push(h("p", {class: "dim"}, note));
  }
  told.push(
    h("p", {class: "dim small"}, check.kind + " · " + duration(check.seconds) + " · key " + check.key.slice(0, 12)),
  );
  const labels = [check.advisory && "advisory", check.must_fail && "must fail here"].filter(Boolean);
  const head = h(
    "summary",
    null,
    markOf(check.status),
    h("span", {class: "id"}, check.id),
    h("span", {class: "said"}, check.description || ""),
    labels.map((label) => h("span", {class: "tag"}, label)),
    check.score === null || check.score === undefined ? "" : h("span", {class: "score"}, check.score.toFixed(1)),
    h("span", {class: "why"}, check.summary),
  );
  const amiss = check.status === "fail" || check.status === "error";
  return h(
    "details",
    {class: "check " + check.status, open: amiss || check.kind === "judge"},
    head,
    h("div", {class: "inside"}, told),
  );
}

function drawAudit(audit) {
  if (!audit) return "";
  const findings = [...audit.findings, ...audit.tries];
  const told = findings.map((one) =>
    h(
      "li",
      null,
      one.outcome + " " + one.what + ": ",
      h("code", null, nameParts(one.path)),
      " by " + one.tool + ", ",
      h("a", {href: hashOf({...state, part: "conversation", line: one.line})}, "line " + one.line),
      one.evidence ? h("pre", null, one.evidence) : "",
    ),
  );
  if (audit.more) told.push(h("li", null, "and " + audit.more + " more"));
  if (!told.length && !audit.note && !audit.gaps) return "";
  return h(
    "div",
    {class: audit.contaminated ? "audit bad" : "audit"},
    h("h3", null, audit.contaminated ? "It saw what it must not see" : "What the audit noted"),
    audit.note ? h("p", null, audit.note) : "",
    audit.gaps ? h("p", null, plural(audit.gaps, "place") + " of the transcript cannot be read") : "",
    told.length ? h("ul", null, told) : "",
  );
}

/** What came of grading the trial again, by the checks as they stood then. */
function drawRegraded(one) {
  if (!one) return "";
  const word = (status) => (status ? (MARKS[status] ? [markOf(status, "small"), " ", status] : status) : "not there");
  return h(
    "div",
    {class: "audit"},
    h("h3", null, "Graded again: ", word(one.status)),
    h("p", null, one.reason),
    one.changes.length
      ? h(
          "table",
          {class: "votes"},
          one.changes.map(([check, old, now, summary]) =>
            h(
              "tr",
              null,
              h("td", null, check),
              h("td", null, word(old)),
              h("td", null, "→"),
              h("td", null, word(now)),
              h("td", {class: "dim"}, summary),
            ),
          ),
        )
      : h("p", {class: "dim"}, "Every check came to the same."),
    one.notes.map((note) => h("p", {class: "dim"}, note)),
  );
}
