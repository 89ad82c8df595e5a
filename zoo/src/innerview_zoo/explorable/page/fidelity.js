// How far the page can be trusted, measured in the page itself.

/**
 * The largest difference between the recorded states and those computed here.
 * @param {Simulator} simulator
 */
function measureAgreement(simulator) {
  const { states } = simulator.rollOut([]);
  return states.reduce((worst, state, i) => Math.max(worst, Math.abs(state - simulator.recorded.states[i])), 0);
}

/**
 * By recorded step: how far the mixture of known views is from the view itself, over how far views are apart; each
 * number weighed by how much it changes the memory.
 * @param {Simulator} simulator
 * @param {Maze} maze
 * @param {Float32Array} matters
 */
function featureGaps({ about, gates, fed }, maze, matters) {
  const { grid, gathered } = maze;
  const mean = new Float64Array(fed);
  for (let t = 0; t < about.steps; t++) for (let g = 0; g < fed; g++) mean[g] += gates[t * fed + g] / about.steps;
  let spread = 0;
  const off = new Float32Array(about.steps);
  for (let t = 0; t < about.steps; t++) {
    grid.mix(maze.pose(t), Math.min(gathered[t], grid.states - 1));
    for (let g = 0; g < fed; g++) {
      const value = gates[t * fed + g];
      off[t] += (matters[g] * (value - grid.out[g])) ** 2;
      spread += (matters[g] * (value - mean[g])) ** 2 / about.steps;
    }
  }
  return off.map((value) => Math.sqrt(value / (spread || 1)));
}

/**
 * Distance from the recorded place after each step, walking by the recorded actions with this page's legs.
 * @param {Simulator} simulator
 * @param {Maze} maze
 */
function walkGaps({ about, recorded }, maze) {
  const player = maze.player();
  const gaps = new Float32Array(about.steps);
  for (let t = 0; t + 1 < about.steps; t++) {
    player.step(maze.buttons[recorded.actions[t]]);
    gaps[t + 1] = Math.hypot(player.x - maze.x[t + 1], player.y - maze.y[t + 1]);
  }
  return gaps;
}

/**
 * Mean distance between two ways, step by step, as long as both last.
 * @param {Rollout} a
 * @param {Rollout} b
 */
function meanDistance({ way: a }, { way: b }) {
  if (!a || !b) return 0;
  const steps = Math.min(a.x.length, b.x.length);
  let sum = 0;
  for (let t = 0; t < steps; t++) sum += Math.hypot(a.x[t] - b.x[t], a.y[t] - b.y[t]) / steps;
  return sum;
}

/**
 * Measure it, show it in its chapter, and give the gaps to the stage.
 * @param {Stage} stage
 * @param {PageArrays} arrays
 * @returns {Fidelity}
 */
function showFidelity(stage, arrays) {
  const { simulator, about } = stage;
  const { maze } = simulator;
  const agreement = measureAgreement(simulator);
  $("agreement").textContent = agreement.toExponential(1);
  if (maze === null) return { agreement, playingOn: null };
  const gaps = featureGaps(simulator, maze, arrays.get("matters", Float32Array));
  stage.gaps = gaps;
  const features = gaps.reduce((a, b) => a + b, 0) / gaps.length;
  const walks = Array.from(walkGaps(simulator, maze));
  const control = simulator.rollOut([], { fromGrid: true });
  const distance = meanDistance(control, simulator.recorded);
  $("poseCount").textContent = ((stage.poses?.length ?? 0) * maze.grid.headings).toLocaleString("en");
  $("featureGap").textContent = `${Math.round(100 * features)} %`;
  $("walkUsually").textContent = ascending(walks)[walks.length >> 1].toFixed(1);
  $("walkGap").textContent = walks[walks.length - 1].toFixed(0);
  $("mazeWide").textContent = String(Math.round(Math.max(...about.walls.map((w) => w[0]))));
  const far = `on average ${Math.round(distance)} map units from where the recorded one was at that step`;
  $("gridFull").textContent = `it ${ending(control, about).text}, ${far}.`;
  return { agreement, playingOn: { features, walks, control, distance } };
}
