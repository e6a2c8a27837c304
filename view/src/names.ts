// What frames and packets are called.

import type { Frames, Head } from "./types";

const SHORT: Record<string, string> = {
  "tcp-data": "DATA", "tcp-ack": "TCP ACK", "tcp-syn": "SYN", "tcp-fin": "FIN", "tcp-rst": "RST", udp: "UDP", "atp-data": "ATP",
  "atp-feedback": "ATP feedback", "echo-request": "echo", "echo-reply": "echo reply", other: "data",
};

/** RTS, CTS and ACK by their kind, data by what is in it. */
export function frameName(head: Head, frames: Frames, row: number): string {
  const kind = head.names.kind[frames.kind[row]!] ?? "";
  if (kind !== "data") return kind.toUpperCase();
  const content = frames.content[row]! >= 0 ? head.names.content[frames.content[row]!]! : "data";
  return SHORT[content] ?? content.toUpperCase();
}

export function nodeName(head: Head, node: number): string {
  return node < 0 ? "all" : (head.nodes[node]?.name ?? `node ${node}`);
}
