/** A pen that writes SVG, so that what is drawn on screen can be saved as vectors by the same code. */
import type { Pen, Size } from "./pen";

interface Style {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  lineJoin: CanvasLineJoin;
  transform: string;
}

const anchors: Partial<Record<CanvasTextAlign, string>> = { right: "end", end: "end", center: "middle" };

class SvgPen implements Style {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  lineJoin: CanvasLineJoin = "round";
  transform = "";
  readonly out: string[] = [];
  private path: string[] = [];
  private dashes: readonly number[] = [];
  private stack: Style[] = [];

  beginPath(): void {
    this.path = [];
  }
  closePath(): void {
    this.path.push("Z");
  }
  moveTo(x: number, y: number): void {
    this.path.push(`M${f(x)} ${f(y)}`);
  }
  lineTo(x: number, y: number): void {
    this.path.push(`${this.path.length ? "L" : "M"}${f(x)} ${f(y)}`);
  }
  arc(x: number, y: number, r: number, from: number, to: number): void {
    const full = Math.abs(to - from) >= Math.PI * 2 - 1e-3;
    const at = (angle: number): string => `${f(x + r * Math.cos(angle))} ${f(y + r * Math.sin(angle))}`;
    const bow = (start: number, end: number): string =>
      `A${f(r)} ${f(r)} 0 ${end - start > Math.PI ? 1 : 0} 1 ${at(end)}`;
    this.path.push(`${this.path.length ? "L" : "M"}${at(from)}`);
    // An arc that ends where it begins is nothing at all: a circle is two halves.
    if (full) this.path.push(bow(from, from + Math.PI), bow(from + Math.PI, from + 2 * Math.PI), "Z");
    else this.path.push(bow(from, to));
  }
  fill(): void {
    this.put(`<path d="${this.path.join("")}" ${this.paint(true)}/>`);
  }
  stroke(): void {
    this.put(`<path d="${this.path.join("")}" ${this.paint(false)}/>`);
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.put(`<rect x="${f(x)}" y="${f(y)}" width="${f(w)}" height="${f(h)}" ${this.paint(true)}/>`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.put(`<rect x="${f(x)}" y="${f(y)}" width="${f(w)}" height="${f(h)}" ${this.paint(false)}/>`);
  }
  fillText(text: string, x: number, y: number): void {
    const anchor = anchors[this.textAlign] ?? "start";
    const shift = this.textBaseline === "middle" ? ' dominant-baseline="middle"' : "";
    const style = `style="font:${escape(this.font)}" text-anchor="${anchor}"${shift}`;
    this.put(`<text x="${f(x)}" y="${f(y)}" ${style} ${this.paint(true)}>${escape(text)}</text>`);
  }
  setLineDash(dashes: readonly number[]): void {
    this.dashes = dashes;
  }
  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, transform } = this;
    const style = {
      fillStyle,
      strokeStyle,
      lineWidth,
      globalAlpha,
      font,
      textAlign,
      textBaseline,
      lineJoin,
      transform,
    };
    this.stack.push(style);
  }
  restore(): void {
    const style = this.stack.pop();
    if (style) Object.assign(this, style);
  }
  translate(x: number, y: number): void {
    this.transform += ` translate(${f(x)} ${f(y)})`;
  }
  rotate(angle: number): void {
    this.transform += ` rotate(${f((angle * 180) / Math.PI)})`;
  }

  private put(element: string): void {
    this.out.push(this.transform ? `<g transform="${this.transform.trim()}">${element}</g>` : element);
  }

  private paint(filled: boolean): string {
    const alpha = this.globalAlpha < 1 ? ` opacity="${f(this.globalAlpha)}"` : "";
    if (filled) return `fill="${escape(this.fillStyle)}"${alpha}`;
    const dashes = this.dashes.length ? ` stroke-dasharray="${this.dashes.join(" ")}"` : "";
    const join = `stroke-linejoin="${this.lineJoin}"${dashes}`;
    return `fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${f(this.lineWidth)}" ${join}${alpha}`;
  }
}

const f = (value: number): string => String(Math.round(value * 100) / 100);
const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

export function toSvg(size: Size, background: string, draw: (pen: Pen) => void): string {
  const pen = new SvgPen();
  draw(pen as unknown as Pen);
  const { width, height } = size;
  const frame = `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg ${frame}><rect width="100%" height="100%" fill="${background}"/>${pen.out.join("")}</svg>`;
}
