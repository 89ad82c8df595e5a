// Small parts of the page that are made of elements rather than pixels.

/**
 * @param {number} count
 * @param {string} one
 * @param {string} more
 */
const many = (count, one, more) => `${count} ${count === 1 ? one : more}`;

/**
 * An item as a numbered disc and its name.
 * @param {Item[]} items
 * @param {number} i
 */
function itemMark(items, i) {
  const disc = make("i", { text: String(i + 1) });
  disc.style.background = itemColour(items[i][0], i);
  return make("span", { kind: "item" }, disc, items[i][0]);
}

/**
 * How a run ended, in words and a colour.
 * @param {Rollout} run
 * @param {About} about
 * @returns {Ending}
 */
function ending(run, about) {
  const count = about.items.length;
  if (run.outcome === "as recorded") {
    const count = run.otherwise.length;
    const text = count
      ? `would decide otherwise at ${many(count, "step", "steps")} of ${run.length}`
      : "decides as recorded at every step";
    return { text, good: count === 0, short: count ? `${count} otherwise` : "the same" };
  }
  // Elsewhere the things on the map are not a task that the page knows.
  if (!about.grid)
    return {
      text: `recorded: ${run.outcome || "ended"} after ${run.length} steps`,
      good: true,
      short: `${run.length} steps`,
    };
  const items = `${run.gathered} of ${count}`;
  if (run.outcome === "all items")
    return {
      text: `gathers all ${count} in ${run.length} steps`,
      good: true,
      short: `all ${count}, ${run.length} steps`,
    };
  if (run.outcome === "wrong item") {
    const wrong = run.touches.at(-1);
    const name = wrong && !wrong.right ? about.items[wrong.item][0] : "wrong thing";
    return {
      text: `gathers ${items}, then takes the ${name} too early at step ${run.length}`,
      good: false,
      short: `${items}, wrong thing`,
    };
  }
  if (run.outcome === "time limit")
    return { text: `gathers ${items} until time is up`, good: false, short: `${items}, time up` };
  return { text: `${run.outcome || "ends"} after ${run.length} steps`, good: true, short: `${run.length} steps` };
}

/**
 * @param {HTMLElement} node
 * @param {Rollout} run
 * @param {About} about
 */
function showEnding(node, run, about) {
  const { text, good } = ending(run, about);
  node.replaceChildren(make("span", { text, kind: good ? "good" : "bad" }));
}

/**
 * Bars for the chances of each action, full memory above yours.
 * @param {HTMLElement} node
 * @param {{full: Rollout, yours: Rollout, moment: number, actions: string[]}} options
 */
function showPolicy(node, { full, yours, moment, actions }) {
  const chance = (/** @type {Rollout} */ run, /** @type {number} */ a) =>
    run.chances[Math.min(moment, run.length - 1) * actions.length + a];
  const chosen = yours.actions[Math.min(moment, yours.length - 1)];
  const rows = actions.map((name, a) => {
    const bars = [full, yours].map((run, n) => {
      const bar = make("i");
      bar.style.width = `${100 * chance(run, a)}%`;
      bar.style.background = `var(--${n ? "yours" : "full"})`;
      return bar;
    });
    const label = make("span", { text: name, kind: chosen === a ? "chosen" : "" });
    const share = make("span", { text: `${Math.round(100 * chance(yours, a))} %` });
    return make("div", { kind: "want" }, label, make("div", {}, ...bars), share);
  });
  node.replaceChildren(...rows);
}

/**
 * @param {HTMLElement} node
 * @param {string[]} actions
 * @param {boolean} canPlayOn
 */
function showLegend(node, actions, canPlayOn) {
  const entry = (/** @type {string} */ text, /** @type {string} */ hue) => {
    const mark = make("i");
    mark.style.background = hue;
    return make("span", {}, mark, text);
  };
  const last = canPlayOn
    ? "last strip: thin blue as recorded, orange where the page fills in (stronger: further from a known pose); line: how far mixed views are from the recorded ones"
    : "last strip: steps at which it would decide otherwise";
  node.replaceChildren(...actions.map((name, i) => entry(name, actionColour(i))), make("span", { text: last }));
}

/**
 * A button per element with a bar for how busy it is.
 * @param {HTMLElement} node
 * @param {number[]} activity
 * @param {(element: number) => void} toggle
 */
function elementButtons(node, activity, toggle) {
  const highest = Math.max(...activity, 1e-9);
  /** @type {HTMLButtonElement[]} */
  const buttons = activity.map((active, i) => {
    const bar = make("i");
    bar.style.opacity = String(0.12 + (0.88 * active) / highest);
    const button = make("button", { type: "button", text: String(i), "aria-label": `Element ${i}` }, bar);
    button.addEventListener("click", () => toggle(i));
    button.addEventListener("keydown", (event) => moveFocus(event, buttons, i));
    return button;
  });
  node.style.gridTemplateColumns = `repeat(${activity.length > 64 ? 12 : 8}, minmax(0, 1fr))`;
  node.replaceChildren(...buttons);
  return buttons;
}

/**
 * Arrow keys go from element to element; up and down by the width of a line.
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement[]} buttons
 * @param {number} i
 */
function moveFocus(event, buttons, i) {
  const across = buttons.filter((b) => b.offsetTop === buttons[0].offsetTop).length;
  const steps = new Map([
    ["ArrowRight", 1],
    ["ArrowLeft", -1],
    ["ArrowDown", across],
    ["ArrowUp", -across],
  ]);
  const by = steps.get(event.key);
  if (by === undefined || !buttons[i + by]) return;
  event.preventDefault();
  event.stopPropagation();
  buttons[i + by].focus();
}

/**
 * Bars by number of kept elements.
 * @param {HTMLCanvasElement} canvas
 * @param {CurveOptions} options
 */
function drawCurve(canvas, { points, size, chosen }) {
  const { ink, width, height } = pen(canvas);
  const one = width / (size + 1);
  const floor = height - 16;
  ink.font = "10px system-ui, sans-serif";
  ink.textAlign = "center";
  ink.strokeStyle = colour("line");
  ink.strokeRect(0.5, 3.5, width - 1, floor - 3.5);
  for (let n = 0; n <= size; n++) {
    if (n % Math.ceil(size / 8) === 0) {
      ink.fillStyle = colour("muted");
      ink.fillText(String(n), (n + 0.5) * one, height - 4);
    }
    if (n === chosen) {
      ink.fillStyle = colour("accent-soft");
      ink.fillRect(n * one, 4, one, floor - 4);
    }
    if (!points[n]) continue;
    const tall = Math.max(1.5, points[n].share * (floor - 4));
    ink.fillStyle = colour(points[n].good ? "good" : "yours");
    ink.globalAlpha = n === chosen ? 1 : 0.72;
    ink.fillRect(n * one + 1, floor - tall, Math.max(1, one - 2), tall);
    ink.globalAlpha = 1;
  }
}
