// Plays the episode with a memory that is changed.
//
// As long as every decision is the recorded one, the agent sees exactly what was recorded. From the first other
// decision on nobody recorded what it would see: there the page plays on over the grid of poses, or, in worlds
// without one, keeps showing what was recorded and only tells what would have been decided.

class Theatre {
  constructor(page) {
    const { about, arrays } = page;
    Object.assign(this, { about, arrays, page });
    this.network = new Network(page);
    this.poses = about.grid ? new Poses(page) : null;
    this.recorded = this.#record();
    this.wide = arrays.gates.length / about.steps;
  }

  get canPlayOn() {
    return this.poses !== null;
  }

  #record() {
    const { about, arrays } = this;
    const items = [];
    if (arrays.gathered)
      for (let t = 1; t < about.steps; t++)
        for (let n = arrays.gathered[t - 1]; n < arrays.gathered[t]; n++) items.push({ step: t, item: n, right: true });
    if (about.outcome === 'all items') items.push({ step: about.steps, item: about.items.length - 1, right: true });
    return {
      length: about.steps,
      parted: about.steps,
      outcome: about.outcome,
      gathered: items.length,
      items,
      states: arrays.memory,
      chances: arrays.probabilities,
      actions: arrays.actions,
      x: arrays.x ?? null,
      y: arrays.y ?? null,
      angle: arrays.angle ?? null,
      away: new Float32Array(about.steps),
    };
  }

  /**
   * A run with these edits. `fromGrid` uses the grid from the first step on, also where the recording would do;
   * `draws` are other random numbers than the recorded ones.
   */
  play(edits, { fromGrid = false, draws = null } = {}) {
    const run = new Run(this, edits, { fromGrid: fromGrid && this.canPlayOn, draws: draws ?? this.arrays.draws });
    while (!run.outcome) run.step();
    return run.finish();
  }
}

class Run {
  constructor(theatre, edits, { fromGrid, draws }) {
    const { about, arrays, network } = theatre;
    Object.assign(this, { theatre, about, arrays, network, draws });
    this.most = theatre.canPlayOn ? about.limit : about.steps;
    this.edits = new Edits(edits, network.size);
    this.state = network.begin();
    this.edits.begin(this.state.hidden);
    this.states = new Float32Array(this.most * network.size);
    this.chances = new Float32Array(this.most * network.actions);
    this.actions = new Uint8Array(this.most);
    this.x = new Float32Array(this.most + 1);
    this.y = new Float32Array(this.most + 1);
    this.angle = new Float32Array(this.most + 1);
    this.away = new Float32Array(this.most);
    this.items = [];
    this.otherwise = [];
    this.gathered = 0;
    this.t = 0;
    this.parted = fromGrid ? 0 : null;
    this.outcome = '';
    if (theatre.canPlayOn) {
      const start = { x: arrays.x[0], y: arrays.y[0], angle: arrays.angle[0] };
      this.mover = new Mover(about.walls, start, { asleep: 7 });
    }
  }

  /** Whether everything so far was as recorded. */
  get exact() {
    return this.parted === null;
  }

  step() {
    const { t, network, theatre, state } = this;
    if (theatre.canPlayOn && !this.exact) this.#seeGrid();
    else this.#seeRecorded();
    this.edits.apply(t, state.hidden);
    const chances = network.decide(state.hidden);
    const action = choose(chances, this.about.greedy ? null : this.draws[t]);
    this.states.set(state.hidden, t * network.size);
    this.chances.set(chances, t * network.actions);
    this.actions[t] = action;
    if (t < this.about.steps && action !== this.arrays.actions[t]) this.otherwise.push(t);
    this.t += 1;
    if (theatre.canPlayOn) this.#act(action);
    else if (this.t >= this.most) this.outcome = 'as recorded';
  }

  #seeRecorded() {
    const { t, arrays } = this;
    this.network.step(this.state, arrays.gates, t * this.theatre.wide);
    if (arrays.x) {
      this.x[t] = arrays.x[t];
      this.y[t] = arrays.y[t];
    }
    if (arrays.angle) this.angle[t] = arrays.angle[t];
  }

  #seeGrid() {
    const { t, mover, theatre } = this;
    const poses = theatre.poses;
    this.x[t] = mover.x;
    this.y[t] = mover.y;
    this.angle[t] = mover.angle;
    this.away[t] = poses.at(mover.x, mover.y, mover.angle, this.gathered) ?? 1;
    this.network.step(this.state, poses.out);
  }

  #act(action) {
    const { arrays, about, mover, t } = this;
    const buttons = about.buttons[action];
    if (this.exact && action !== arrays.actions[t - 1]) this.parted = t - 1;
    if (this.exact) {
      this.#followRecorded(buttons);
      return;
    }
    mover.step(buttons, (x, y) => this.#touch(x, y));
    if (!this.outcome && t >= about.limit) this.outcome = 'time limit';
  }

  /** Move along with the recording, so that speed is known when the ways part. */
  #followRecorded(buttons) {
    const { arrays, about, mover, t } = this;
    mover.step(buttons, () => false);
    if (t < about.steps) {
      mover.x = arrays.x[t];
      mover.y = arrays.y[t];
      mover.angle = arrays.angle[t];
      while (this.gathered < arrays.gathered[t]) this.#take(this.gathered);
      return;
    }
    this.outcome = about.outcome || 'ended';
    if (this.outcome === 'all items') while (this.gathered < about.items.length) this.#take(this.gathered);
  }

  #touch(x, y) {
    const { items } = this.about;
    for (let item = this.gathered; item < items.length; item++) {
      const [, ix, iy] = items[item];
      if (Math.abs(x - ix) >= REACH || Math.abs(y - iy) >= REACH) continue;
      if (item !== this.gathered) {
        this.items.push({ step: this.t, item, right: false });
        this.outcome = 'wrong item';
        return true;
      }
      this.#take(item);
    }
    if (this.gathered === items.length) this.outcome = 'all items';
    return this.outcome !== '';
  }

  #take(item) {
    this.items.push({ step: this.t, item, right: true });
    this.gathered += 1;
  }

  finish() {
    const { t, network } = this;
    const last = this.mover ? 1 : 0;
    if (this.mover && !this.exact) {
      this.x[t] = this.mover.x;
      this.y[t] = this.mover.y;
      this.angle[t] = this.mover.angle;
    }
    const places = this.exact ? t : t + last;
    return {
      length: t,
      parted: this.parted ?? t,
      outcome: this.outcome,
      gathered: this.gathered,
      items: this.items,
      otherwise: this.otherwise,
      states: this.states.subarray(0, t * network.size),
      chances: this.chances.subarray(0, t * network.actions),
      actions: this.actions.subarray(0, t),
      x: this.arrays.x ? this.x.subarray(0, places) : null,
      y: this.arrays.y ? this.y.subarray(0, places) : null,
      angle: this.arrays.angle ? this.angle.subarray(0, places) : null,
      away: this.away.subarray(0, t),
    };
  }
}
