// A trial's page. Its data is a script of its own beside the page, loaded when the trial is opened.

const POLICY = window.trustedTypes
  ? window.trustedTypes.createPolicy("evalkit", {createScriptURL: (url) => url})
  : {createScriptURL: (url) => url};
const WAITING = new Map();
const LOADED = new Map();
const KEPT = 12;
let open = null;

/** What the script of a trial calls. */
Object.defineProperty(window, "evalkit", {
  value: (data) => {
    const done = WAITING.get(data.place);
    if (done) done(data);
  },
});

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
    script.onload = () => {
      script.remove();
      WAITING.delete(one.place);
      reject(new Error("the file holds another trial"));
    };
    script.onerror = () => {
      script.remove();
      WAITING.delete(one.place);
      reject(new Error("there is no such file"));
    };
    script.src = POLICY.createScriptURL(INDEX.data + "/" + path + ".js");
    document.head.append(script);
  });
}

/** The heads of a trial's page: where it stands among others. */
function drawHead(one, data) {
  const list = shownTrials();
  const at = list.indexOf(one);
  const cell = TRIALS.filter(
    (other) => other.unit === one.unit && other.subject === one.subject && other.suite === one.suite,
  );
  const reason = one.reason.startsWith(one.status + ": ") ? one.reason.slice(one.status.length + 2) : one.reason;
  const near = (by) => at >= 0 && list[at + by];
  return h(
    "div",
    {class: "head"},
    h(
      "nav",
      {class: "crumbs"},
      h("a", {href: hashOf({...state, ...CLOSED}), class: "back", title: "back (Esc)"}, "← all trials"),
      h("span", {class: "spacer"}),
      near(-1) ? h("a", {href: linkTo(near(-1)), title: "previous (k)"}, "‹ previous") : "",
      near(1) ? h("a", {href: linkTo(near(1)), title: "next (j)"}, "next ›") : "",
    ),
    h(
      "h1",
      null,
      markOf(one.status, "large"),
      h(
        "span",
        null,
        one.case,
        one.track ? h("span", {class: "track"}, "@" + one.track) : "",
        one.arm ? h("span", {class: "arm"}, one.arm) : "",
      ),
    ),
    cell.length > 1
      ? h(
          "nav",
          {class: "siblings", "aria-label": "trials of this case by this subject"},
          cell.map((other) =>
            h(
              "a",
              {
                href: linkTo(other),
                class: "mark " + other.status.replace(" ", "-"),
                title: "trial " + other.trial + ": " + other.status,
                "aria-current": other === one ? "page" : null,
              },
              other.trial,
            ),
          ),
        )
      : "",
    h(
      "p",
      {class: "reason " + one.status.replace(" ", "-")},
      h("b", null, one.status),
      reason && reason !== one.status
        ? [" · ", data && reason.includes(" of the transcript") ? withLines(reason) : reason]
        : "",
    ),
    drawFacts(one, data),
  );
}

function drawTrial(one, data) {
  const page = $("trial");
  const parts = [];
  const checks = data.checks;
  const passed = checks.filter((check) => check.status === "pass").length;
  const notes = [
    data.note,
    ...data.ending.notes,
    ...data.left_out.map((line) => "left out of the final tree: " + line),
    data.failed ? plural(data.failed, "attempt") + " before this one that the provider failed" : "",
  ].filter(Boolean);
  parts.push(
    section(
      "checks",
      "Checks",
      passed + "/" + checks.length,
      drawAudit(data.audit),
      drawRegraded(data.regraded),
      checks.map(drawCheck),
      notes.length
        ? h(
            "ul",
            {class: "notes"},
            notes.map((note) => h("li", null, note)),
          )
        : "",
    ),
  );
  parts.push(
    section(
      "changes",
      "Changes",
      data.changes.files.length ? String(data.changes.files.length + (data.changes.more || 0)) : "",
      drawChanges(data.changes),
    ),
  );
  if (data.pictures.length)
    parts.push(section("screenshots", "Screenshots", String(data.pictures.length), drawPictures(data.pictures)));
  const talk = data.talk.events.length ? new Talk(data.talk) : null;
  const search = talk && new Search(talk);
  parts.push(
    section(
      "conversation",
      "Conversation",
      "",
      talk
        ? [h("p", {class: "dim"}, talkSum(data.talk)), search.element, talk.element]
        : h("p", {class: "note"}, data.talk.note || "Its transcript tells nothing of what it did."),
    ),
  );
  parts.push(section("timing", "Timing", "", drawTimes(data.spans)));
  parts.push(
    section(
      "details",
      "Keys and versions",
      "",
      h(
        "table",
        {class: "pairs"},
        data.facts.map(([name, value]) =>
          h("tr", null, h("th", {scope: "row"}, name), h("td", null, h("code", null, value))),
        ),
      ),
      h(
        "p",
        {class: "dim"},
        "Everything of this trial is in ",
        h("code", null, "results/" + data.run + "/" + data.place),
      ),
    ),
  );
  const links = parts.map((part, at) =>
    h(
      "a",
      {
        href: hashOf({...state, ...CLOSED, trial: one.place, part: part.id}),
        "data-part": part.id,
        title: "(" + (at + 1) + ")",
      },
      part.label,
      part.count ? h("span", {class: "dim"}, " " + part.count) : "",
    ),
  );
  page.replaceChildren(
    drawHead(one, data),
    h("nav", {class: "parts", "aria-label": "parts"}, links),
    ...parts.map((part) => part.element),
  );
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
    $("trial").replaceChildren(
      h("p", {class: "note"}, "There is no trial " + state.trial + " in this run. "),
      h("a", {href: hashOf({...state, ...CLOSED})}, "← all trials"),
    );
    open = null;
    return;
  }
  if (!open || open.place !== one.place) {
    if (!one.ended) {
      drawWithout(
        one,
        "It has no result: nothing was graded." +
          (one.status === "error"
            ? " What its attempts printed is in results/" + INDEX.run + "/" + one.place + "/failed, if they printed any."
            : ""),
      );
    } else {
      try {
        const data = await load(one);
        if (state.trial !== one.place) return;
        drawTrial(one, data);
      } catch (error) {
        if (state.trial !== one.place) return;
        drawWithout(
          one,
          "Its data cannot be loaded (" +
            INDEX.data +
            "/" +
            one.place +
            ".js: " +
            error.message +
            "). The folder " +
            INDEX.data +
            " belongs beside this file.",
        );
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
  for (const link of document.querySelectorAll("nav.parts a"))
    link.setAttribute("aria-current", String(link.dataset.part === state.part));
  if (state.line && open.talk) open.talk.goTo(state.line);
  else if (state.file) followFile(state.file);
  else if (state.part && $("part-" + state.part)) $("part-" + state.part).scrollIntoView({block: "start"});
}
