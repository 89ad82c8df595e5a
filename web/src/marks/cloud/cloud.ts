/** A hundred thousand points in a plane, stamped into pixels by hand: quick without a GPU, and the same everywhere. */
import type { Cloud } from "../../api/layout";
import { drawDisc, gapsOf, type Texture } from "../colour/names";
import type { Pen, Size } from "../pen/pen";

/** Which part of the plane is on screen: its centre, and how many pixels a unit takes. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface CloudLook {
  /** Colour of a point as 0xBBGGRR. */
  readonly colours: Uint32Array;
  /** Texture of a point, where any has one. */
  readonly textures: Uint8Array | null;
  /** How opaque a point is, 0 to 255. */
  readonly opacity: Uint8Array;
  readonly radius: number;
}

/** The camera that sees all of a cloud, with a little air. */
export function wholeCloud({ xs, ys }: Cloud, size: Size): Camera {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < xs.length; i++) {
    const [x, y] = [xs[i]!, ys[i]!];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    left = Math.min(left, x);
    right = Math.max(right, x);
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  if (left > right) return { x: 0, y: 0, scale: 1 };
  const air = 12;
  const fits = (room: number, span: number): number => Math.max(1, room - 2 * air) / Math.max(span, 1e-9);
  const scale = Math.min(fits(size.width, right - left), fits(size.height, high - low));
  return { x: (left + right) / 2, y: (low + high) / 2, scale };
}

export const toScreen = (camera: Camera, size: Size, x: number, y: number): [number, number] => [
  size.width / 2 + (x - camera.x) * camera.scale,
  size.height / 2 - (y - camera.y) * camera.scale,
];

export const toPlane = (camera: Camera, size: Size, px: number, py: number): [number, number] => [
  camera.x + (px - size.width / 2) / camera.scale,
  camera.y - (py - size.height / 2) / camera.scale,
];

/** Nearer or farther, with the place under the pointer staying where it is. */
export function zoomed(camera: Camera, size: Size, factor: number, px: number, py: number): Camera {
  const [x, y] = toPlane(camera, size, px, py);
  const scale = camera.scale * factor;
  return { scale, x: x - (px - size.width / 2) / scale, y: y + (py - size.height / 2) / scale };
}

/** Fewer points are drawn larger; stripes need room. */
export const radiusFor = (count: number, size: Size, textured = false): number =>
  Math.max(textured ? 2 : 1, Math.min(3, 0.32 * Math.sqrt((size.width * size.height) / Math.max(1, count))));

/** Stamp every point, in the order given or from first to last, over what is in the image already. */
export function stampCloud(
  image: ImageData,
  cloud: Cloud,
  camera: Camera,
  look: CloudLook,
  order: ArrayLike<number> | null = null,
): void {
  const pixels = new Uint32Array(image.data.buffer);
  const { width, height } = image;
  const { textures } = look;
  const stamps = ([0, 1, 2] as const).map((texture) => stampOf(look.radius, width, texture));
  const { reach } = stamps[0]!;
  const count = order?.length ?? cloud.xs.length;
  // Spelled out, as no call, pair or object is free a million times over.
  for (let k = 0; k < count; k++) {
    const i = order ? order[k]! : k;
    const cx = Math.round(width / 2 + (cloud.xs[i]! - camera.x) * camera.scale);
    const cy = Math.round(height / 2 - (cloud.ys[i]! - camera.y) * camera.scale);
    // NaN lies nowhere, and is not within these bounds either.
    if (!(cx >= -reach && cx < width + reach && cy >= -reach && cy < height + reach)) continue;
    const whole = cx >= reach && cx < width - reach && cy >= reach && cy < height - reach;
    const colour = look.colours[i]!;
    const strength = look.opacity[i]!;
    const at = cy * width + cx;
    const stamp = stamps[textures ? textures[i]! : 0]!;
    for (let d = 0; d < stamp.size; d++) {
      if (!whole && !within(cx + stamp.dx[d]!, cy + stamp.dy[d]!, width, height)) continue;
      const pixel = at + stamp.offset[d]!;
      const alpha = (stamp.cover[d]! * strength) >> 8;
      const below = pixels[pixel]!;
      pixels[pixel] = below === 0 ? (alpha << 24) | colour : over(below, colour, alpha);
    }
  }
}

