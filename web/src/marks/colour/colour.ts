/** Colours come from the tokens of the page, so that both themes and every mark agree. */
export interface Palette {
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly soft: string;
  readonly panel: string;
  readonly accent: string;
  readonly selected: string;
  readonly positive: string;
  readonly negative: string;
  readonly sim: string;
  readonly real: string;
  readonly truth: string;
  /** Of names, told apart by everybody. */
  readonly names: readonly string[];
}

/** Colours of a theme that everybody can tell apart. */
export const colourCount = 8;

let remembered: { theme: string; palette: Palette } | null = null;

/** Read once per theme: asking the browser for styles in the middle of drawing is slow. */
export function readPalette(): Palette {
  const theme = document.documentElement.dataset.theme ?? "";
  if (remembered?.theme !== theme) remembered = { theme, palette: paletteNow() };
  return remembered.palette;
}

function paletteNow(): Palette {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: get("ink"),
    muted: get("muted"),
    line: get("line"),
    soft: get("soft"),
    panel: get("panel"),
    accent: get("accent"),
    selected: get("selected"),
    positive: get("pos"),
    negative: get("neg"),
    sim: get("sim"),
    real: get("real"),
    truth: get("truth"),
    names: Array.from({ length: colourCount }, (_, i) => get(`c${i}`)),
  };
}

/** Black or white, whichever is read more easily on a colour (`#rrggbb`). */
export function inkOn(colour: string): string {
  const value = Number.parseInt(colour.slice(1), 16);
  const light = [16, 8, 0].map((shift) => (((value >> shift) & 255) / 255) ** 2.2);
  return 0.2126 * light[0]! + 0.7152 * light[1]! + 0.0722 * light[2]! > 0.18 ? "#000" : "#fff";
}

/** Turbo, by the polynomial its authors give; t in 0..1 to red, green, blue in 0..255. */
export function turbo(t: number): [number, number, number] {
  const x = Math.max(0, Math.min(1, t));
  const p = (...c: number[]): number =>
    255 *
    Math.max(
      0,
      Math.min(
        1,
        c.reduceRight((sum, k) => sum * x + k, 0),
      ),
    );
  return [
    p(0.1357, 4.5974, -42.3277, 130.5887, -150.5666, 58.1375),
    p(0.0914, 2.1856, 4.8052, -14.0195, 4.2109, 2.7747),
    p(0.1067, 12.5925, -60.1097, 109.0745, -88.5066, 26.8183),
  ];
}
