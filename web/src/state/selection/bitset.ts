/** A set of rows as bits: 32 rows a word, so that set algebra over millions of rows takes milliseconds. */
export class Bitset {
  readonly words: Uint32Array;

  constructor(
    readonly size: number,
    words?: Uint32Array,
  ) {
    this.words = words ?? new Uint32Array((size + 31) >>> 5);
  }

  static full(size: number): Bitset {
    return new Bitset(size).complement();
  }

  /** The rows for which `test` holds. */
  static where(size: number, test: (row: number) => boolean, from = 0, to = size): Bitset {
    const set = new Bitset(size);
    for (let row = Math.max(0, from); row < Math.min(size, to); row++)
      if (test(row)) set.words[row >>> 5]! |= 1 << (row & 31);
    return set;
  }

  /**
   * The rows of [from, to) whose value lies between two bounds, both included; NaN lies nowhere.
   * Bounds are as exact as the values: 0.1 is at most 0.1 also where it came as a 32-bit number.
   */
  static between(size: number, values: ArrayLike<number>, least: number, most: number, from = 0, to = size): Bitset {
    const set = new Bitset(size);
    const [low, high] = values instanceof Float32Array ? [Math.fround(least), Math.fround(most)] : [least, most];
    const end = Math.min(size, to, values.length);
    let row = Math.max(0, from);
    while (row < end) {
      const stop = Math.min(end, (row | 31) + 1);
      let word = 0;
      const index = row >>> 5;
      for (; row < stop; row++) {
        const value = values[row]!;
        if (value >= low && value <= high) word |= 1 << (row & 31);
      }
      set.words[index] = word;
    }
    return set;
  }

  /** The rows in half-open intervals [start, stop). */
  static ofRuns(size: number, runs: Iterable<readonly [number, number]>): Bitset {
    const set = new Bitset(size);
    for (const [start, stop] of runs) set.fill(start, stop);
    return set;
  }

  has(row: number): boolean {
    return row >= 0 && row < this.size && (this.words[row >>> 5]! & (1 << (row & 31))) !== 0;
  }

  add(row: number): void {
    if (row >= 0 && row < this.size) this.words[row >>> 5]! |= 1 << (row & 31);
  }

  /** Add every row of [start, stop). */
  fill(start: number, stop: number): void {
    const from = Math.max(0, start);
    const to = Math.min(this.size, stop);
    if (to <= from) return;
    const first = from >>> 5;
    const last = (to - 1) >>> 5;
    const head = 0xffffffff << (from & 31);
    const tail = 0xffffffff >>> (31 - ((to - 1) & 31));
    if (first === last) {
      this.words[first]! |= head & tail;
      return;
    }
    this.words[first]! |= head;
    this.words.fill(0xffffffff, first + 1, last);
    this.words[last]! |= tail;
  }

  union(other: Bitset): Bitset {
    return this.combine(other, (a, b) => a | b);
  }

  intersection(other: Bitset): Bitset {
    return this.combine(other, (a, b) => a & b);
  }

  difference(other: Bitset): Bitset {
    return this.combine(other, (a, b) => a & ~b);
  }

  complement(): Bitset {
    const out = new Bitset(this.size);
    for (let i = 0; i < this.words.length; i++) out.words[i] = ~this.words[i]!;
    const spare = this.size & 31;
    if (spare) out.words[out.words.length - 1]! &= 0xffffffff >>> (32 - spare);
    return out;
  }

  /** How many rows are in the set, or in its part [start, stop). */
  count(start = 0, stop = this.size): number {
    const from = Math.max(0, start);
    const to = Math.min(this.size, stop);
    if (to <= from) return 0;
    const first = from >>> 5;
    const last = (to - 1) >>> 5;
    const head = 0xffffffff << (from & 31);
    const tail = 0xffffffff >>> (31 - ((to - 1) & 31));
    if (first === last) return ones(this.words[first]! & head & tail);
    let total = ones(this.words[first]! & head) + ones(this.words[last]! & tail);
    for (let i = first + 1; i < last; i++) total += ones(this.words[i]!);
    return total;
  }

  /** Half-open intervals of consecutive rows inside [start, stop), in order. */
  runs(start = 0, stop = this.size): [number, number][] {
    const found: [number, number][] = [];
    let row = this.next(start, stop);
    while (row < stop) {
      const end = this.nextGap(row, stop);
      found.push([row, end]);
      row = this.next(end, stop);
    }
    return found;
  }

  /** The first row of the set at or after `row`, or `stop`. */
  next(row: number, stop = this.size): number {
    return this.scan(row, stop, 0);
  }

  /** The first row not in the set at or after `row`, or `stop`. */
  nextGap(row: number, stop = this.size): number {
    return this.scan(row, stop, 0xffffffff);
  }

  private scan(row: number, stop: number, flip: number): number {
    const end = Math.min(stop, this.size);
    if (row >= end) return stop;
    let index = row >>> 5;
    let word = (this.words[index]! ^ flip) & (0xffffffff << (row & 31));
    while (word === 0) {
      index++;
      if (index << 5 >= end) return stop;
      word = this.words[index]! ^ flip;
    }
    const found = (index << 5) + (31 - Math.clz32(word & -word));
    return found < end ? found : stop;
  }

  private combine(other: Bitset, operation: (a: number, b: number) => number): Bitset {
    if (other.size !== this.size) throw new Error(`Sets of ${this.size} and ${other.size} rows cannot be combined.`);
    const out = new Bitset(this.size);
    for (let i = 0; i < this.words.length; i++) out.words[i] = operation(this.words[i]!, other.words[i]!);
    return out;
  }
}

function ones(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