interface Stamp {
  readonly size: number;
  readonly reach: number;
  readonly dx: Int32Array;
  readonly dy: Int32Array;
  /** How far from the middle in an image of that width. */
  readonly offset: Int32Array;
  /** Share of the pixel that is covered, 0 to 256. */
  readonly cover: Int32Array;
}

/** Less than this much of a pixel cannot be seen. */
const faint = 24;

/** The pixels of a disc with soft edges, without those that its texture leaves out. */
function stampOf(radius: number, width: number, texture: Texture): Stamp {
  const reach = Math.ceil(radius);
  const gaps = gapsOf(texture);
  const left = (dx: number): boolean => {
    const share = (dx + reach + 0.5) / (2 * reach + 1);
    return gaps.some(([from, to]) => share > from && share < to);
  };
  const dots: [number, number, number][] = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.round(256 * Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx, dy))));
      if (cover > faint && !left(dx)) dots.push([dx, dy, cover]);
    }
  }
  return {
    size: dots.length,
    reach,
    dx: Int32Array.from(dots, ([dx]) => dx),
    dy: Int32Array.from(dots, ([, dy]) => dy),
    offset: Int32Array.from(dots, ([dx, dy]) => dy * width + dx),
    cover: Int32Array.from(dots, ([, , cover]) => cover),
  };
}

const within = (x: number, y: number, width: number, height: number): boolean =>
  x >= 0 && y >= 0 && x < width && y < height;

/** A colour (0xBBGGRR) with some opacity over a pixel (0xAABBGGRR, not premultiplied). */
function over(below: number, colour: number, alpha: number): number {
  const under = below >>> 24;
  const out = alpha + (((255 - alpha) * under) >> 8);
  if (out === 0) return 0;
  const share = Math.trunc((alpha << 8) / out);
  // Red and blue together, then green: two products instead of three.
  const ends = below & 0xff00ff;
  const middle = below & 0x00ff00;
  const rb = (ends + ((((colour & 0xff00ff) - ends) * share) >> 8)) & 0xff00ff;
  const g = (middle + ((((colour & 0x00ff00) - middle) * share) >> 8)) & 0x00ff00;
  return ((out << 24) | rb | g) >>> 0;
}

/** The same points as vectors, for files; of very many only every n-th, so that a file can be opened. */
export function drawCloud(
  pen: Pen,
  size: Size,
  cloud: Cloud,
  camera: Camera,
  look: CloudLook,
  ground: string,
  most = 30_000,
): void {
  const every = Math.max(1, Math.ceil(cloud.xs.length / most));
  for (let i = 0; i < cloud.xs.length; i += every) {
    const [x, y] = toScreen(camera, size, cloud.xs[i]!, cloud.ys[i]!);
    if (!(x >= 0 && x <= size.width && y >= 0 && y <= size.height)) continue;
    pen.globalAlpha = look.opacity[i]! / 255;
    const texture = (look.textures?.[i] ?? 0) as Texture;
    drawDisc(pen, x, y, look.radius, { colour: hex(look.colours[i]!), texture }, ground);
  }
  pen.globalAlpha = 1;
}

/** The point nearest to a pixel, within some pixels of it; -1 where there is none. */
export function nearestPoint(cloud: Cloud, camera: Camera, size: Size, px: number, py: number, within = 14): number {
  const [x, y] = toPlane(camera, size, px, py);
  let [best, found] = [(within / camera.scale) ** 2, -1];
  for (let i = 0; i < cloud.xs.length; i++) {
    const d = (cloud.xs[i]! - x) ** 2 + (cloud.ys[i]! - y) ** 2;
    if (d < best) [best, found] = [d, i];
  }
  return found;
}

const hex = (colour: number): string =>
  `#${[colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
