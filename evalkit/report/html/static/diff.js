// Differences: lines that begin with a blank, `-`, `+` or `@`, coloured, with the numbers of both files.

/** `numbers`: the difference is of files, so its lines have numbers. */
function drawDiff(text, numbers, find) {
  const body = h("tbody");
  let old = 0,
    now = 0;
  for (const line of text.split("\n")) {
    const kind = line[0] || " ";
    if (kind === "@") {
      const at = /^@@ -(\d+),\d+ \+(\d+),/.exec(line);
      if (at) {
        old = Number(at[1]);
        now = Number(at[2]);
      }
      if (numbers && (old > 1 || now > 1)) body.append(h("tr", {class: "hunk"}, h("td", {colspan: 4}, "⋯")));
      continue;
    }
    const cell = h("td", {class: "code"});
    put(cell, line.slice(1), find);
    body.append(
      h(
        "tr",
        {class: kind === "+" ? "plus" : kind === "-" ? "minus" : null},
        numbers && h("td", {class: "no"}, kind === "+" ? "" : old),
        numbers && h("td", {class: "no"}, kind === "-" ? "" : now),
        h("td", {class: "sign", "aria-hidden": "true"}, kind === " " ? "" : kind === "-" ? "−" : "+"),
        cell,
      ),
    );
    if (kind !== "+") old++;
    if (kind !== "-") now++;
  }
  return h("div", {class: "scroll"}, h("table", {class: "diff"}, body));
}

/** How many lines came and went. */
function drawStat(added, removed) {
  return h(
    "span",
    {class: "stat"},
    added ? h("span", {class: "plus"}, "+" + number(added)) : "",
    added && removed ? " " : "",
    removed ? h("span", {class: "minus"}, "−" + number(removed)) : "",
  );
}

const WHAT = {added: "A", changed: "M", removed: "D"};

/** The files that an agent changed, each folded. */
function drawChanges(changes) {
  const files = changes.files;
  const told = [];
  if (changes.note) told.push(h("p", {class: "note"}, changes.note));
  else if (!files.length)
    told.push(h("p", {class: "note"}, "It changed nothing: the final tree is the workspace that it began with."));
  const large = files.reduce((sum, file) => sum + file.added + file.removed, 0) > 400 || files.length > 6;
  const parts = files.map((file) => {
    const fold = h(
      "details",
      {class: "file", "data-path": file.path},
      h(
        "summary",
        null,
        h("span", {class: "what " + file.what, title: file.what}, WHAT[file.what]),
        h("span", {class: "path"}, nameParts(file.path)),
        drawStat(file.added, file.removed),
        file.note && h("span", {class: "dim"}, file.note),
      ),
    );
    fold.addEventListener("toggle", () => {
      if (!fold.open || fold.dataset.drawn) return;
      fold.dataset.drawn = "1";
      fold.append(file.diff ? drawDiff(file.diff, true) : h("p", {class: "note"}, file.note || "nothing but its mode"));
    });
    if (!large) fold.open = true;
    return fold;
  });
  if (files.length > 1) {
    told.push(
      h(
        "nav",
        {class: "files", "aria-label": "files"},
        files.map((file) =>
          h(
            "a",
            {
              href: hashOf({...state, part: "changes", file: file.path}),
              "data-path": file.path,
            },
            h("span", {class: "what " + file.what}, WHAT[file.what]),
            h("span", {class: "path"}, nameParts(file.path)),
            drawStat(file.added, file.removed),
          ),
        ),
      ),
    );
  }
  const rest = [
    changes.equal ? number(changes.equal) + " files are as they were" : "",
    changes.more ? number(changes.more) + " more files changed" : "",
  ].filter(Boolean);
  return [told, parts, rest.length ? h("p", {class: "dim"}, rest.join("; ")) : ""];
}

/** Open a file's difference and go there. */
function followFile(path) {
  const fold = [...document.querySelectorAll("#trial details.file")].find((one) => one.dataset.path === path);
  if (!fold) return;
  fold.open = true;
  fold.dispatchEvent(new Event("toggle"));
  fold.scrollIntoView({block: "start"});
}
