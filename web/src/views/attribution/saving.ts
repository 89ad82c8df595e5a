/** Saving the pictures side by side, and the amounts of the row that they show. */
import type { Factors } from "../../state/vision/factors";
import type { FactorRow } from "../../state/vision/factorrows";

interface Parts {
  readonly picture: ImageData;
  readonly size: { readonly width: number; readonly height: number };
  readonly smooth: boolean;
  /** One a picture; the first lies over what it sees, the others over the same in grey. */
  readonly overlays: readonly (ImageData | null)[];
}

export function composed({ picture, size, smooth, overlays }: Parts): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  const gap = 12;
  [canvas.width, canvas.height] = [overlays.length * (size.width + gap) - gap, size.height];
  const pen = canvas.getContext("2d")!;
  overlays.forEach((overlay, place) => {
    const left = place * (size.width + gap);
    pen.imageSmoothingEnabled = smooth;
    pen.filter = place ? "grayscale(1) brightness(0.62) contrast(0.92)" : "none";
    pen.drawImage(asCanvas(picture), left, 0, size.width, size.height);
    pen.imageSmoothingEnabled = true;
    pen.filter = "none";
    if (overlay) pen.drawImage(asCanvas(overlay), left, 0, size.width, size.height);
  });
  return canvas;
}

function asCanvas(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas;
}

/** A line for each cell of each factor. */
export function attributionTable(
  value: Factors | null,
  found: FactorRow | null,
  nameOf: (factor: number) => string,
): (string | number)[][] {
  const head = ["factor", "y", "x", "amount"];
  if (!value || !found) return [head];
  const [height, width] = value.grid;
  const lines = Array.from(found.amounts, (amount, i) => {
    const cell = i % (height * width);
    return [nameOf(Math.floor(i / (height * width))), Math.floor(cell / width), cell % width, amount];
  });
  return [head, ...lines];
}
