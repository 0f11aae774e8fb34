// A transcript as a conversation. What a call was given and what came of it is folded, and drawn when it is opened.

const TOOLS = {
  read: "read",
  write: "write",
  edit: "edit",
  shell: "shell",
  search: "search",
  mcp: "mcp",
  web: "web",
  task: "task",
  other: "tool",
};
const ROLES = {prompt: "prompt", assistant: "agent", thinking: "thinks", user: "user", system: "system"};

/** A text with its code blocks (between lines of three backticks) and `code` as such; nothing else of Markdown. */
function drawProse(parent, text, find) {
  const fence = /^ {0,3}(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)(?:\n {0,3}\1[ \t]*(?=\n|$)|$(?![\s\S]))/gm;
  let at = 0;
  const plain = (part) => {
    const trimmed = part.replace(/^\n+|\n+$/g, "");
    if (!trimmed) return;
    const block = h("div", {class: "prose"});
    let from = 0;
    for (const found of trimmed.matchAll(/`([^`\n]+)`/g)) {
      put(block, trimmed.slice(from, found.index), find);
      const code = h("code");
      put(code, found[1], find);
      block.append(code);
      from = found.index + found[0].length;
    }
    put(block, trimmed.slice(from), find);
    parent.append(block);
  };
  for (const found of text.matchAll(fence)) {
    plain(text.slice(at, found.index));
    const block = h("pre");
    put(block, found[2], find);
    parent.append(block);
    at = found.index + found[0].length;
  }
  plain(text.slice(at));
}

/** One event, in the conversation. Its `paint(find)` draws it anew with what `find` matches marked. */
class Block {
  constructor(event) {
    this.event = event;
    this.element = event.k === "call" ? this.makeCall() : event.k === "text" ? this.makeText() : this.makeNote();
    this.element.id = "line-" + event.line + (event.k === "call" ? "-" + event.key : "");
    this.find = null;
  }

  /** All texts that a search looks through. */
  get texts() {
    const one = this.event;
    if (one.k !== "call") return [one.text];
    return [
      one.about,
      ...(one.inputs || []).map((pair) => pair[0] + "\n" + pair[1]),
      ...(one.diffs || []),
      one.result || "",
    ];
  }

  frame(kind, ...parts) {
    return h(
      "div",
      {class: "event " + kind + (this.event.sub ? " sub" : "")},
      h(
        "a",
        {
          class: "line",
          href: hashOf({...state, part: "conversation", line: this.event.line}),
          title: "line " + this.event.line + " of transcript.jsonl",
        },
        this.event.line || "",
      ),
      h("div", {class: "body"}, ...parts),
    );
  }

  makeText() {
    const {role, sub, text} = this.event;
    this.body = h("div", {class: "text"});
    const folded =
      role === "thinking" || role === "system" || ((role === "user" || role === "prompt") && text.length > 4000);
    const label = h("span", {class: "role"}, ROLES[role] || role, sub ? " of a sub-agent" : "");
    if (!folded) {
      this.paint(null);
      return this.frame("message " + role, label, this.body);
    }
    const first = text.split("\n", 1)[0].slice(0, 160);
    this.fold = h(
      "details",
      {ontoggle: () => this.drawOnce()},
      h("summary", null, label, h("span", {class: "first"}, first)),
      this.body,
    );
    return this.frame("message " + role, this.fold);
  }

  makeNote() {
    this.body = h("span", {class: "text"});
    this.paint(null);
    return this.frame(
      "remark " + this.event.what.replace(" ", "-"),
      h("span", {class: "role"}, this.event.what),
      this.body,
    );
  }

  makeCall() {
    const one = this.event;
    const status =
      one.status === "ok"
        ? ""
        : h(
            "span",
            {class: "came " + one.status},
            (one.status === "missing" ? "no result" : one.status) +
              (one.status === "error" && !one.ran ? ", not carried out" : ""),
          );
    const own = ["other", "mcp", "web", "task", "search"].includes(one.tool) ? one.name : TOOLS[one.tool] || one.tool;
    this.hits = h("span", {class: "hits"});
    this.about = h("span", {class: "about"}, one.about);
    this.body = h("div", {class: "inside"});
    this.fold = h(
      "details",
      {ontoggle: () => this.drawOnce()},
      h(
        "summary",
        null,
        h("span", {class: "tool " + one.tool, title: one.name}, own),
        this.about,
        one.diffs ? drawStat(one.added, one.removed) : "",
        status,
        this.hits,
      ),
      this.body,
    );
    return this.frame("call", this.fold);
  }

  drawOnce() {
    if (this.fold && this.fold.open && !this.drawn) this.paint(this.find);
  }

  paint(find) {
    this.find = find;
    if (this.event.k === "call") {
      this.about.replaceChildren();
      put(this.about, this.event.about, find);
    }
    if (this.fold && !this.fold.open) {
      this.drawn = false;
      this.body.replaceChildren();
      return;
    }
    this.drawn = true;
    this.body.replaceChildren();
    if (this.event.k === "call") this.drawInside(find);
    else if (this.event.k === "text") drawProse(this.body, this.event.text, find);
    else put(this.body, this.event.text, find);
  }

  drawInside(find) {
    const one = this.event;
    const part = (label, text) => {
      const block = h("pre");
      put(block, text, find);
      this.body.append(h("div", {class: "part"}, h("span", {class: "label"}, label), block));
    };
    for (const [name, text] of one.inputs || []) part(name, text);
    for (const text of one.diffs || []) this.body.append(h("div", {class: "part"}, drawDiff(text, false, find)));
    if (one.status === "missing") this.body.append(h("p", {class: "note"}, "The transcript ends before its result."));
    else if (one.result) part(one.status === "ok" ? "result" : one.status, one.result);
    else this.body.append(h("p", {class: "note"}, "It returned nothing."));
  }

  /** Open it, so that all its texts are drawn. */
  open() {
    if (this.fold && !this.fold.open) {
      this.fold.open = true;
      this.paint(this.find);
    }
  }
}

class Talk {
  constructor(talk) {
    this.events = talk.events;
    this.events.forEach((event, at) => {
      event.key = at;
    });
    this.blocks = this.events.map((event) => new Block(event));
    this.element = h(
      "div",
      {class: "talk"},
      this.blocks.map((block) => block.element),
    );
  }

  foldAll(open) {
    for (const block of this.blocks) {
      if (block.event.k === "call" && block.fold.open !== open) {
        block.fold.open = open;
        block.paint(block.find);
      }
    }
  }

  /** Go to a line of the transcript: its event, or the one before it. */
  goTo(line) {
    let found = null;
    for (const block of this.blocks) {
      const {line: own, result_line: result} = block.event;
      if (own === line || result === line) {
        found = block;
        break;
      }
      if (own && own < line) found = block;
    }
    if (!found) return;
    found.open();
    for (const old of document.querySelectorAll(".event.meant")) old.classList.remove("meant");
    found.element.classList.add("meant");
    found.element.scrollIntoView({block: "center"});
  }
}
