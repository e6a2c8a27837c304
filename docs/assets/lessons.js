// A lesson's buttons move the view after them to a moment, by the address of the frame.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-view]");
  if (!button) return;
  const frames = [...document.querySelectorAll("iframe")];
  const frame = frames.find((each) => button.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  // Only its fragment changes, so the view is not reloaded; pages opened from disk may not access the frame itself.
  frame.src = `${frame.src.split("#")[0]}#${button.dataset.view}`;
  // Keys now go to the view: Space plays there instead of pressing this button again.
  frame.focus({ preventScroll: true });
  show(button);
});

// The text of a step appears between its button and the view, so that both are visible; other steps stay hidden.
function show(button) {
  const group = button.closest("p");
  const buttons = [...group.querySelectorAll("button[data-view]")];
  const texts = steps.get(group) ?? [];
  buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
  texts.forEach((text, at) => (text.hidden = at !== buttons.indexOf(button)));
}

const steps = new Map();
for (const group of new Set([...document.querySelectorAll("button[data-view]")].map((each) => each.closest("p")))) {
  const texts = [];
  for (let next = group.nextElementSibling; /^\d+\.$/.test(next?.firstElementChild?.textContent ?? ""); next = next.nextElementSibling) {
    texts.push(next);
  }
  steps.set(group, texts);
  if (texts.length > 0) show(group.querySelector("button[data-view]"));
}
