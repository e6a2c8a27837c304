// Drawing: the same calls fill a canvas or write SVG, so that an export equals the screen.

export type Align = "left" | "center" | "right";

export interface Pen {
  readonly width: number;
  readonly height: number;
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  line(points: number[], colour: string, width?: number, dash?: number[]): void;
  polygon(points: number[], fill: string): void;
  circle(x: number, y: number, radius: number, fill: string | null, stroke?: string, width?: number, dash?: number[]): void;
  text(text: string, x: number, y: number, colour: string, size?: number, align?: Align, bold?: boolean): void;
  /** A bitmap; SVG embeds it as PNG. */
  image(canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  /** Draws only within this rectangle until `unclip`. */
  clip(x: number, y: number, width: number, height: number): void;
  unclip(): void;
}

const FONT = "system-ui, sans-serif";

export class CanvasPen implements Pen {
  constructor(private readonly to: CanvasRenderingContext2D, readonly width: number, readonly height: number) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.to.fillStyle = fill;
    this.to.fillRect(x, y, width, height);
  }
  line(points: number[], colour: string, width = 1, dash: number[] = []): void {
    this.to.beginPath();
    for (let at = 0; at < points.length; at += 2) this.to.lineTo(points[at]!, points[at + 1]!);
    this.to.strokeStyle = colour;
    this.to.lineWidth = width;
    this.to.setLineDash(dash);
    this.to.stroke();
  }
  polygon(points: number[], fill: string): void {
    this.to.beginPath();
    for (let at = 0; at < points.length; at += 2) this.to.lineTo(points[at]!, points[at + 1]!);
    this.to.closePath();
    this.to.fillStyle = fill;
    this.to.fill();
  }
  circle(x: number, y: number, radius: number, fill: string | null, stroke?: string, width = 1, dash: number[] = []): void {
    this.to.beginPath();
    this.to.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill !== null) {
      this.to.fillStyle = fill;
      this.to.fill();
    }
    if (stroke !== undefined) {
      this.to.strokeStyle = stroke;
      this.to.lineWidth = width;
      this.to.setLineDash(dash);
      this.to.stroke();
    }
  }
  text(text: string, x: number, y: number, colour: string, size = 11, align: Align = "left", bold = false): void {
    this.to.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    this.to.textAlign = align;
    this.to.textBaseline = "middle";
    this.to.fillStyle = colour;
    this.to.fillText(text, x, y);
  }
  image(canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.to.imageSmoothingEnabled = false;
    this.to.drawImage(canvas, x, y, width, height);
  }
  clip(x: number, y: number, width: number, height: number): void {
    this.to.save();
    this.to.beginPath();
    this.to.rect(x, y, width, height);
    this.to.clip();
  }
  unclip(): void {
    this.to.restore();
  }
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const short = (value: number) => String(Math.round(value * 100) / 100);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;
  constructor(readonly width: number, readonly height: number) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }
  line(points: number[], colour: string, width = 1, dash: number[] = []): void {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<polyline points="${points.map(short).join(" ")}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }
  polygon(points: number[], fill: string): void {
    this.parts.push(`<polygon points="${points.map(short).join(" ")}" fill="${fill}"/>`);
  }
  circle(x: number, y: number, radius: number, fill: string | null, stroke?: string, width = 1, dash: number[] = []): void {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const edge = stroke === undefined ? "" : ` stroke="${stroke}" stroke-width="${width}"${dashes}`;
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" fill="${fill ?? "none"}"${edge}/>`);
  }
  text(text: string, x: number, y: number, colour: string, size = 11, align: Align = "left", bold = false): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const weight = bold ? ' font-weight="600"' : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y + size * 0.35)}" fill="${colour}" font-size="${size}" ` +
      `text-anchor="${anchor}"${weight}>${escaped(text)}</text>`);
  }
  image(canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.parts.push(`<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" href="${canvas.toDataURL()}"/>`);
  }
  clip(x: number, y: number, width: number, height: number): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/>` +
      `</clipPath><g clip-path="url(#${id})">`);
  }
  unclip(): void {
    this.parts.push("</g>");
  }
  get body(): string {
    return this.parts.join("\n");
  }
}

/** Fits a canvas to its place on the page, sharp on any screen; returns a pen for the empty canvas. */
export function fitted(canvas: HTMLCanvasElement, height: number): CanvasPen {
  const width = Math.max(1, canvas.clientWidth);
  const scale = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.height = `${height}px`;
  }
  const to = canvas.getContext("2d", { alpha: false })!;
  to.setTransform(scale, 0, 0, scale, 0, 0);
  return new CanvasPen(to, width, height);
}
