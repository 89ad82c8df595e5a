// How far the page can be trusted, measured in the page itself.

/** The largest difference between the recorded states and those computed here. */
function agreement(theatre) {
  const { states } = theatre.play([]);
  let worst = 0;
  for (let i = 0; i < states.length; i++) worst = Math.max(worst, Math.abs(states[i] - theatre.arrays.memory[i]));
  return worst;
}

/**
 * By recorded step: how far the mixture of known views is from the view itself, over how far views are apart; each
 * number weighed by how much it changes the memory.
 */
function featureGaps({ poses, arrays, about, wide }) {
  const mean = new Float64Array(wide);
  for (let t = 0; t < about.steps; t++) for (let g = 0; g < wide; g++) mean[g] += arrays.gates[t * wide + g] / about.steps;
  let spread = 0;
  const off = new Float32Array(about.steps);
  for (let t = 0; t < about.steps; t++) {
    poses.at(arrays.x[t], arrays.y[t], arrays.angle[t], Math.min(arrays.gathered[t], about.grid.states - 1));
    for (let g = 0; g < wide; g++) {
      const value = arrays.gates[t * wide + g];
      off[t] += (arrays.matters[g] * (value - poses.out[g])) ** 2;
      spread += (arrays.matters[g] * (value - mean[g])) ** 2 / about.steps;
    }
  }
  return off.map((value) => Math.sqrt(value / (spread || 1)));
}

/** Distance from the recorded place after each step, walking by the recorded actions with this page's legs. */
function walkGaps({ arrays, about }) {
  const start = { x: arrays.x[0], y: arrays.y[0], angle: arrays.angle[0] };
  const mover = new Mover(about.walls, start, { asleep: 7 });
  const gaps = new Float32Array(about.steps);
  for (let t = 0; t + 1 < about.steps; t++) {
    mover.step(about.buttons[arrays.actions[t]], () => false);
    gaps[t + 1] = Math.hypot(mover.x - arrays.x[t + 1], mover.y - arrays.y[t + 1]);
  }
  return gaps;
}

/** Distance between two ways, step by step, as long as both last. */
function wayGap(a, b) {
  const steps = Math.min(a.x.length, b.x.length);
  let sum = 0;
  for (let t = 0; t < steps; t++) sum += Math.hypot(a.x[t] - b.x[t], a.y[t] - b.y[t]) / steps;
  return sum;
}

function tellHonestly(bench) {
  const { theatre, about } = bench;
  const told = { agreement: agreement(theatre) };
  $('agreement').textContent = told.agreement.toExponential(1);
  if (!theatre.canPlayOn) return told;
  const gaps = featureGaps(theatre);
  bench.gaps = gaps;
  told.features = gaps.reduce((a, b) => a + b, 0) / gaps.length;
  const walk = walkGaps(theatre);
  told.walk = walk.at(-1);
  told.usually = Float32Array.from(walk).sort()[walk.length >> 1];
  told.walks = Array.from(walk);
  const control = theatre.play([], { fromGrid: true });
  told.way = wayGap(control, theatre.recorded);
  told.control = { outcome: control.outcome, gathered: control.gathered, length: control.length };
  $('poseCount').textContent = (bench.poses.length * about.grid.headings).toLocaleString('en');
  $('featureGap').textContent = `${Math.round(100 * told.features)} %`;
  $('walkUsually').textContent = told.usually.toFixed(1);
  $('walkGap').textContent = told.walk.toFixed(0);
  $('mazeWide').textContent = String(Math.round(Math.max(...about.walls.map((w) => w[0]))));
  $('gridFull').textContent = `it ${ending(control, about).text}, on average ${Math.round(told.way)} map units from where the recorded one was at that step.`;
  return told;
}

function wireTheme(bench) {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const set = (on) => {
    document.documentElement.dataset.theme = on ? 'dark' : 'light';
    bench()?.repaint();
  };
  set(dark.matches);
  dark.addEventListener('change', () => set(dark.matches));
  $('theme').addEventListener('click', () => set(document.documentElement.dataset.theme !== 'dark'));
}

function wireStory(bench) {
  const [samples, busiest, hand] = [new Samples(bench), new Busiest(bench), new ByHand(bench)];
  bench.repaint = () => {
    bench.draw();
    samples.paint();
    busiest.paint();
    showLegend($('legend'), { actions: bench.about.actions, canPlayOn: bench.theatre.canPlayOn });
  };
  window.addEventListener('resize', () => bench.repaint());
  for (const radio of document.querySelectorAll('[name=order]')) radio.addEventListener('change', () => bench.orderBy(radio.value));
  $('watch').addEventListener('click', () => {
    bench.choose(Array.from({ length: bench.size }, (_, i) => i), '');
    bench.go(0);
    bench.play(true);
  });
  $('fromGrid').addEventListener('change', (event) => {
    bench.fromGrid = event.target.checked;
    bench.again();
    samples.show();
  });
  $('showPoses').addEventListener('change', (event) => {
    bench.showPoses = event.target.checked;
    bench.draw();
  });
  if (bench.theatre.canPlayOn) wireSearch(bench);
  samples.show();
  hand.show();
  return busiest;
}

async function open() {
  let bench = null;
  wireTheme(() => bench);
  const page = await readPage();
  fillFacts(page);
  document.querySelector('main').hidden = false;
  $('waiting').remove();
  bench = new Bench(page, new Theatre(page));
  const busiest = wireStory(bench);
  bench.fromAddress();
  bench.repaint();
  const told = tellHonestly(bench);
  bench.draw();
  // For those who check the page from outside: what it computed, and a way to play any edits.
  window.explorable = { told, play: (edits, options) => bench.theatre.play(edits, options), bench };
  document.documentElement.dataset.ready = 'yes';
  await busiest.compute();
}

open().catch((error) => {
  const waiting = $('waiting') ?? document.body.appendChild(make('p', { id: 'waiting' }));
  waiting.textContent = `This page could not be opened: ${error.message}. It needs a browser from 2023 or later.`;
  throw error;
});
