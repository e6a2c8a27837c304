// Names of frames and packets.

import type { Frames, Head } from "./types";

const SHORT: Record<string, string> = {
  "tcp-data": "DATA", "tcp-ack": "TCP ACK", "tcp-syn": "SYN", "tcp-fin": "FIN", "tcp-rst": "RST", udp: "UDP", "atp-data": "ATP",
  "atp-feedback": "ATP feedback", "echo-request": "echo", "echo-reply": "echo reply", other: "data",
};

const KINDS: Record<string, string> = { "block-ack": "BLOCK ACK", "block-ack-request": "BA REQUEST" };

/** RTS, CTS and ACK by kind, data by content, aggregates also by their number of MPDUs. */
export function frameName(head: Head, frames: Frames, row: number): string {
  const kind = head.names.kind[frames.kind[row]!] ?? "";
  if (kind !== "data") return KINDS[kind] ?? kind.toUpperCase();
  const content = frames.content[row]! >= 0 ? head.names.content[frames.content[row]!]! : "data";
  const name = SHORT[content] ?? content.toUpperCase();
  return frames.mpdus[row]! > 1 ? `${frames.mpdus[row]!} × ${name}` : name;
}

/** A name short enough for the margin of a panel. */
export function short(name: string): string {
  return name.length <= 11 ? name : `${name.slice(0, 10)}…`;
}

export function nodeName(head: Head, node: number): string {
  return node < 0 ? "all" : (head.nodes[node]?.name ?? `node ${node}`);
}
