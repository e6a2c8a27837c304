// Buttons of a lesson bring the view behind them to a moment: the address of the frame that follows.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-view]");
  if (!button) return;
  const frames = [...document.querySelectorAll("iframe")];
  const frame = frames.find((each) => button.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  // Only its end changes, so the view stays and moves; what opens from the disk may not touch the frame itself.
  frame.src = `${frame.src.split("#")[0]}#${button.dataset.view}`;
  // Keys are for the view from now on: Space plays there, and does not press this button again.
  frame.focus({ preventScroll: true });
  show(button);
});

// The text of a step stands between its button and the view, so that both are seen at once; other steps wait for theirs.
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
