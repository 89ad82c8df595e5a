// Ways to choose elements: at random, by how busy they are, and by trying.

/** @param {number} count */
const range = (count) => Array.from({ length: count }, (_, i) => i);

/** @param {Iterable<number>} values */
const ascending = (values) => [...values].sort((a, b) => a - b);

/**
 * A small generator of random numbers between 0 and 1 that gives the same ones for the same seed.
 * @param {number} seed
 */
function generator(seed) {
  let s = (seed * 2654435761) >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let v = Math.imul(s ^ (s >>> 15), 1 | s);
    v = (v + Math.imul(v ^ (v >>> 7), 61 | v)) ^ v;
    return ((v ^ (v >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * @template T
 * @param {T[]} values
 * @param {() => number} draw
 */
function shuffle(values, draw) {
  const shuffled = [...values];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled;
}

/**
 * @param {number} size
 * @param {number} count
 * @param {number} seed
 */
function randomElements(size, count, seed) {
  return ascending(shuffle(range(size), generator(seed)).slice(0, count));
}

/**
 * Elements from the highest to the lowest sum of |h| (activation) or of |h(t) - h(t+1)| (change).
 * @param {Measure} measure
 * @param {Float32Array} states
 * @param {number} size
 */
function rankElements(measure, states, size) {
  const steps = states.length / size;
  const score = new Float64Array(size);
  for (let t = 0; t < steps; t++)
    for (let i = 0; i < size; i++) {
      const now = states[t * size + i];
      if (measure === "activation") score[i] += Math.abs(now);
      else if (t + 1 < steps) score[i] += Math.abs(now - states[(t + 1) * size + i]);
    }
  return Array.from(score.keys()).sort((a, b) => score[b] - score[a]);
}

/**
 * Edits that ablate all elements but the remaining ones.
 * @param {Iterable<number>} remaining
 * @param {number} size
 * @param {AblationOptions} [options]
 * @returns {Edit[]}
 */
function ablateOthers(remaining, size, { op = "zero", value = 0, start = 0 } = {}) {
  const on = new Set(remaining);
  const off = range(size).filter((i) => !on.has(i));
  return off.length ? [{ elements: off, op, value, start, stop: null }] : [];
}

/**
 * Which attempt is better, for sorting: those that finish, with the fewest elements; then those that decide as
 * recorded most often or gather most, and last longest.
 * @param {Attempt} a
 * @param {Attempt} b
 */
function compareAttempts(a, b) {
  const merits = [a, b].map(({ run, remaining }) => {
    const done = run.outcome === "all items";
    const otherwise = run.outcome === "as recorded" ? -run.otherwise.length : 0;
    return [Number(done), done ? -remaining.size : 0, run.gathered, otherwise, run.length, -remaining.size];
  });
  const unequal = merits[0].findIndex((merit, i) => merit !== merits[1][i]);
  return unequal < 0 ? 0 : merits[1][unequal] - merits[0][unequal];
}

/**
 * Drop elements one by one, in many random orders, as long as the maze is still finished. With `sequences`, it must
 * also finish with other random numbers, at most one time in ten less often than full memory. `report` gets what was
 * found so far; when it answers false, the search stops.
 * @param {Simulator} simulator
 * @param {SearchOptions} options
 * @param {(progress: SearchProgress) => Promise<boolean>} report
 */
async function searchSmallest(simulator, { rounds, fromGrid, sequences }, report) {
  const { size } = simulator.network;
  const others = range(sequences).map((n) => otherDraws(simulator, n));
  const fails = (/** @type {Edit[]} */ edits, /** @type {Float64Array} */ draws) =>
    simulator.rollOut(edits, { fromGrid: true, draws }).outcome === "all items" ? 0 : 1;
  const allowed = others.reduce((sum, draws) => sum + fails([], draws), 0) + sequences / 10;
  let tried = 0;
  const finishes = (/** @type {number[]} */ remaining) => {
    tried += 1;
    const edits = ablateOthers(remaining, size);
    if (simulator.rollOut(edits, { fromGrid }).outcome !== "all items") return false;
    let failed = 0;
    return others.every((draws) => (failed += fails(edits, draws)) <= allowed);
  };
  let smallest = range(size);
  for (let round = 0; round < rounds; round++) {
    const draw = generator(round + 1);
    // Every other time the smallest so far is taken up again, with a few elements more.
    let now = round % 2 ? withOthers(smallest, size, round) : range(size);
    if (!finishes(now)) continue;
    for (let before = Infinity; now.length < before;) {
      before = now.length;
      for (const element of shuffle(now, draw)) {
        const fewer = now.filter((i) => i !== element);
        if (finishes(fewer)) now = fewer;
        if (now.length < smallest.length) smallest = now;
        if (!(await report({ smallest, now, tried, round }))) return smallest;
      }
    }
  }
  return smallest;
}

/**
 * @param {number[]} elements
 * @param {number} size
 * @param {number} seed
 */
function withOthers(elements, size, seed) {
  return ascending(new Set([...elements, ...randomElements(size, 6, seed * 31)]));
}

/**
 * @param {Simulator} simulator
 * @param {number} n
 */
function otherDraws({ maze, about }, n) {
  return Float64Array.from({ length: maze?.limit ?? about.steps }, generator(1000 + n));
}

/**
 * How rollouts fare under other random numbers than the recorded ones.
 * @param {Simulator} simulator
 * @param {Edit[]} edits
 * @param {number} times
 * @returns {Trials}
 */
function tryOtherDraws(simulator, edits, times) {
  const runs = range(times).map((n) =>
    simulator.rollOut(edits, { fromGrid: true, draws: otherDraws(simulator, 100 + n) }),
  );
  return {
    finished: runs.filter((run) => run.outcome === "all items").length,
    items: runs.reduce((sum, run) => sum + run.gathered, 0) / times,
    times,
  };
}
