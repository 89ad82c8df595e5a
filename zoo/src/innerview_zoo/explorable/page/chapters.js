// The chapters: what can be tried in each, and the numbers they show.

/** @returns {Promise<void>} */
const pause = () => new Promise((done) => setTimeout(done));

/** @param {About} about */
function fillFacts(about) {
  const { title, recording, episode, size, limit, subject, world, steps, items } = about;
  const values = { title, recording, episode, size, limit, subject, world, steps, itemCount: items.length };
  const facts = new Map(Object.entries(values));
  /** @type {NodeListOf<HTMLElement>} */
  const named = document.querySelectorAll("[data-fact]");
  for (const node of named) node.textContent = String(facts.get(node.dataset.fact ?? "") ?? "");
  const needed = about.grid ? "poses" : "recorded";
  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll("[data-needs]");
  for (const node of parts) node.hidden = node.dataset.needs !== needed;
  const between = (/** @type {number} */ i) => (i === 0 ? "" : i + 1 === items.length ? " and then " : ", ");
  $("itemNames").replaceChildren(...items.flatMap((_, i) => [between(i), itemMark(items, i)]));
}

const SHARES_OFF = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75];

/** Six agents that lost elements at random. */
class Samples {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.seed = 1;
    this.shown = this.#sample();
    $("others").addEventListener("click", () => {
      this.seed += SHARES_OFF.length;
      this.again();
    });
    stage.watchers.push(() => this.mark());
    stage.painters.push(() => this.paint());
    this.#show();
  }

  #sample() {
    const { stage, seed } = this;
    const { size, simulator, about } = stage;
    return SHARES_OFF.map((share, n) => {
      const remaining = randomElements(size, size - Math.round(size * share), seed + n);
      const run = simulator.rollOut(ablateOthers(remaining, size), { fromGrid: stage.fromGrid });
      const { short, good } = ending(run, about);
      const canvas = make("canvas");
      const count = make("b", { text: `${remaining.length} of ${size} left` });
      const result = make("span", { text: short, kind: good ? "good" : "bad" });
      const button = make("button", { type: "button" }, canvas, count, result);
      button.addEventListener("click", () => stage.choose(remaining, "at random"));
      return { remaining, run, canvas, button };
    });
  }

  /** Other samples, or the same on other terms. */
  again() {
    this.shown = this.#sample();
    this.#show();
  }

  #show() {
    $("samples").replaceChildren(...this.shown.map(({ button }) => button));
    this.paint();
    this.mark();
  }

  paint() {
    const hue = colour("yours");
    for (const { run, canvas } of this.shown) drawMap(canvas, this.stage.about, [{ run, hue }], { small: true });
  }

  mark() {
    const now = ascending(this.stage.remaining).join();
    for (const { remaining, button } of this.shown)
      button.setAttribute("aria-pressed", String(remaining.join() === now));
  }
}

const TRIALS = 10;

/** The top n by a ranking, for every n; where the page can play on, many times, as once may be an accident. */
class Busiest {
  /** @param {Stage} stage */
  constructor(stage) {
    const { size, full } = stage;
    this.stage = stage;
    /** @type {Measure} */
    this.measure = "activation";
    this.chosen = Math.round(size / 2);
    /** @type {Record<Measure, CurvePoint[]>} */
    this.points = { activation: [], change: [] };
    this.orders = {
      activation: rankElements("activation", full.states, size),
      change: rankElements("change", full.states, size),
    };
    stage.painters.push(() => this.paint());
    this.#wire();
  }

