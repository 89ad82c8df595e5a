// What the recurrent layer would be fed at any pose, mixed from the nearest poses of a grid at which it is known.

class Poses {
  constructor({ about, arrays }) {
    const { lines, headings, directions, blocks, states, step } = about.grid;
    Object.assign(this, { lines, headings, directions, states });
    this.places = indexed(arrays.free);
    this.free = arrays.free;
    this.count = arrays.block_of.length / states;
    this.blockOf = arrays.block_of;
    this.mean = arrays.mean;
    this.basis = arrays.basis;
    this.size = this.mean.length;
    this.codes = this.#decode(arrays, blocks);
    this.step = step;
    this.code = new Float64Array(directions);
    this.out = new Float32Array(this.size);
  }

  /** Numbers were written as differences, direction by direction: to the heading before, or to fewer items gathered. */
  #decode({ codes_low: low, codes_high: high }, blocks) {
    const { headings, directions, states, count, blockOf } = this;
    const codes = new Int16Array(blocks * headings * directions);
    const before = new Int32Array(blocks).fill(-1);
    for (let state = 1; state < states; state++)
      for (let place = 0; place < count; place++) {
        const now = blockOf[state * count + place];
        const then = blockOf[(state - 1) * count + place];
        if (now !== then) before[now] = then;
      }
    for (let d = 0, at = 0; d < directions; d++)
      for (let block = 0; block < blocks; block++)
        for (let h = 0; h < headings; h++, at++) {
          const place = (block * headings + h) * directions + d;
          const from = before[block] >= 0 ? (before[block] * headings + h) * directions + d : place - directions;
          codes[place] = ((high[at] << 8) | low[at]) + (before[block] < 0 && h === 0 ? 0 : codes[from]);
        }
    return codes;
  }

  /** Gates at a pose, in `out`, and how far the nearest known pose is: 0 on it, 1 as far as it can be. */
  at(x, y, angle, gathered) {
    const { lines, headings, code, directions } = this;
    code.fill(0);
    const [i, across] = between(lines, x);
    const [j, up] = between(lines, y);
    const heading = (((angle % 360) + 360) % 360) * (headings / 360);
    const h = Math.floor(heading) % headings;
    const turned = heading - Math.floor(heading);
    let total = 0;
    for (let corner = 0; corner < 4; corner++) {
      const a = i + (corner & 1);
      const b = j + (corner >> 1);
      if (!this.free[a * lines.length + b]) continue;
      const weight = (corner & 1 ? across : 1 - across) * (corner >> 1 ? up : 1 - up) + 1e-6;
      const block = this.blockOf[gathered * this.count + this.places[a * lines.length + b]];
      this.#add(block, h, weight * (1 - turned));
      this.#add(block, (h + 1) % headings, weight * turned);
      total += weight;
    }
    if (total === 0) return null;
    this.#spread(this.step / total);
    const away = (share) => 2 * Math.min(share, 1 - share);
    return Math.max(away(across), away(up), away(turned));
  }

  #add(block, heading, weight) {
    const { code, codes, directions, headings } = this;
    const from = (block * headings + heading) * directions;
    for (let d = 0; d < directions; d++) code[d] += weight * codes[from + d];
  }

  #spread(scale) {
    const { out, mean, basis, code, directions, size } = this;
    out.set(mean);
    for (let d = 0; d < directions; d++) {
      const value = code[d] * scale;
      if (value !== 0) for (let g = 0, at = d * size; g < size; g++, at++) out[g] += value * basis[at];
    }
  }

  /** Where known poses stand, as [x, y]. */
  standing() {
    const { lines, free } = this;
    const found = [];
    lines.forEach((x, a) => lines.forEach((y, b) => free[a * lines.length + b] && found.push([x, y])));
    return found;
  }
}

/** The line below a value, and the share of the way to the next one. */
function between(lines, value) {
  const last = lines.length - 2;
  let low = 0;
  while (low < last && lines[low + 1] <= value) low += 1;
  const share = (value - lines[low]) / (lines[low + 1] - lines[low]);
  return [low, Math.min(1, Math.max(0, share))];
}

function indexed(free) {
  let count = 0;
  return Int32Array.from(free, (yes) => (yes ? count++ : -1));
}
