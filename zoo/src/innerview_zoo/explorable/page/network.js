// The recurrence and the policy, computed as the network computes them. States are 32-bit numbers, as there.

/** @param {number} value */
const sigmoid = (value) => 1 / (1 + Math.exp(-value));

/** @type {Record<Exclude<StageKind, "linear">, (value: number) => number>} */
const FUNCTIONS = {
  relu: (value) => Math.max(0, value),
  tanh: Math.tanh,
  sigmoid,
  elu: (value) => (value > 0 ? value : Math.expm1(value)),
};

class Network {
  /** @param {PageData} page */
  constructor({ about, arrays }) {
    this.kind = about.kind;
    this.size = about.size;
    this.actions = about.actions.length;
    this.weight = arrays.get("weight_hh", Float32Array);
    this.bias = arrays.get("bias_hh", Float32Array);
    this.startHidden = arrays.get("start_0", Float32Array);
    this.startCell = this.kind === "lstm" ? arrays.get("start_1", Float32Array) : null;
    /** What the state before gives to the gates. */
    this.carried = new Float32Array(this.bias.length);
    /** @type {PolicyStage[]} */
    this.stages = about.policy.map((kind, i) => {
      if (kind !== "linear") return { kind };
      const weight = arrays.get(`policy_weight_${i}`, Float32Array);
      return { kind, weight, bias: arrays.get(`policy_bias_${i}`, Float32Array) };
    });
  }

  /**
   * The state before the first step.
   * @returns {MemoryState}
   */
  begin() {
    return { hidden: this.startHidden.slice(), cell: this.startCell?.slice() ?? null };
  }

  /**
   * One step on what the input gives to the gates, from `offset` on.
   * @param {MemoryState} state
   * @param {Float32Array} gates
   */
  step({ hidden, cell }, gates, offset = 0) {
    this.#carry(hidden);
    if (cell) this.#lstm(hidden, cell, gates, offset);
    else this.#gru(hidden, gates, offset);
  }

  /** @param {Float32Array} hidden */
  #carry(hidden) {
    const { size, weight, bias, carried } = this;
    for (let row = 0; row < carried.length; row++) {
      let sum = bias[row];
      const from = row * size;
      for (let i = 0; i < size; i++) sum += weight[from + i] * hidden[i];
      carried[row] = sum;
    }
  }

  /**
   * @param {Float32Array} hidden
   * @param {Float32Array} gates
   * @param {number} at
   */
  #gru(hidden, gates, at) {
    const { size, carried } = this;
    for (let i = 0; i < size; i++) {
      const reset = sigmoid(gates[at + i] + carried[i]);
      const update = sigmoid(gates[at + size + i] + carried[size + i]);
      const fresh = Math.tanh(gates[at + 2 * size + i] + reset * carried[2 * size + i]);
      hidden[i] = (1 - update) * fresh + update * hidden[i];
    }
  }

  /**
   * @param {Float32Array} hidden
   * @param {Float32Array} cell
   * @param {Float32Array} gates
   * @param {number} at
   */
  #lstm(hidden, cell, gates, at) {
    const { size, carried } = this;
    for (let i = 0; i < size; i++) {
      const gate = (/** @type {number} */ n) => gates[at + n * size + i] + carried[n * size + i];
      cell[i] = sigmoid(gate(1)) * cell[i] + sigmoid(gate(0)) * Math.tanh(gate(2));
      hidden[i] = sigmoid(gate(3)) * Math.tanh(cell[i]);
    }
  }

  /**
   * Chances of the actions for a state.
   * @param {Float32Array} hidden
   */
  decide(hidden) {
    let value = hidden;
    for (const stage of this.stages)
      value = stage.kind === "linear" ? linear(stage, value) : value.map(FUNCTIONS[stage.kind]);
    const top = value.reduce((a, b) => Math.max(a, b), -Infinity);
    const share = Array.from(value, (v) => Math.exp(v - top));
    const total = share.reduce((a, b) => a + b, 0);
    return share.map((v) => v / total);
  }
}

/**
 * @param {LinearStage} stage
 * @param {Float32Array} value
 */
function linear({ weight, bias }, value) {
  const out = new Float32Array(bias.length);
  for (let row = 0; row < out.length; row++) {
    let sum = bias[row];
    for (let i = 0; i < value.length; i++) sum += weight[row * value.length + i] * value[i];
    out[row] = sum;
  }
  return out;
}

/**
 * The action that a random number between 0 and 1 picks, or the likeliest one where there is none.
 * @param {number[]} chances
 * @param {number | null} draw
 */
function choose(chances, draw) {
  if (draw === null) return chances.indexOf(Math.max(...chances));
  const total = chances.reduce((a, b) => a + b, 0);
  let sum = 0;
  for (let i = 0; i < chances.length; i++) {
    sum += chances[i];
    if (draw * total < sum) return i;
  }
  return chances.length - 1;
}

/**
 * Edits of a memory, made to the new state before the policy reads it and before it is carried, while the step lies
 * between their start and stop.
 */
class Edits {
  /**
   * @param {Edit[]} edits
   * @param {Float32Array} hidden The state before the first step.
   */
  constructor(edits, hidden) {
    /** @type {ActiveEdit[]} */
    this.edits = edits.map((edit) => ({ stop: null, start: 0, value: 0, ...edit, held: null }));
    this.before = hidden.slice();
  }

  /**
   * @param {number} step
   * @param {Float32Array} hidden
   */
  apply(step, hidden) {
    for (const edit of this.edits) {
      if (step < edit.start || (edit.stop !== null && step >= edit.stop)) edit.held = null;
      else this.#make(edit, hidden);
    }
    this.before.set(hidden);
  }

  /**
   * @param {ActiveEdit} edit
   * @param {Float32Array} hidden
   */
  #make(edit, hidden) {
    if (edit.op === "freeze") {
      const held = (edit.held ??= edit.elements.map((i) => this.before[i]));
      edit.elements.forEach((i, n) => (hidden[i] = held[n]));
    } else for (const i of edit.elements) hidden[i] = edit.op === "set" ? edit.value : 0;
  }
}