  #wire() {
    const { size } = this.stage;
    const [slider, curve] = [$("top"), $("curve")];
    slider.max = String(size);
    slider.value = String(this.chosen);
    slider.addEventListener("input", () => this.pick(Number(slider.value)));
    curve.addEventListener("click", (event) => {
      this.pick(Math.min(size, Math.floor(shareOf(event, curve)[0] * (size + 1))));
    });
    for (const radio of radios("rank"))
      radio.addEventListener("change", () => {
        this.measure = radio.value === "change" ? "change" : "activation";
        this.pick(this.chosen);
        this.compute();
      });
  }

  /** @param {number} count */
  pick(count) {
    this.chosen = count;
    $("top").value = String(count);
    const words = this.measure === "activation" ? "most active" : "most changing";
    this.stage.choose(this.orders[this.measure].slice(0, count), `${count} ${words}`);
    this.paint();
  }

  /** Fill the curve of the measure, unless another one is asked for meanwhile. */
  async compute() {
    const { measure } = this;
    const points = this.points[measure];
    while (measure === this.measure && points.length <= this.stage.size) {
      points.push(this.#point(this.orders[measure].slice(0, points.length)));
      this.paint();
      await pause();
    }
  }

  /**
   * @param {number[]} remaining
   * @returns {CurvePoint}
   */
  #point(remaining) {
    const { simulator, size, about } = this.stage;
    const edits = ablateOthers(remaining, size);
    if (simulator.canPlayOn) {
      const { finished, items } = tryOtherDraws(simulator, edits, TRIALS);
      return { share: items / about.items.length, good: finished >= 0.9 * TRIALS };
    }
    const { otherwise } = simulator.rollOut(edits);
    return { share: 1 - otherwise.length / about.steps, good: otherwise.length === 0 };
  }

  paint() {
    const { measure, chosen } = this;
    const { size } = this.stage;
    drawCurve($("curve"), { points: this.points[measure], size, chosen });
    $("topSaid").textContent = `top ${chosen} of ${size}`;
    $("curveSaid").textContent = `Across: how many elements are kept. Height: ${this.#words(this.points[measure])}`;
  }

  /** @param {CurvePoint[]} points */
  #words(points) {
    if (!this.stage.simulator.canPlayOn) return "share of steps decided as recorded.";
    const words = `things gathered on average over ${TRIALS} plays with different luck; green where nine of ten finish.`;
    const fewest = points.findIndex((point) => point.good);
    return points.length <= this.stage.size || fewest < 0 ? words : `${words} The fewest that do: ${fewest}.`;
  }
}

const MAX_ATTEMPTS = 8;

/** Buttons for elements, saved reductions, and a list of what was tried. */
class ByHand {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {Map<string, Attempt>} */
    this.attempts = new Map();
    const { size, full } = stage;
    const activity = range(size).map((i) => {
      let sum = 0;
      for (let t = 0; t < full.length; t++) sum += Math.abs(full.states[t * size + i]);
      return sum / full.length;
    });
    this.buttons = elementButtons($("elements"), activity, (i) => stage.toggle(i));
    $("allOn").addEventListener("click", () => stage.choose(range(size), ""));
    $("allOff").addEventListener("click", () => stage.choose([], "by hand"));
    $("flip").addEventListener("click", () => {
      const off = range(size).filter((i) => !stage.remaining.has(i));
      stage.choose(off, "by hand");
    });
    $("back").addEventListener("click", () => stage.undo());
    this.#wireOptions();
    this.#offerReductions();
    stage.watchers.push(() => this.show());
    this.show();
  }

  #wireOptions() {
    const [mode, value, start] = [$("mode"), $("value"), $("start")];
    const read = () => {
      const op = mode.value === "freeze" || mode.value === "set" ? mode.value : "zero";
      value.hidden = op !== "set";
      this.stage.setOptions({ op, value: Number(value.value) || 0, start: Math.max(0, Number(start.value) || 0) });
    };
    for (const node of [mode, value, start]) node.addEventListener("change", read);
  }

  #offerReductions() {
    const { stage } = this;
    const buttons = stage.about.reductions.map(({ name, note, edits }) => {
      const button = make("button", { type: "button", text: name, title: note });
      const off = new Set(edits.flatMap(({ elements }) => elements));
      const remaining = range(stage.size).filter((i) => !off.has(i));
      button.addEventListener("click", () => stage.choose(remaining, name, edits));
      return button;
    });
    if (buttons.length) $("savedReductions").replaceChildren("Saved in the study:", ...buttons);
  }

  show() {
    const { stage, buttons } = this;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(stage.remaining.has(i))));
    $("back").disabled = stage.past.length === 0;
    if (stage.remaining.size < stage.size) this.#remember();
  }

  #remember() {
    const { stage, attempts } = this;
    const key = JSON.stringify([stage.edits, stage.fromGrid]);
    if (!attempts.has(key)) attempts.set(key, { ...stage.choice, run: stage.yours });
    const best = [...attempts.values()].sort(compareAttempts).slice(0, MAX_ATTEMPTS);
    const heads = ["kept", "chosen", "result", ""].map((text) => make("th", { text, scope: "col" }));
    const table = $("attempts");
    table.hidden = false;
    table.tHead?.replaceChildren(make("tr", {}, ...heads));
    table.tBodies[0].replaceChildren(...best.map((attempt) => this.#row(attempt)));
  }

  /** @param {Attempt} attempt */
  #row({ remaining, reason, edits, run }) {
    const { stage } = this;
    const again = make("button", { type: "button", text: "show" });
    again.addEventListener("click", () => stage.choose(remaining, reason, edits));
    const { short, good } = ending(run, stage.about);
    return make(
      "tr",
      {},
      make("td", { text: String(remaining.size) }),
      make("td", { text: reason }),
      make("td", { text: short, kind: good ? "good" : "bad" }),
      make("td", {}, again),
    );
  }
}

