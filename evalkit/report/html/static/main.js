// What is shown follows the state, and the state the address.

let lastFilter = null;
let overviewAt = 0;

function show() {
  const inTrial = Boolean(state.trial);
  const returns = !inTrial && $("overview").hidden;
  if (inTrial && !$("overview").hidden) overviewAt = window.scrollY;
  $("overview").hidden = inTrial;
  $("trial").hidden = !inTrial;
  if (inTrial) {
    showTrial();
    return;
  }
  document.title = INDEX.run + " · evalkit";
  went = "";
  const key = JSON.stringify([
    state.q,
    state.status,
    state.suite,
    state.arm,
    state.tier,
    state.failed,
    state.view,
    state.sort,
  ]);
  if (key !== lastFilter) {
    lastFilter = key;
    filter();
  }
  if (returns) window.scrollTo(0, overviewAt);
}

function filter() {
  const kept = shownTrials();
  const list = state.view === "list";
  $("matrix").hidden = list || !kept.length;
  $("list").hidden = !list || !kept.length;
  moreLines = null;
  if (list) drawList(kept);
  else {
    filterMatrix(new Set(kept.map((one) => one.number)));
    fitMatrix();
  }
  drawFilters(kept.length);
}

drawChips();
drawHelp();
for (const part of document.querySelectorAll("[data-grow]")) part.style.flexGrow = part.dataset.grow;
for (const part of document.querySelectorAll("[data-part]")) part.style.width = part.dataset.part + "%";
$("filters").addEventListener("submit", (event) => event.preventDefault());
let typedWait = 0;
$("q").addEventListener("input", () => {
  clearTimeout(typedWait);
  typedWait = setTimeout(() => go({q: $("q").value}, true), 60);
});
$("clear").addEventListener("click", () => go({q: "", status: [], suite: [], arm: [], tier: [], failed: ""}, true));
$("help-button").addEventListener("click", () => $("help").showModal());
for (const button of document.querySelectorAll("[data-view]"))
  button.addEventListener("click", () => go({view: button.dataset.view}, true));
// A link within the page is a step, also where the address is the same already. The marks in the page do not know the
// filters: a click on one keeps them.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a[href^='#']");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  went = "";
  go(
    TABLE.contains(link)
      ? {...CLOSED, trial: TRIALS[Number(link.dataset.n)].place}
      : readState(link.getAttribute("href")),
  );
});
window.addEventListener("popstate", () => {
  state = readState();
  show();
});
window.addEventListener("hashchange", () => {
  if (hashOf(readState()) !== hashOf(state)) {
    state = readState();
    show();
  }
});
document.addEventListener("keydown", pressed);
new ResizeObserver(fitMatrix).observe($("overview"));
window.addEventListener("beforeprint", () => {
  allLines();
  for (const fold of document.querySelectorAll("#trial details.check")) fold.open = true;
});
show();
