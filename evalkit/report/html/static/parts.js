// Parts of a trial's page: its numbers, its times, its screenshots, the sum of its conversation.

function section(id, label, count, ...parts) {
  return {
    id,
    label,
    count,
    element: h(
      "section",
      {id: "part-" + id},
      h("h2", null, label, count ? h("span", {class: "dim"}, " " + count) : ""),
      ...parts,
    ),
  };
}

const plural = (count, word) => number(count) + " " + word + (count === 1 ? "" : "s");

/** Words of the trial's numbers, those that are known. */
function drawFacts(one, data) {
  const usage = (data && data.usage) || {};
  const facts = [
    ["subject", one.subject],
    ["suite", one.suite],
    ["lane", data && data.lane],
    ["time", one.ended ? duration(one.seconds) : ""],
    ["turns", one.turns],
    ["tokens", tokens(one.tokens)],
    ["cost", dollars(one.cost), usage.cost_source],
    ["judge", one.judge === null ? "" : one.judge.toFixed(1) + " of 10"],
    ["ended", data ? [...new Set([data.ending.status, data.ending.detail])].filter(Boolean).join(": ") : ""],
  ];
  return h(
    "dl",
    {class: "facts"},
    facts
      .filter((fact) => fact[1] !== "" && fact[1] !== null && fact[1] !== undefined)
      .map(([name, value, title]) => h("div", {title: title || null}, h("dt", null, name), h("dd", null, value))),
  );
}

function drawTimes(spans) {
  const end = Math.max(0.001, ...spans.map((span) => span.start + span.seconds));
  const rows = spans.map((span) => {
    const bar = h("i", {class: "of-" + span.what});
    bar.style.left = (100 * span.start) / end + "%";
    bar.style.width = (100 * span.seconds) / end + "%";
    return h(
      "div",
      {class: "span"},
      h("span", {class: "name"}, span.name),
      h("span", {class: "lane"}, bar),
      h("span", {class: "n"}, duration(span.seconds)),
    );
  });
  return [
    h("div", {class: "waterfall"}, rows),
    h(
      "p",
      {class: "dim small"},
      "Each bar begins where it could begin at the earliest: checks and judges once the agent has ended. " +
        "They may have waited for a place.",
    ),
  ];
}

function drawPictures(pictures) {
  return h(
    "div",
    {class: "pictures"},
    pictures.map((one) =>
      h(
        "figure",
        null,
        one.data
          ? h(
              "a",
              {
                href: "#",
                onclick: (event) => {
                  event.preventDefault();
                  event.currentTarget.parentElement.classList.toggle("large");
                },
              },
              h("img", {
                src: "data:image/png;base64," + one.data,
                alt: "what the browser showed in the check " + one.check,
              }),
            )
          : "",
        h("figcaption", null, one.check, one.note ? h("span", {class: "dim"}, " " + one.note) : ""),
      ),
    ),
  );
}

function talkSum(talk) {
  const calls = Object.entries(talk.calls || {});
  const told = [
    calls.length
      ? plural(
          calls.reduce((sum, one) => sum + one[1], 0),
          "call",
        ) +
        " (" +
        calls
          .sort((a, b) => b[1] - a[1])
          .map(([tool, count]) => count + " " + tool)
          .join(", ") +
        ")"
      : "",
    talk.replies ? (talk.replies === 1 ? "1 reply" : number(talk.replies) + " replies") : "",
    ...Object.entries(talk.results || {})
      .filter((one) => one[0] !== "ok")
      .map(([status, count]) => count + " " + (status === "missing" ? "without a result" : status)),
    talk.gaps ? plural(talk.gaps, "gap") : "",
    talk.state ? "in the end: " + talk.state : "",
    talk.bytes ? bytes(talk.bytes) : "",
  ];
  return told.filter(Boolean).join(" · ");
}
