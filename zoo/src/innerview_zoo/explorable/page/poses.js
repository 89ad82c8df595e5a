// What the recurrent layer would be fed at any pose, mixed from the nearest poses of a grid at which it is known.

class PoseGrid {
  /**
   * @param {Grid} grid
   * @param {PageArrays} arrays
   */
  constructor(grid, arrays) {
    this.lines = grid.lines;
    this.headings = grid.headings;
    this.directions = grid.directions;
    this.states = grid.states;
    this.step = grid.step;
    this.free = arrays.get("free", Uint8Array);
    this.places = countFree(this.free);
    this.blockOf = arrays.get("block_of", Int32Array);
    this.count = this.blockOf.length / grid.states;
    this.mean = arrays.get("mean", Float32Array);
    this.basis = arrays.get("basis", Float32Array);
    this.size = this.mean.length;
    const low = arrays.get("codes_low", Uint8Array);
    this.codes = this.#decode(low, arrays.get("codes_high", Uint8Array), grid.blocks);
    this.code = new Float64Array(grid.directions);
    this.out = new Float32Array(this.size);
  }

  /**
   * Numbers were written as differences, direction by direction: to the heading before, or to fewer items gathered.
   * @param {Uint8Array} low
   * @param {Uint8Array} high
   * @param {number} blocks
   */
  #decode(low, high, blocks) {
    const { headings, directions } = this;
    const codes = new Int16Array(blocks * headings * directions);
    const before = this.#blocksBefore(blocks);
    for (let d = 0, at = 0; d < directions; d++)
      for (let block = 0; block < blocks; block++)
        for (let h = 0; h < headings; h++, at++) {
          const place = (block * headings + h) * directions + d;
          const from = before[block] >= 0 ? (before[block] * headings + h) * directions + d : place - directions;
          codes[place] = ((high[at] << 8) | low[at]) + (before[block] < 0 && h === 0 ? 0 : codes[from]);
        }
    return codes;
  }

  /**
   * For each block the one of the same place with an item fewer gathered; -1 where there is none.
   * @param {number} blocks
   */
  #blocksBefore(blocks) {
    const { states, count, blockOf } = this;
    const before = new Int32Array(blocks).fill(-1);
    for (let state = 1; state < states; state++)
      for (let place = 0; place < count; place++) {
        const now = blockOf[state * count + place];
        const then = blockOf[(state - 1) * count + place];
        if (now !== then) before[now] = then;
      }
    return before;
  }

  /**
   * Put the gates at a pose into `out`. Returns how far the nearest known pose is: 0 on it, 1 as far as it can be.
   * @param {Pose} pose
   * @param {number} gathered
   */
  mix({ x, y, angle }, gathered) {
    const { lines, headings, code } = this;
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
    // Where no pose is known, nothing but the mean of all: what was mixed before belongs to another rollout.
    this.#spread(total && this.step / total);
    if (total === 0) return 1;
    const away = (/** @type {number} */ share) => 2 * Math.min(share, 1 - share);
    return Math.max(away(across), away(up), away(turned));
  }

  /**
   * @param {number} block
   * @param {number} heading
   * @param {number} weight
   */
  #add(block, heading, weight) {
    const { code, codes, directions, headings } = this;
    const from = (block * headings + heading) * directions;
    for (let d = 0; d < directions; d++) code[d] += weight * codes[from + d];
  }

  /** @param {number} scale */
  #spread(scale) {
    const { out, mean, basis, code, directions, size } = this;
    out.set(mean);
    for (let d = 0; d < directions; d++) {
      const value = code[d] * scale;
      if (value !== 0) for (let g = 0, at = d * size; g < size; g++, at++) out[g] += value * basis[at];
    }
  }

  /** Where known poses stand. */
  standing() {
    const { lines, free } = this;
    /** @type {Point[]} */
    const points = [];
    lines.forEach((x, a) =>
      lines.forEach((y, b) => {
        if (free[a * lines.length + b]) points.push([x, y]);
      }),
    );
    return points;
  }
}

/**
 * The line below a value, and the share of the way to the next one.
 * @param {number[]} lines
 * @param {number} value
 * @returns {[number, number]}
 */
function between(lines, value) {
  const last = lines.length - 2;
  let low = 0;
  while (low < last && lines[low + 1] <= value) low += 1;
  const share = (value - lines[low]) / (lines[low + 1] - lines[low]);
  return [low, Math.min(1, Math.max(0, share))];
}

/**
 * The number of each free place among the free ones; -1 for the others.
 * @param {Uint8Array} free
 */
function countFree(free) {
  let count = 0;
  return Int32Array.from(free, (isFree) => (isFree ? count++ : -1));
}
