// Colours of Okabe and Ito (2008), as in all figures of the project (python/fourhop/style.py), on light and on dark.
// No two states differ by colour alone: they differ in height, place or hatching, too.

const FLOWS_LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const FLOWS_DARK = ["#56B4E9", "#FF8A3D", "#2FCB9A", "#E79AC4", "#F0B429", "#8FD0FF"];

export interface Palette {
  dark: boolean;
  background: string; panel: string; text: string; faint: string; grid: string;
  busy: string; receive: string; nav: string; counting: string; frozen: string; waiting: string;
  lost: string; cursor: string; wall: string; control: string; selected: string;
  flow(flow: number): string;
}

const light: Palette = {
  dark: false,
  background: "#ffffff", panel: "#ffffff", text: "#1b1e24", faint: "#6a7180", grid: "#e3e6ec",
  busy: "#cfd4dd", receive: "#9fb4cc", nav: "#7d8595", counting: "#c9a227", frozen: "#efe3b4", waiting: "#e6e0f2",
  lost: "#b00020", cursor: "#b00020", wall: "#5b4636", control: "#4c5566", selected: "#000000",
  flow: (flow) => (flow < 0 ? "#4c5566" : FLOWS_LIGHT[flow % FLOWS_LIGHT.length]!),
};
const dark: Palette = {
  dark: true,
  background: "#14171c", panel: "#1b1f26", text: "#e8ebf0", faint: "#9aa3b2", grid: "#2b313b",
  busy: "#3a424f", receive: "#4d6480", nav: "#8b94a6", counting: "#d8b53a", frozen: "#5c5330", waiting: "#37324a",
  lost: "#ff6b7a", cursor: "#ff6b7a", wall: "#c9a98a", control: "#aab3c2", selected: "#ffffff",
  flow: (flow) => (flow < 0 ? "#aab3c2" : FLOWS_DARK[flow % FLOWS_DARK.length]!),
};

/** What the reader chose on the page, or else what the system says; an export for a slide is as it is seen. */
export function palette(): Palette {
  const chosen = document.documentElement.dataset["scheme"];
  return (chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches) ? dark : light;
}

/** The same colour, partly transparent. */
export function faded(colour: string, part: number): string {
  return colour + Math.round(part * 255).toString(16).padStart(2, "0");
}

export type Shape = "square" | "stack" | "circle" | "ring" | "up" | "hollow" | "down" | "diamond";

/** Kinds of frames by shape, the same on the map and in its legend. */
export function shape(kind: string): Shape {
  if (/^\d+ ×|^aggregate/.test(kind)) return "stack";
  if (/^block/i.test(kind)) return "ring";
  if (/^ba request/i.test(kind)) return "hollow";
  if (/rts/i.test(kind)) return "up";
  if (/cts/i.test(kind)) return "down";
  if (/^ack/i.test(kind)) return "circle";
  if (/rreq|rrep|rerr|hello|probe|babel|arp/i.test(kind)) return "diamond";
  return "square";
}
