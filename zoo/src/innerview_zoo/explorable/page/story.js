// The chapters: what can be tried in each, and the numbers they tell.

const pause = () => new Promise((done) => setTimeout(done));

function fillFacts({ about }) {
  const facts = { ...about, itemCount: about.items.length, episode: about.episode };
  for (const node of document.querySelectorAll('[data-fact]')) node.textContent = String(facts[node.dataset.fact] ?? '');
  const canPlayOn = about.grid !== null;
  for (const node of document.querySelectorAll('[data-needs]')) node.hidden = (node.dataset.needs === 'poses') !== canPlayOn;
  const names = about.items.map((_, i) => itemMark(about.items, i));
  $('itemNames').replaceChildren(...names.flatMap((node, i) => (i ? [i + 1 === names.length ? ' and then ' : ', ', node] : [node])));
}

/** Six agents that lost elements at random. */
class Samples {
  constructor(bench) {
    this.bench = bench;
    this.draw = 1;
    $('others').addEventListener('click', () => {
      this.draw += 6;
      this.show();
    });
    bench.watchers.push(() => this.mark());
  }

  show() {
    const { bench, draw } = this;
    const { size, theatre, about } = bench;
    this.shown = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75].map((share, n) => {
      const kept = randomElements(size, size - Math.round(size * share), draw + n);
      const run = theatre.play(onlyKeep(kept, size), { fromGrid: bench.fromGrid });
      const { short, good } = ending(run, about);
      const canvas = make('canvas');
      const words = [make('b', { text: `${kept.length} of ${size} left` }), make('span', { text: short, kind: good ? 'good' : 'bad' })];
      const button = make('button', { type: 'button' }, canvas, ...words);
      button.addEventListener('click', () => bench.choose(kept, 'at random'));
      return { kept, run, canvas, button };
    });
    $('samples').replaceChildren(...this.shown.map(({ button }) => button));
    this.paint();
    this.mark();
  }

  paint() {
    for (const { run, canvas } of this.shown ?? []) drawMap(canvas, this.bench.page, [{ run, hue: colour('yours') }], { small: true });
  }

  mark() {
    const now = [...this.bench.kept].sort((a, b) => a - b).join();
    for (const { kept, button } of this.shown ?? []) button.setAttribute('aria-pressed', String(kept.join() === now));
  }
}

const PLAYS = 10;

/** The top n by a ranking, for every n; where the page can play on, with several lucks, as one may be an accident. */
class Busiest {
  constructor(bench) {
    this.bench = bench;
    this.measure = 'activation';
    this.chosen = Math.round(bench.size / 2);
    this.runs = { activation: [], change: [] };
    this.orders = Object.fromEntries(['activation', 'change'].map((m) => [m, orderBy(m, bench.full.states, bench.size)]));
    $('top').max = String(bench.size);
    $('top').value = String(this.chosen);
    $('top').addEventListener('input', (event) => this.pick(Number(event.target.value)));
    $('curve').addEventListener('click', (event) => {
      this.pick(Math.min(bench.size, Math.floor((event.offsetX / event.target.clientWidth) * (bench.size + 1))));
    });
    for (const radio of document.querySelectorAll('[name=rank]'))
      radio.addEventListener('change', () => {
        this.measure = radio.value;
        this.pick(this.chosen);
        this.compute();
      });
  }

  pick(count) {
    this.chosen = count;
    $('top').value = String(count);
    const words = this.measure === 'activation' ? 'most active' : 'most changing';
    this.bench.choose(this.orders[this.measure].slice(0, count), `${count} ${words}`);
    this.paint();
  }

  async compute() {
    const { bench, measure } = this;
    const runs = this.runs[measure];
    if (runs.length === bench.size + 1) return;
    const { theatre, size } = bench;
    for (let n = 0; n <= size; n++) {
      const edits = onlyKeep(this.orders[measure].slice(0, n), size);
      if (theatre.canPlayOn) {
        const { finished, items } = tryLuck(theatre, edits, PLAYS);
        runs[n] = { share: items / bench.about.items.length, good: finished >= 0.9 * PLAYS };
      } else {
        const { otherwise } = theatre.play(edits);
        runs[n] = { share: 1 - otherwise.length / bench.about.steps, good: otherwise.length === 0 };
      }
      if (measure !== this.measure) {
        runs.length = 0; // begun again when it is asked for again
        return;
      }
      this.paint();
      await pause();
    }
  }

  paint() {
    const { bench, measure, chosen } = this;
    const { size } = bench;
    const runs = this.runs[measure];
    drawCurve($('curve'), { runs, size, chosen });
    $('topSaid').textContent = `top ${chosen} of ${size}`;
    $('curveSaid').textContent = `Across: how many elements are kept. Height: ${this.#words(runs)}`;
  }

  #words(runs) {
    if (!this.bench.theatre.canPlayOn) return 'share of steps decided as recorded.';
    const words = `things gathered on average over ${PLAYS} plays with different luck; green where nine of ten finish.`;
    const fewest = runs.findIndex((run) => run?.good);
    return runs.length <= this.bench.size || fewest < 0 ? words : `${words} The fewest that do: ${fewest}.`;
  }
}

