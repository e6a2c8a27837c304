// Buttons of a lesson bring the view behind them to a moment: the address of the frame that follows.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-view]");
  if (!button) return;
  const frames = [...document.querySelectorAll("iframe")];
  const frame = frames.find((each) => button.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  // Only its end changes, so the view stays and moves; what opens from the disk may not touch the frame itself.
  frame.src = `${frame.src.split("#")[0]}#${button.dataset.view}`;
  frame.scrollIntoView({ block: "nearest" });
});
