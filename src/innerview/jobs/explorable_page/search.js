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
function onlyKeep(kept, size, { mode = 'zero', value = 0, start = 0 } = {}) {
  const keep = new Set(kept);
  const off = Array.from({ length: size }, (_, i) => i).filter((i) => !keep.has(i));
  return off.length ? [{ elements: off, mode, value, start, stop: null }] : [];
}

/** How good a run is: finished first, then items, then late failure or early success. */
function merit(run, limit) {
  const done = run.outcome === 'all items';
  return (done ? 1000 : 0) + run.gathered * 100 + (done ? 1 - run.length / limit : run.length / limit);
}

/**
 * Drop elements one by one as long as the maze is still finished, the least missed first; several random orders.
 * `tell` is called with the best so far; returning false stops the search.
 */
async function searchSmallest(theatre, options, tell) {
  const size = theatre.network.size;
  let best = Array.from({ length: size }, (_, i) => i);
  let tried = 0;
  for (let round = 0; round < options.rounds; round++) {
    let kept = best.length === size || round % 2 === 0 ? Array.from({ length: size }, (_, i) => i) : [...best];
    if (round % 2 === 1) kept = withSome(kept, size, round);
    const draw = luck(round + 1);
    let waiting = [...kept].sort(() => draw() - 0.5);
    while (waiting.length) {
      const without = waiting.shift();
      const fewer = kept.filter((i) => i !== without);
      const run = theatre.play(onlyKeep(fewer, size), options);
      tried += 1;
      if (run.outcome === 'all items') kept = fewer;
      if (tried % 4 === 0 && !(await tell({ best, kept, tried, round }))) return best;
    }
    const finishes = theatre.play(onlyKeep(kept, size), options).outcome === 'all items';
    if (finishes && kept.length < best.length) best = kept;
    if (!(await tell({ best, kept, tried, round }))) return best;
  }
  return best;
}

function withSome(kept, size, seed) {
  const more = randomElements(size, 4, seed * 31).filter((i) => !kept.includes(i));
  return [...kept, ...more].sort((a, b) => a - b);
}

/** Shares of runs that finish under other random numbers than the recorded ones. */
function tryLuck(theatre, edits, times) {
  const found = { finished: 0, items: 0, times };
  for (let n = 0; n < times; n++) {
    const draw = luck(1000 + n);
    const draws = Float64Array.from({ length: theatre.about.limit }, draw);
    const run = theatre.play(edits, { fromGrid: true, draws });
    found.finished += run.outcome === 'all items' ? 1 : 0;
    found.items += run.gathered / times;
  }
  return found;
}
