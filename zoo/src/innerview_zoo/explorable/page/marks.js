// Turns runs into pixels. Colours come from the style sheet, so that light and dark follow it.

/** @type {Record<string, string>} */
const KINDS = {
  "green armour": "#2f9e44",
  "red armour": "#d6336c",
  "health pack": "#e8890c",
  "soul sphere": "#3b6fd8",
};

/** @type {Point[]} Of an agent, how far its corners are from its middle and at what angle. */
const ARROW = [
  [10, 0],
  [7, 2.5],
  [3, Math.PI],
  [7, -2.5],
];

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** @param {number} i */
const actionColour = (i) => colour(`c${i % 8}`);
/**
 * @param {string} name
 * @param {number} i
 */
const itemColour = (name, i) => KINDS[name] ?? actionColour(i + 3);

/**
 * A context in CSS pixels on a canvas as sharp as the screen.
 * @param {HTMLCanvasElement} canvas
 * @returns {Surface}
 */
function pen(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const ink = canvas.getContext("2d");
  if (ink === null) throw new TypeError("the browser draws no more canvases");
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.clearRect(0, 0, width, height);
  return { ink, width, height };
}

/** @param {string} hex */
function numbers(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * From map units to pixels, with all walls, or the way where there are none, inside.
 * @param {About} about
 * @param {Way | null} way
 * @param {Surface} surface
 * @param {number} margin
 * @returns {MapScale}
 */
function mapScale({ walls }, way, { width, height }, margin) {
  const xs = walls.length ? walls.flatMap((w) => [w[0], w[2]]) : Array.from(way?.x ?? [0, 1]);
  const ys = walls.length ? walls.flatMap((w) => [w[1], w[3]]) : Array.from(way?.y ?? [0, 1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((width - 2 * margin) / (x1 - x0 || 1), (height - 2 * margin) / (y1 - y0 || 1));
  const left = (width - scale * (x1 - x0)) / 2;
  const top = (height - scale * (y1 - y0)) / 2;
  return { scale, x: (v) => left + (v - x0) * scale, y: (v) => height - top - (v - y0) * scale };
}

/**
 * Walls, things, ways of several runs.
 * @param {HTMLCanvasElement} canvas
 * @param {About} about
 * @param {DrawnRollout[]} ways
 * @param {MapOptions} [options]
 */
function drawMap(canvas, about, ways, { moment = null, poses = null, small = false } = {}) {
  const surface = pen(canvas);
  const { ink } = surface;
  const at = mapScale(about, ways[0].run.way, surface, small ? 4 : 8);
  if (poses) {
    ink.fillStyle = colour("muted");
    ink.globalAlpha = 0.35;
    for (const [x, y] of poses) ink.fillRect(at.x(x) - 0.8, at.y(y) - 0.8, 1.6, 1.6);
    ink.globalAlpha = 1;
  }
  ink.strokeStyle = colour("wall");
  ink.lineWidth = small ? 1 : 1.6;
  ink.lineCap = "round";
  ink.beginPath();
  for (const [x1, y1, x2, y2] of about.walls) {
    ink.moveTo(at.x(x1), at.y(y1));
    ink.lineTo(at.x(x2), at.y(y2));
  }
  ink.stroke();
  drawThings(ink, about.items, at, small);
  for (const way of ways) drawWay(ink, at, way, moment, small);
  if (moment !== null) for (const way of ways) drawAgent(ink, at, way, moment);
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Item[]} items
 * @param {MapScale} at
 * @param {boolean} small
 */
function drawThings(ink, items, at, small) {
  const size = small ? 4 : 9;
  ink.font = "700 11px system-ui, sans-serif";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  items.forEach(([name, x, y], i) => {
    ink.fillStyle = itemColour(name, i);
    ink.beginPath();
    ink.arc(at.x(x), at.y(y), size, 0, 7);
    ink.fill();
    if (small) return;
    ink.fillStyle = "#fff";
    ink.fillText(String(i + 1), at.x(x), at.y(y) + 0.5);
  });
}

/**
 * Solid as far as it was recorded, dotted where the page filled in; a ring where the two meet.
 * @param {CanvasRenderingContext2D} ink
 * @param {MapScale} at
 * @param {DrawnRollout} drawn
 * @param {number | null} moment
 * @param {boolean} small
 */
function drawWay(ink, at, { run, hue, wide = 2.4 }, moment, small) {
  const { way } = run;
  if (!way) return;
  const last = way.x.length - 1;
  /** @type {(from: number, to: number, dash: number[], alpha: number) => void} */
  const line = (from, to, dash, alpha) => {
    if (to <= from) return;
    ink.setLineDash(dash);
    ink.globalAlpha = alpha;
    ink.beginPath();
    for (let t = from; t <= to; t++) ink.lineTo(at.x(way.x[t]), at.y(way.y[t]));
    ink.stroke();
  };
  ink.strokeStyle = hue;
  ink.lineWidth = small ? 1.3 : wide;
  ink.lineJoin = "round";
  const divergence = Math.min(run.divergence, last);
  const faint = moment === null ? 1 : 0.42;
  line(0, divergence, [], faint);
  line(divergence, last, small ? [] : [1, 4], moment === null ? 1 : 0.7);
  if (moment !== null) {
    const now = Math.min(moment, last);
    line(0, Math.min(now, divergence), [], 1);
    line(divergence, now, [1, 4], 1);
  }
  ink.setLineDash([]);
  ink.globalAlpha = 1;
  ink.fillStyle = hue;
  if (!small && run.outcome === "as recorded") drawOtherwise(ink, at, way, run.otherwise);
  if (!small && run.divergence > 0 && run.divergence < last) {
    ink.lineWidth = 1.6;
    ink.beginPath();
    ink.arc(at.x(way.x[divergence]), at.y(way.y[divergence]), 6, 0, 7);
    ink.stroke();
  }
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {MapScale} at
 * @param {Way} way
 * @param {number[]} steps
 */
function drawOtherwise(ink, at, way, steps) {
  for (const t of steps) ink.fillRect(at.x(way.x[t]) - 1.5, at.y(way.y[t]) - 1.5, 3, 3);
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {MapScale} at
 * @param {DrawnRollout} drawn
 * @param {number} moment
 */
function drawAgent(ink, at, { run, hue }, moment) {
  const { way } = run;
  if (!way) return;
  const t = Math.min(moment, way.x.length - 1);
  const [x, y] = [at.x(way.x[t]), at.y(way.y[t])];
  ink.fillStyle = hue;
  ink.strokeStyle = colour("panel");
  ink.lineWidth = 1.5;
  ink.beginPath();
  if (way.angle) {
    const heading = (way.angle[t] * Math.PI) / 180;
    for (const [away, turn] of ARROW)
      ink.lineTo(x + away * Math.cos(heading + turn), y - away * Math.sin(heading + turn));
  } else ink.arc(x, y, 5, 0, 7);
  ink.closePath();
  ink.fill();
  ink.stroke();
}

/**
 * Elements by steps, blue below zero, orange above, pale at zero. Rows that are off are hatched.
 * @param {HTMLCanvasElement} canvas
 * @param {Rollout} run
 * @param {HeatOptions} options
 */
function drawHeat(canvas, run, { size, order, steps, moment, remaining = null }) {
  const surface = pen(canvas);
  const { ink, width, height } = surface;
  const [low, zero, high] = [numbers(colour("neg")), numbers(colour("zero")), numbers(colour("pos"))];
  const image = new ImageData(run.length, size);
  for (let row = 0; row < size; row++)
    for (let t = 0; t < run.length; t++) {
      const value = Math.max(-1, Math.min(1, run.states[t * size + order[row]]));
      const to = value < 0 ? low : high;
      const share = Math.abs(value) ** 0.8;
      const p = (row * run.length + t) * 4;
      for (let c = 0; c < 3; c++) image.data[p + c] = zero[c] + (to[c] - zero[c]) * share;
      image.data[p + 3] = 255;
    }
  const sheet = new OffscreenCanvas(image.width, image.height);
  sheet.getContext("2d")?.putImageData(image, 0, 0);
  ink.imageSmoothingEnabled = false;
  ink.drawImage(sheet, 0, 0, (width * run.length) / steps, height);
  if (remaining) drawOff(surface, order, remaining);
  ink.fillStyle = colour("ink");
  ink.fillRect((width * (Math.min(moment, run.length - 1) + 0.5)) / steps, 0, 1, height);
}

/**
 * @param {Surface} surface
 * @param {number[]} order
 * @param {ReadonlySet<number>} remaining
 */
function drawOff({ ink, width, height }, order, remaining) {
  const tall = height / order.length;
  ink.fillStyle = colour("soft");
  order.forEach((element, row) => {
    if (!remaining.has(element)) ink.fillRect(0, row * tall, width, Math.max(1, tall - 0.5));
  });
}

/**
 * Bands under the heat maps: both runs' actions, things gathered, and how far the page filled in.
 * @param {HTMLCanvasElement} canvas
 * @param {StripOptions} options
 */
function drawStrips(canvas, { full, yours, steps, moment, items, canPlayOn, gaps }) {
  const { ink, width, height } = pen(canvas);
  const one = width / steps;
  /** @type {(y: number, tall: number, run: Rollout) => void} */
  const band = (y, tall, run) => {
    for (let t = 0; t < run.actions.length; t++) {
      ink.fillStyle = actionColour(run.actions[t]);
      ink.fillRect(t * one, y, Math.max(one, 0.6), tall);
    }
  };
  band(0, 9, full);
  band(22, 9, yours);
  /** @type {(y: number, run: Rollout) => void} */
  const marks = (y, run) => {
    ink.font = "700 9px system-ui, sans-serif";
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    for (const { step, item, right } of run.touches) {
      const x = Math.min(width - 6, Math.max(6, step * one));
      ink.fillStyle = itemColour(items[item]?.[0] ?? "", item);
      ink.beginPath();
      ink.arc(x, y, 6, 0, 7);
      ink.fill();
      ink.fillStyle = "#fff";
      ink.fillText(right ? String(item + 1) : "×", x, y + 0.5);
    }
  };
  if (canPlayOn) drawFilledIn(ink, { y: 47, tall: 10, one, yours }, gaps);
  else drawDecided(ink, { y: 47, tall: 10, one, yours });
  marks(15, full);
  marks(38, yours);
  ink.fillStyle = colour("ink");
  ink.fillRect((Math.min(moment, steps - 1) + 0.5) * one, 0, 1, height);
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Band} band
 * @param {Float32Array | null} gaps
 */
function drawFilledIn(ink, { y, tall, one, yours }, gaps) {
  for (let t = 0; t < yours.length; t++) {
    const filled = t >= yours.divergence;
    ink.fillStyle = filled ? colour("yours") : colour("full");
    ink.globalAlpha = filled ? 0.25 + 0.75 * yours.away[t] : 0.25;
    ink.fillRect(t * one, y, Math.max(one, 0.6), filled ? tall : 3);
  }
  ink.globalAlpha = 1;
  ink.fillStyle = colour("ink");
  if (gaps)
    for (let t = 0; t < gaps.length; t++)
      ink.fillRect(t * one, y + tall - Math.min(1, gaps[t]) * tall, Math.max(one, 0.6), 1);
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Band} band
 */
function drawDecided(ink, { y, tall, one, yours }) {
  ink.fillStyle = colour("yours");
  for (const t of yours.otherwise) ink.fillRect(t * one, y, Math.max(one, 1), tall);
}
