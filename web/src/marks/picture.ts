/** Values of one row to pixels, exactly: no scaling, no smoothing. */
export interface Pixels {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly values: ArrayLike<number>;
}

const COLOURS = ["red", "green", "blue"];

/** Channels that are no colours, beside three that are: depth, say. Their numbers, to be shown one at a time. */
export function extraChannels(elements: readonly string[]): number[] {
  return hasColours(elements) && !isColourStack(elements)
    ? elements.flatMap((name, i) => (i > 2 && name.toLowerCase() !== "alpha" ? [i] : []))
    : [];
}

/** Colour where there is any; else grey, the newest of a stack of frames, as the service does; or one channel alone. */
export function toImage(pixels: Pixels, elements: readonly string[] = [], channel?: number): ImageData | null {
  const [height = 0, width = 0, channels = 1] = pixels.shape;
  if (!height || !width) return null;
  const image = new ImageData(width, height);
  const colour = channel === undefined && (channels === 3 || hasColours(elements));
  const alpha = colour && elements.length === 4 && elements[3]!.toLowerCase() === "alpha";
  const first = isColourStack(elements) ? channels - 3 : 0;
  const grey = channel ?? channels - 1;
  const shade = shades(pixels);
  for (let i = 0, at = 0; i < width * height; i++, at += channels) {
    const o = 4 * i;
    for (let k = 0; k < 3; k++) image.data[o + k] = shade(pixels.values[at + (colour ? first + k : grey)]!);
    image.data[o + 3] = alpha ? shade(pixels.values[at + 3]!) : 255;
  }
  return image;
}

/** A stack of frames in colour: the last three channels are those of the newest. */
function isColourStack(elements: readonly string[]): boolean {
  return elements.length > 3 && hasColours(elements.slice(-3));
}

function hasColours(elements: readonly string[]): boolean {
  return COLOURS.every((name, i) => elements[i]?.toLowerCase() === name);
}

function shades({ dtype, values }: Pixels): (value: number) => number {
  if (dtype === "uint8") return (value) => value;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < low) low = values[i]!;
    if (values[i]! > high) high = values[i]!;
  }
  const span = high > low ? high - low : 1;
  return (value) => (255 * (value - low)) / span;
}
