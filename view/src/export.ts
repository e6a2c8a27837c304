// Saves what is visible: SVG by the same calls that fill the screen, PNG from that SVG at twice the size.

import { palette } from "./palette";
import { SvgPen, type Pen } from "./pen";

export function svg(width: number, height: number, draw: (pen: Pen) => void): string {
  const pen = new SvgPen(width, height);
  draw(pen);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${palette().panel}"/>\n${pen.body}\n</svg>\n`;
}

export async function png(text: string, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser could not encode the PNG; save as SVG instead"))), "image/png"));
}

export function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
