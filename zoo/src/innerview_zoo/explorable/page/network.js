// The recurrence and the policy, computed as the network computes them. States are kept in 32-bit numbers, as there.

const sigmoid = (v) => 1 / (1 + Math.exp(-v));
const FUNCTIONS = {
  relu: (v) => Math.max(0, v),
  tanh: Math.tanh,
  sigmoid,
  elu: (v) => (v > 0 ? v : Math.expm1(v)),
};

class Network {
  constructor({ about, arrays }) {
    this.kind = about.kind;
    this.size = about.size;
    this.actions = about.actions.length;
    this.weight = arrays.weight_hh;
    this.bias = arrays.bias_hh;
    this.starts = [arrays.start_0, arrays.start_1];
    this.kept = new Float32Array(this.bias.length);
    this.stages = about.policy.map((kind, i) =>
      kind === 'linear'
        ? { kind, weight: arrays[`policy_weight_${i}`], bias: arrays[`policy_bias_${i}`] }
        : { kind },
    );
  }

  /** A fresh state: what the policy reads, and for an LSTM its cell. */
  begin() {
    return { hidden: this.starts[0].slice(), cell: this.starts[1]?.slice() };
  }

  /** One step on what the input gives to the gates, from `offset` on. */
  step(state, gates, offset = 0) {
    this.#carry(state.hidden);
    if (this.kind === 'gru') this.#gru(state, gates, offset);
    else this.#lstm(state, gates, offset);
  }

  #carry(hidden) {
    const { size, weight, bias, kept } = this;
    for (let row = 0; row < kept.length; row++) {
      let sum = bias[row];
      const from = row * size;
      for (let i = 0; i < size; i++) sum += weight[from + i] * hidden[i];
      kept[row] = sum;
    }
  }

  #gru({ hidden }, gates, at) {
    const { size, kept } = this;
    for (let i = 0; i < size; i++) {
      const reset = sigmoid(gates[at + i] + kept[i]);
      const update = sigmoid(gates[at + size + i] + kept[size + i]);
      const fresh = Math.tanh(gates[at + 2 * size + i] + reset * kept[2 * size + i]);
      hidden[i] = (1 - update) * fresh + update * hidden[i];
    }
  }

  #lstm({ hidden, cell }, gates, at) {
    const { size, kept } = this;
    for (let i = 0; i < size; i++) {
      const gate = (n) => gates[at + n * size + i] + kept[n * size + i];
      cell[i] = sigmoid(gate(1)) * cell[i] + sigmoid(gate(0)) * Math.tanh(gate(2));
      hidden[i] = sigmoid(gate(3)) * Math.tanh(cell[i]);
    }
  }

  /** Chances of the actions for a state. */
  decide(hidden) {
    let value = hidden;
    for (const stage of this.stages) {
      if (stage.kind === 'linear') value = linear(stage, value);
      else value = value.map(FUNCTIONS[stage.kind]);
    }
    const top = value.reduce((a, b) => Math.max(a, b), -Infinity);
    const share = Array.from(value, (v) => Math.exp(v - top));
    const total = share.reduce((a, b) => a + b, 0);
    return share.map((v) => v / total);
  }
}

function linear({ weight, bias }, value) {
  const out = new Float32Array(bias.length);
  for (let row = 0; row < out.length; row++) {
    let sum = bias[row];
    for (let i = 0; i < value.length; i++) sum += weight[row * value.length + i] * value[i];
    out[row] = sum;
  }
  return out;
}

/** The action that a random number between 0 and 1 picks, or the likeliest one where there is none. */
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
 * Changes to a memory: {elements, op: zero | freeze | set, value, start, stop}. Made to the new state before the
 * policy reads it and before it is carried, while `step` lies between start and stop.
 */
class Edits {
  constructor(edits, size) {
    this.edits = edits.map((edit) => ({ stop: null, start: 0, value: 0, ...edit, held: null }));
    this.before = new Float32Array(size);
  }

  begin(hidden) {
    this.before.set(hidden);
    for (const edit of this.edits) edit.held = null;
  }

  apply(step, hidden) {
    for (const edit of this.edits) {
      if (step < edit.start || (edit.stop !== null && step >= edit.stop)) {
        edit.held = null;
        continue;
      }
      if (edit.op === 'freeze') edit.held ??= edit.elements.map((i) => this.before[i]);
      edit.elements.forEach((i, n) => {
        hidden[i] = edit.op === 'zero' ? 0 : edit.op === 'set' ? edit.value : edit.held[n];
      });
    }
    this.before.set(hidden);
  }
}