/** Buttons for elements, kept reductions, and a list of what was tried. */
class ByHand {
  constructor(bench) {
    this.bench = bench;
    this.tried = new Map();
    const { size, full } = bench;
    const busy = Array.from({ length: size }, (_, i) => {
      let sum = 0;
      for (let t = 0; t < full.length; t++) sum += Math.abs(full.states[t * size + i]);
      return sum / full.length;
    });
    this.buttons = elementButtons($('elements'), size, busy, (i) => bench.toggle(i));
    const all = this.buttons.map((_, i) => i);
    $('allOn').addEventListener('click', () => bench.choose(all, ''));
    $('allOff').addEventListener('click', () => bench.choose([], 'by hand'));
    $('flip').addEventListener('click', () => bench.choose(all.filter((i) => !bench.kept.has(i)), 'by hand'));
    $('back').addEventListener('click', () => bench.undo());
    this.#wireOptions();
    this.#offerReductions();
    bench.watchers.push(() => this.show());
  }

  #wireOptions() {
    const { bench } = this;
    const read = () => {
      bench.options = { op: $('mode').value, value: Number($('value').value) || 0, start: Math.max(0, Number($('start').value) || 0) };
      $('value').hidden = $('mode').value !== 'set';
      bench.edits = null;
      bench.again();
    };
    for (const id of ['mode', 'value', 'start']) $(id).addEventListener('change', read);
  }

  #offerReductions() {
    const { bench } = this;
    const buttons = bench.about.reductions.map(({ name, note, edits }) => {
      const button = make('button', { type: 'button', text: name, title: note });
      const off = new Set(edits.flatMap(({ elements }) => elements));
      const kept = Array.from({ length: bench.size }, (_, i) => i).filter((i) => !off.has(i));
      button.addEventListener('click', () => bench.choose(kept, name, edits));
      return button;
    });
    if (buttons.length) $('keptReductions').replaceChildren('Kept in the study:', ...buttons);
  }

  show() {
    const { bench, buttons } = this;
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(bench.kept.has(i))));
    $('back').disabled = bench.past.length === 0;
    if (bench.kept.size < bench.size) this.#remember();
  }

  #remember() {
    const { bench, tried } = this;
    const key = JSON.stringify([bench.changes, bench.fromGrid]);
    if (!tried.has(key)) tried.set(key, { kept: new Set(bench.kept), why: bench.why, edits: bench.edits, run: bench.yours });
    const best = [...tried.values()]
      .sort((a, b) => merit(b.run, 1e4) - merit(a.run, 1e4) || a.kept.size - b.kept.size)
      .sort((a, b) => (a.run.outcome === 'all items' && b.run.outcome === 'all items' ? a.kept.size - b.kept.size : 0))
      .slice(0, 8);
    const rows = best.map(({ kept, why, edits, run }) => {
      const again = make('button', { type: 'button', text: 'show' });
      again.addEventListener('click', () => bench.choose(kept, why, edits));
      const { short, good } = ending(run, bench.about);
      const cells = [make('td', { text: String(kept.size) }), make('td', { text: why }), make('td', { text: short, kind: good ? 'good' : 'bad' }), make('td', {}, again)];
      return make('tr', {}, ...cells);
    });
    $('attempts').hidden = false;
    const heads = ['kept', 'chosen', 'result', ''].map((text) => make('th', { text, scope: 'col' }));
    $('attempts').querySelector('thead').replaceChildren(make('tr', {}, ...heads));
    $('attempts').querySelector('tbody').replaceChildren(...rows);
  }
}

/** Looking for the smallest memory, and whether it was mere luck. */
function wireSearch(bench) {
  let running = false;
  let shown = 0;
  const rounds = 24;
  const tell = async ({ best, kept, tried, round }) => {
    if (performance.now() - shown < 40) return running;
    $('searched').textContent = `pass ${round + 1} of ${rounds}, ${tried} memories tried: now at ${kept.length}, smallest ${best.length}`;
    await pause();
    shown = performance.now();
    return running;
  };
  $('search').addEventListener('click', async () => {
    running = !running;
    if (!running) return;
    $('search').textContent = 'Stop';
    const lucks = $('anyLuck').checked ? 10 : 0;
    const best = await searchSmallest(bench.theatre, { rounds, fromGrid: bench.fromGrid, lucks }, tell);
    running = false;
    $('search').textContent = 'Search again';
    const found = best.length < bench.size;
    if (found) bench.choose(best, lucks ? 'found, for any luck' : 'found by the page');
    $('found').textContent = found
      ? `With ${many(best.length, 'element', 'elements')} (${best.join(', ')}) it still finishes. Can you do with fewer?`
      : 'Nothing could be dropped.';
  });
  $('luck').addEventListener('click', async () => {
    $('lucky').textContent = 'playing…';
    await pause();
    const all = tryLuck(bench.theatre, [], 40);
    await pause();
    const own = tryLuck(bench.theatre, bench.changes, 40);
    const words = ({ finished, items, times }) => `${finished} of ${times} finish, ${items.toFixed(1)} things on average`;
    $('lucky').textContent = `Yours: ${words(own)}. Full memory: ${words(all)}.`;
  });
}
