// Ways to choose elements: at random, by how busy they are, and by trying.

/** A small generator of random numbers between 0 and 1 that gives the same ones for the same seed. */
function luck(seed) {
  let s = (seed * 2654435761) >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let v = Math.imul(s ^ (s >>> 15), 1 | s);
    v = (v + Math.imul(v ^ (v >>> 7), 61 | v)) ^ v;
    return ((v ^ (v >>> 14)) >>> 0) / 4294967296;
  };
}

function randomElements(size, count, seed) {
  const draw = luck(seed);
  const all = Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all.slice(0, count).sort((a, b) => a - b);
}

/** Elements from most to least: sum of |h| (activation) or of |h(t) - h(t+1)| (change). */
function orderBy(measure, states, size) {
  const steps = states.length / size;
  const score = new Float64Array(size);
  for (let t = 0; t < steps; t++)
    for (let i = 0; i < size; i++) {
      const now = states[t * size + i];
      if (measure === 'activation') score[i] += Math.abs(now);
      else if (t + 1 < steps) score[i] += Math.abs(now - states[(t + 1) * size + i]);
    }
  return Array.from(score.keys()).sort((a, b) => score[b] - score[a]);
}

/** Edits that leave only some elements alive. */
function onlyKeep(kept, size, { op = 'zero', value = 0, start = 0 } = {}) {
  const keep = new Set(kept);
  const off = Array.from({ length: size }, (_, i) => i).filter((i) => !keep.has(i));
  return off.length ? [{ elements: off, op, value, start, stop: null }] : [];
}

/** How good a run is: finished first, then items, then late failure or early success. */
function merit(run, limit) {
  const done = run.outcome === 'all items';
  return (done ? 1000 : 0) + run.gathered * 100 + (done ? 1 - run.length / limit : run.length / limit);
}

/**
 * Drop elements one by one, in many random orders, as long as the maze is still finished. With `lucks`, it must also
 * finish with other random numbers, at most one time in ten less often than full memory. `tell` is called with the best
 * so far; returning false stops the search.
 */
async function searchSmallest(theatre, { rounds, fromGrid, lucks = 0 }, tell) {
  const size = theatre.network.size;
  const all = Array.from({ length: size }, (_, i) => i);
  const others = Array.from({ length: lucks }, (_, n) => otherDraws(theatre, n));
  const fails = (edits, draws) => (theatre.play(edits, { fromGrid: true, draws }).outcome === 'all items' ? 0 : 1);
  const allowed = others.reduce((sum, draws) => sum + fails([], draws), 0) + lucks / 10;
  let tried = 0;
  const finishes = (kept) => {
    tried += 1;
    const edits = onlyKeep(kept, size);
    if (theatre.play(edits, { fromGrid }).outcome !== 'all items') return false;
    let failed = 0;
    for (const draws of others) {
      failed += fails(edits, draws);
      if (failed > allowed) return false;
    }
    return true;
  };
  let best = all;
  for (let round = 0; round < rounds; round++) {
    const draw = luck(round + 1);
    // Every other time the best so far is taken up again, with a few elements more.
    let kept = round % 2 ? withSome(best, size, round) : all;
    if (!finishes(kept)) continue;
    for (let before = Infinity; kept.length < before; ) {
      before = kept.length;
      for (const without of [...kept].sort(() => draw() - 0.5)) {
        const fewer = kept.filter((i) => i !== without);
        if (finishes(fewer)) kept = fewer;
        if (!(await tell({ best, kept, tried, round }))) return best;
      }
    }
    if (kept.length < best.length) best = kept;
  }
  return best;
}

function withSome(kept, size, seed) {
  const more = randomElements(size, 6, seed * 31).filter((i) => !kept.includes(i));
  return [...kept, ...more].sort((a, b) => a - b);
}

function otherDraws(theatre, n) {
  return Float64Array.from({ length: theatre.about.limit }, luck(1000 + n));
}

/** How many runs finish under other random numbers than the recorded ones, from the `first` sequence of them on. */
function tryLuck(theatre, edits, times, first = 100) {
  const found = { finished: 0, items: 0, times };
  for (let n = 0; n < times; n++) {
    const run = theatre.play(edits, { fromGrid: true, draws: otherDraws(theatre, first + n) });
    found.finished += run.outcome === 'all items' ? 1 : 0;
    found.items += run.gathered / times;
  }
  return found;
}
