// The stage: which elements remain, the rollout that gives, and the views that follow one shared moment.

const FRAME_MS = 60;

class Stage {
  /**
   * @param {PageData} page
   * @param {Simulator} simulator
   */
  constructor(page, simulator) {
    this.about = page.about;
    this.simulator = simulator;
    this.size = page.about.size;
    this.full = simulator.recorded;
    /** @type {Choice} */
    this.choice = { remaining: new Set(range(this.size)), reason: "", edits: null };
    /** @type {Choice[]} */
    this.past = [];
    /** @type {AblationOptions} */
    this.options = { op: "zero", value: 0.5, start: 0 };
    this.fromGrid = false;
    this.showPoses = false;
    this.order = range(this.size);
    this.moment = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {Float32Array | null} */
    this.gaps = null;
    /** @type {(() => void)[]} Called when another rollout is on the stage. */
    this.watchers = [];
    /** @type {(() => void)[]} Called when all that is drawn must be drawn anew. */
    this.painters = [() => this.draw()];
    this.view = new ObservationView(page);
    this.poses = simulator.maze?.grid.standing() ?? null;
    this.yours = this.#rollOut();
    this.#wire();
  }

  get remaining() {
    return this.choice.remaining;
  }

  /** What is done to the memory now. */
  get edits() {
    return this.choice.edits ?? ablateOthers(this.remaining, this.size, this.options);
  }

  /** Of the longer rollout. */
  get steps() {
    return Math.max(this.full.length, this.yours.length);
  }

  #rollOut() {
    return this.simulator.rollOut(this.edits, { fromGrid: this.fromGrid });
  }

  /**
   * Let these elements remain and play again. `edits` replace mere switching off.
   * @param {Iterable<number>} remaining
   * @param {string} reason
   * @param {Edit[] | null} [edits]
   */
  choose(remaining, reason, edits = null) {
    this.past.push(this.choice);
    this.choice = { remaining: new Set(remaining), reason, edits };
    this.again();
  }

  undo() {
    const before = this.past.pop();
    if (!before) return;
    this.choice = before;
    this.again();
  }

  /** @param {number} element */
  toggle(element) {
    const remaining = new Set(this.remaining);
    if (!remaining.delete(element)) remaining.add(element);
    this.choose(remaining, "by hand");
  }

  /** @param {AblationOptions} options */
  setOptions(options) {
    this.options = options;
    this.choice = { ...this.choice, edits: null };
    this.again();
  }

  /** Play again with what is chosen now. */
  again() {
    this.yours = this.#rollOut();
    const words = ascending(this.remaining).join(",");
    history.replaceState(null, "", this.remaining.size === this.size ? "#" : `#keep=${words}`);
    this.moment = Math.min(this.moment, this.steps - 1);
    this.draw();
    for (const watcher of this.watchers) watcher();
  }

  /** Elements in the address, where somebody shared one. */
  readAddress() {
    const match = /^#keep=([\d,]*)$/.exec(location.hash);
    if (!match) return;
    const elements = match[1].split(",").filter(Boolean).map(Number);
    const remaining = elements.filter((i) => i < this.size);
    this.choose(remaining, "from the link");
  }

  /** @param {Measure | "asis"} measure */
  sortRows(measure) {
    this.order = measure === "asis" ? range(this.size) : rankElements(measure, this.full.states, this.size);
    this.draw();
  }

  /** @param {number} moment */
  go(moment) {
    this.moment = Math.max(0, Math.min(this.steps - 1, moment));
    this.draw();
  }

  play(on = this.timer === undefined) {
    clearInterval(this.timer);
    this.timer = undefined;
    if (on) {
      if (this.moment >= this.steps - 1) this.moment = 0;
      this.timer = setInterval(() => {
        if (this.moment >= this.steps - 1) this.play(false);
        else this.go(this.moment + 1);
      }, FRAME_MS);
    }
    $("play").textContent = on ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }

  /** Draw the stage and the chapters. */
  repaint() {
    for (const paint of this.painters) paint();
  }

  draw() {
    const { full, yours, moment, size, order, steps, about, remaining, gaps } = this;
    const { actions, items } = about;
    showEnding($("saidFull"), full, about);
    showEnding($("saidYours"), yours, about);
    $("namedYours").textContent = `${remaining.size} of ${size}`;
    const ways = [
      { run: full, hue: colour("full"), wide: 5 },
      { run: yours, hue: colour("yours") },
    ];
    drawMap($("map"), about, ways, { moment, poses: this.showPoses ? this.poses : null });
    drawHeat($("heatFull"), full, { size, order, steps, moment });
    drawHeat($("heatYours"), yours, { size, order, steps, moment, remaining });
    const { canPlayOn } = this.simulator;
    drawStrips($("strips"), { full, yours, steps, moment, items, canPlayOn, gaps });
    showPolicy($("policy"), { full, yours, moment, actions });
    $("seenFrom").textContent = this.view.draw($("view"), yours, moment);
    $("moment").max = String(steps - 1);
    $("moment").value = String(moment);
    $("now").textContent = `step ${moment + 1} of ${steps}`;
    $("mapSaid").textContent = this.#mapWords();
  }

  #mapWords() {
    const { yours } = this;
    if (!this.simulator.canPlayOn) return yours.otherwise.length ? "Dots: where it would decide otherwise." : "";
    if (yours.divergence >= yours.length) return "Every decision is the recorded one: nothing had to be filled in.";
    const where = yours.divergence === 0 ? "From the first step on" : `From step ${yours.divergence + 1} on (ring)`;
    return `${where} the page fills in what it sees: dotted, and a good guess.`;
  }

  #wire() {
    const heat = $("heatYours");
    $("play").addEventListener("click", () => this.play());
    $("moment").addEventListener("input", () => this.go(Number($("moment").value)));
    heat.addEventListener("click", (event) => this.toggle(this.#elementAt(event, heat)));
    heat.addEventListener("mousemove", (event) => {
      heat.title = `element ${this.#elementAt(event, heat)}`;
    });
    for (const canvas of [$("heatFull"), $("strips")])
      canvas.addEventListener("click", (event) => this.go(Math.floor(shareOf(event, canvas)[0] * this.steps)));
    document.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe($("stage"));
    window.addEventListener("resize", () => this.repaint());
    this.view.ready.then(() => this.draw());
  }

  /**
   * @param {MouseEvent} event
   * @param {HTMLCanvasElement} heat
   */
  #elementAt(event, heat) {
    const row = Math.floor(shareOf(event, heat)[1] * this.size);
    return this.order[Math.min(this.size - 1, Math.max(0, row))];
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.target instanceof Element && event.target.closest("input, select, button, summary")) return;
    const by = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowRight") this.go(this.moment + by);
    else if (event.key === "ArrowLeft") this.go(this.moment - by);
    else if (event.key === " ") this.play();
    else return;
    event.preventDefault();
  }
}
