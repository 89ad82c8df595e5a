// Rolls the episode out with a memory that is changed.
//
// As long as every decision is the recorded one, the agent sees exactly what was recorded. From the first other
// decision on nobody recorded what it would see: there the page plays on over the grid of poses, or, in worlds
// without one, keeps showing what was recorded and only says what would have been decided.

/** What it takes to play on: where the agent was, what its buttons do, and what it would see elsewhere. */
class Maze {
  /**
   * @param {PageData} page
   * @param {Grid} grid
   */
  constructor({ about, arrays }, grid) {
    const { buttons, limit, walls } = about;
    if (buttons === null || limit === null) throw new TypeError("its grid of poses comes without buttons or a limit");
    this.buttons = buttons;
    this.limit = limit;
    this.walls = walls;
    this.grid = new PoseGrid(grid, arrays);
    this.x = arrays.get("x", Float32Array);
    this.y = arrays.get("y", Float32Array);
    this.angle = arrays.get("angle", Float32Array);
    this.gathered = arrays.get("gathered", Uint8Array);
  }

  player() {
    return new Player(this.walls, this.pose(0));
  }

  /**
   * The recorded pose.
   * @param {number} t
   */
  pose(t) {
    return { x: this.x[t], y: this.y[t], angle: this.angle[t] };
  }
}

class Simulator {
  /** @param {PageData} page */
  constructor(page) {
    const { about, arrays } = page;
    this.about = about;
    this.network = new Network(page);
    this.maze = about.grid ? new Maze(page, about.grid) : null;
    this.gates = arrays.get("gates", Float32Array);
    this.fed = this.gates.length / about.steps;
    this.draws = arrays.get("draws", Float64Array);
    this.recorded = recordedRollout(page);
  }

  get canPlayOn() {
    return this.maze !== null;
  }

  /**
   * The episode with these edits.
   * @param {Edit[]} edits
   * @param {RolloutOptions} [options]
   */
  rollOut(edits, { fromGrid = false, draws = null } = {}) {
    const drawn = this.about.greedy ? null : (draws ?? this.draws);
    const run = this.maze ? new MazeRun(this, this.maze, edits, drawn, fromGrid) : new RecordedRun(this, edits, drawn);
    while (!run.outcome) run.step();
    return run.finish();
  }
}

/**
 * @param {PageData} page
 * @returns {Rollout}
 */
function recordedRollout({ about, arrays }) {
  /** @type {ItemTouch[]} */
  const touches = [];
  const gathered = arrays.find("gathered", Uint8Array);
  if (gathered)
    for (let t = 1; t < about.steps; t++)
      for (let item = gathered[t - 1]; item < gathered[t]; item++) touches.push({ step: t, item, right: true });
  if (about.outcome === "all items") touches.push({ step: about.steps, item: about.items.length - 1, right: true });
  const x = arrays.find("x", Float32Array);
  const y = arrays.find("y", Float32Array);
  return {
    length: about.steps,
    divergence: about.steps,
    outcome: about.outcome,
    gathered: touches.length,
    touches,
    otherwise: [],
    states: arrays.get("memory", Float32Array),
    chances: arrays.get("probabilities", Float32Array),
    actions: arrays.get("actions", Uint8Array),
    way: x && y && { x, y, angle: arrays.find("angle", Float32Array) },
    away: new Float32Array(about.steps),
  };
}

/** A rollout under way, on what was recorded. */
class RecordedRun {
  /**
   * @param {Simulator} simulator
   * @param {Edit[]} edits
   * @param {Float64Array | null} draws Null to take the likeliest action.
   */
  constructor(simulator, edits, draws, limit = simulator.about.steps) {
    const { network } = simulator;
    this.simulator = simulator;
    this.recorded = simulator.recorded;
    this.draws = draws;
    this.limit = limit;
    this.state = network.begin();
    this.edits = new Edits(edits, this.state.hidden);
    this.states = new Float32Array(limit * network.size);
    this.chances = new Float32Array(limit * network.actions);
    this.actions = new Uint8Array(limit);
    /** @type {number[]} */
    this.otherwise = [];
    this.t = 0;
    this.outcome = "";
  }

  step() {
    const { t, state, recorded } = this;
    const { network, about } = this.simulator;
    this.see();
    this.edits.apply(t, state.hidden);
    const chances = network.decide(state.hidden);
    const action = choose(chances, this.draws && this.draws[t]);
    this.states.set(state.hidden, t * network.size);
    this.chances.set(chances, t * network.actions);
    this.actions[t] = action;
    if (t < about.steps && action !== recorded.actions[t]) this.otherwise.push(t);
    this.t += 1;
    this.act(action);
  }

