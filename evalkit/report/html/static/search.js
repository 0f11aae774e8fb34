// Search within a conversation: it looks through all that the events hold, folded or not, and opens where it goes.

class Search {
  constructor(talk) {
    this.talk = talk;
    this.found = [];
    this.at = -1;
    this.needle = "";
    this.field = h("input", {
      type: "search",
      id: "find",
      placeholder: "search the conversation   /",
      "aria-label": "search the conversation",
      spellcheck: "false",
      oninput: () => this.typed(),
      onkeydown: (event) => this.pressed(event),
    });
    this.told = h("span", {class: "dim told", role: "status"});
    this.element = h(
      "div",
      {class: "search"},
      this.field,
      this.told,
      h(
        "button",
        {type: "button", title: "previous (Shift+Enter)", "aria-label": "previous", onclick: () => this.step(-1)},
        "↑",
      ),
      h("button", {type: "button", title: "next (Enter)", "aria-label": "next", onclick: () => this.step(1)}, "↓"),
      h("button", {type: "button", title: "open or fold all calls (e)", onclick: () => this.toggle()}, "fold / unfold"),
    );
  }

  toggle() {
    const calls = this.talk.blocks.filter((block) => block.event.k === "call");
    this.talk.foldAll(!calls.every((block) => block.fold.open));
  }

  typed() {
    clearTimeout(this.waits);
    this.waits = setTimeout(() => {
      this.look(this.field.value);
      go({find: this.field.value}, true);
    }, 120);
  }

  pressed(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.field.value !== this.needle) {
        clearTimeout(this.waits);
        this.look(this.field.value);
      }
      this.step(event.shiftKey ? -1 : 1);
    }
  }

  /** Mark all places of a text. */
  look(needle) {
    if (needle === this.needle) return;
    this.needle = needle;
    this.field.value = needle;
    const find = needle ? new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu") : null;
    this.found = [];
    this.at = -1;
    for (const block of this.talk.blocks) {
      let count = 0;
      if (find) for (const text of block.texts) for (const _ of text.matchAll(find)) count++;
      for (let number = 0; number < count; number++) this.found.push([block, number]);
      block.element.classList.toggle("hit", count > 0);
      if (block.hits) block.hits.textContent = count ? String(count) : "";
      if (count || block.find) block.paint(count ? find : null);
    }
    this.tell();
  }

  step(by) {
    if (!this.found.length) return;
    this.at =
      this.at < 0 ? (by > 0 ? 0 : this.found.length - 1) : (this.at + by + this.found.length) % this.found.length;
    const [block, count] = this.found[this.at];
    block.open();
    for (const old of document.querySelectorAll("mark.current")) old.classList.remove("current");
    const marks = block.element.querySelectorAll("mark");
    const mark = marks[Math.min(count, marks.length - 1)];
    if (mark) mark.classList.add("current");
    (mark || block.element).scrollIntoView({block: "center"});
    this.tell();
  }

  tell() {
    if (!this.needle) this.told.textContent = "";
    else if (!this.found.length) this.told.textContent = "nowhere";
    else this.told.textContent = (this.at < 0 ? "" : number(this.at + 1) + " of ") + number(this.found.length);
  }
}