const SEARCH_ROUNDS = 24;
const SEQUENCES = 10;
const REPORT_MS = 40;

/** Looking for the smallest memory. */
class Search {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.state = /** @type {"idle" | "running" | "stopping"} */ ("idle");
    this.reported = 0;
    $("search").addEventListener("click", () => {
      if (this.state === "idle") this.#run();
      else this.state = "stopping";
    });
  }

  async #run() {
    const { stage } = this;
    this.state = "running";
    $("search").textContent = "Stop";
    const options = {
      rounds: SEARCH_ROUNDS,
      fromGrid: stage.fromGrid,
      sequences: $("anyLuck").checked ? SEQUENCES : 0,
    };
    const smallest = await searchSmallest(stage.simulator, options, (progress) => this.#report(progress));
    this.state = "idle";
    $("search").textContent = "Search again";
    const fewer = smallest.length < stage.size;
    if (fewer) stage.choose(smallest, options.sequences ? "found, for any luck" : "found by the page");
    $("found").textContent = fewer
      ? `With ${many(smallest.length, "element", "elements")} (${smallest.join(", ")}) it still finishes. Can you do with fewer?`
      : "Nothing could be dropped.";
  }

  /** @param {SearchProgress} progress */
  async #report({ smallest, now, tried, round }) {
    if (performance.now() - this.reported >= REPORT_MS) {
      const pass = `pass ${round + 1} of ${SEARCH_ROUNDS}, ${tried} memories tried`;
      $("searched").textContent = `${pass}: now at ${now.length}, smallest ${smallest.length}`;
      await pause();
      this.reported = performance.now();
    }
    return this.state === "running";
  }
}

const LUCK_TRIALS = 40;

/**
 * Whether a memory that was found is mere luck.
 * @param {Stage} stage
 */
function wireLuck(stage) {
  const words = (/** @type {Trials} */ { finished, items, times }) =>
    `${finished} of ${times} finish, ${items.toFixed(1)} things on average`;
  $("luck").addEventListener("click", async () => {
    const { edits } = stage;
    $("lucky").textContent = "playing…";
    await pause();
    const full = tryOtherDraws(stage.simulator, [], LUCK_TRIALS);
    await pause();
    const yours = tryOtherDraws(stage.simulator, edits, LUCK_TRIALS);
    $("lucky").textContent = `Yours: ${words(yours)}. Full memory: ${words(full)}.`;
  });
}
