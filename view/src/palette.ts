// Colours of Okabe and Ito (2008), as in all figures of the project (python/fourhop/style.py), on light and on dark.
// No two states differ by colour alone: they differ in height, place or hatching, too.

import { colourOf } from "./flows";

const FLOWS_LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const FLOWS_DARK = ["#56B4E9", "#FF8A3D", "#2FCB9A", "#E79AC4", "#F0B429", "#8FD0FF"];

/** Colours by hop count from 1 on, from light to dark (on a dark page from yellow to violet): readable with colour blindness, too. */
const HOPS_LIGHT = ["#8FAE1B", "#2FA36B", "#118A9B", "#2B6FAE", "#4A47A8", "#2E1F66"];
const HOPS_DARK = ["#E2F27A", "#7FE0A8", "#55CFD8", "#6FA8F5", "#A79BF5", "#E08CF0"];

export interface Palette {
  dark: boolean;
  background: string; panel: string; text: string; faint: string; grid: string;
  busy: string; receive: string; nav: string; counting: string; frozen: string; waiting: string;
  lost: string; cursor: string; wall: string; control: string; selected: string;
  /** Transmissions of any flow; on the strip of the whole run, the visible part and the rest. */
  send: string; shown: string; strip: string; link: string;
  flow(flow: number): string;
  /** The colour of a line of a plot. */
  line(at: number): string;
}

function ofFlow(flow: number, none: string, own: string[], hops: string[]): string {
  const { place, hops: byHops } = colourOf(flow);
  return place < 0 ? none : (byHops ? hops : own)[place]!;
}

const light: Palette = {
  dark: false,
  background: "#ffffff", panel: "#ffffff", text: "#1b1e24", faint: "#6a7180", grid: "#e3e6ec",
  busy: "#cfd4dd", receive: "#9fb4cc", nav: "#7d8595", counting: "#c9a227", frozen: "#efe3b4", waiting: "#e6e0f2",
  lost: "#b00020", cursor: "#b00020", wall: "#5b4636", control: "#4c5566", selected: "#000000",
  send: "#0072B2", shown: "#cfe2f3", strip: "#f3f5f8", link: "#9aa3b2",
  flow: (flow) => ofFlow(flow, "#4c5566", FLOWS_LIGHT, HOPS_LIGHT),
  line: (at) => FLOWS_LIGHT[at % FLOWS_LIGHT.length]!,
};
const dark: Palette = {
  dark: true,
  background: "#14171c", panel: "#1b1f26", text: "#e8ebf0", faint: "#9aa3b2", grid: "#2b313b",
  busy: "#3a424f", receive: "#4d6480", nav: "#8b94a6", counting: "#d8b53a", frozen: "#5c5330", waiting: "#37324a",
  lost: "#ff6b7a", cursor: "#ff6b7a", wall: "#c9a98a", control: "#aab3c2", selected: "#ffffff",
  send: "#56B4E9", shown: "#2d4660", strip: "#20252d", link: "#5d6878",
  flow: (flow) => ofFlow(flow, "#aab3c2", FLOWS_DARK, HOPS_DARK),
  line: (at) => FLOWS_DARK[at % FLOWS_DARK.length]!,
};

/** The scheme chosen on the page, else the system's. Exports use it, too. */
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