  see() {
    const { network, gates, fed } = this.simulator;
    network.step(this.state, gates, this.t * fed);
  }

  /** @param {number} _action Changes nothing here: the next step is the recorded one. */
  act(_action) {
    if (this.t >= this.limit) this.outcome = "as recorded";
  }

  /** @returns {Rollout} */
  finish() {
    const { t } = this;
    const { network } = this.simulator;
    return {
      ...this.recorded,
      length: t,
      divergence: t,
      outcome: this.outcome,
      gathered: 0,
      touches: [],
      otherwise: this.otherwise,
      states: this.states.subarray(0, t * network.size),
      chances: this.chances.subarray(0, t * network.actions),
      actions: this.actions.subarray(0, t),
      away: new Float32Array(t),
    };
  }
}

/** A rollout under way that leaves the recorded one when it decides otherwise. */
class MazeRun extends RecordedRun {
  /**
   * @param {Simulator} simulator
   * @param {Maze} maze
   * @param {Edit[]} edits
   * @param {Float64Array | null} draws
   * @param {boolean} fromGrid
   */
  constructor(simulator, maze, edits, draws, fromGrid) {
    super(simulator, edits, draws, maze.limit);
    this.maze = maze;
    this.player = maze.player();
    this.x = new Float32Array(maze.limit + 1);
    this.y = new Float32Array(maze.limit + 1);
    this.angle = new Float32Array(maze.limit + 1);
    this.away = new Float32Array(maze.limit);
    /** @type {ItemTouch[]} */
    this.touches = [];
    this.gathered = 0;
    /** @type {number | null} Null while everything is as recorded. */
    this.divergence = fromGrid ? 0 : null;
  }

  /** @override */
  see() {
    const { t, player, maze } = this;
    if (this.divergence === null) {
      this.#stand(maze.pose(t));
      super.see();
      return;
    }
    this.#stand(player);
    this.away[t] = maze.grid.mix(player, this.gathered);
    this.simulator.network.step(this.state, maze.grid.out);
  }

  /** @param {Pose} pose */
  #stand({ x, y, angle }) {
    this.x[this.t] = x;
    this.y[this.t] = y;
    this.angle[this.t] = angle;
  }

  /**
   * @override
   * @param {number} action
   */
  act(action) {
    const { maze, player, recorded, t } = this;
    const buttons = maze.buttons[action];
    if (this.divergence === null && action !== recorded.actions[t - 1]) this.divergence = t - 1;
    if (this.divergence === null) {
      this.#followRecorded(buttons);
      return;
    }
    player.step(buttons, (x, y) => this.#touch(x, y));
    if (!this.outcome && t >= maze.limit) this.outcome = "time limit";
  }

  /**
   * Move along with the recording, so that speed is known at the divergence.
   * @param {Buttons} buttons
   */
  #followRecorded(buttons) {
    const { maze, player, t } = this;
    const { about } = this.simulator;
    player.step(buttons);
    if (t < about.steps) {
      Object.assign(player, maze.pose(t));
      while (this.gathered < maze.gathered[t]) this.#take(this.gathered);
      return;
    }
    this.outcome = about.outcome || "ended";
    if (this.outcome === "all items") while (this.gathered < about.items.length) this.#take(this.gathered);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #touch(x, y) {
    const { items } = this.simulator.about;
    for (let item = this.gathered; item < items.length; item++) {
      const [, ix, iy] = items[item];
      if (Math.abs(x - ix) >= REACH || Math.abs(y - iy) >= REACH) continue;
      if (item !== this.gathered) {
        this.touches.push({ step: this.t, item, right: false });
        this.outcome = "wrong item";
        return true;
      }
      this.#take(item);
    }
    if (this.gathered === items.length) this.outcome = "all items";
    return this.outcome !== "";
  }

  /** @param {number} item */
  #take(item) {
    this.touches.push({ step: this.t, item, right: true });
    this.gathered += 1;
  }

  /**
   * @override
   * @returns {Rollout}
   */
  finish() {
    const { t } = this;
    if (this.divergence !== null) this.#stand(this.player);
    const places = this.divergence === null ? t : t + 1;
    const [x, y, angle] = [this.x, this.y, this.angle].map((values) => values.subarray(0, places));
    return {
      ...super.finish(),
      divergence: this.divergence ?? t,
      gathered: this.gathered,
      touches: this.touches,
      way: { x, y, angle },
      away: this.away.subarray(0, t),
    };
  }
}
