// Turns runs into pixels. Colours come from the style sheet, so that light and dark follow it.

const KINDS = { 'green armour': '#2f9e44', 'red armour': '#d6336c', 'health pack': '#e8890c', 'soul sphere': '#3b6fd8' };

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const actionColour = (i) => colour(`c${i % 8}`);
const itemColour = (name, i) => KINDS[name] ?? actionColour(i + 3);

/** A context in CSS pixels on a canvas as sharp as the screen. */
function pen(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const ink = canvas.getContext('2d');
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.clearRect(0, 0, width, height);
  return { ink, width, height };
}

function numbers(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** From map units to pixels, with all walls, or the way where there are none, inside. */
function mapScale({ about, arrays }, width, height, margin) {
  const xs = about.walls.length ? about.walls.flatMap((w) => [w[0], w[2]]) : Array.from(arrays.x ?? [0, 1]);
  const ys = about.walls.length ? about.walls.flatMap((w) => [w[1], w[3]]) : Array.from(arrays.y ?? [0, 1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((width - 2 * margin) / (x1 - x0 || 1), (height - 2 * margin) / (y1 - y0 || 1));
  const left = (width - scale * (x1 - x0)) / 2;
  const top = (height - scale * (y1 - y0)) / 2;
  return { scale, x: (v) => left + (v - x0) * scale, y: (v) => height - top - (v - y0) * scale };
}

/** Walls, things, ways of several runs. */
function drawMap(canvas, page, ways, { moment = null, poses = null, small = false } = {}) {
  const { ink, width, height } = pen(canvas);
  const at = mapScale(page, width, height, small ? 4 : 8);
  if (poses) {
    ink.fillStyle = colour('muted');
    ink.globalAlpha = 0.35;
    for (const [x, y] of poses) ink.fillRect(at.x(x) - 0.8, at.y(y) - 0.8, 1.6, 1.6);
    ink.globalAlpha = 1;
  }
  ink.strokeStyle = colour('wall');
  ink.lineWidth = small ? 1 : 1.6;
  ink.lineCap = 'round';
  ink.beginPath();
  for (const [x1, y1, x2, y2] of page.about.walls) {
    ink.moveTo(at.x(x1), at.y(y1));
    ink.lineTo(at.x(x2), at.y(y2));
  }
  ink.stroke();
  drawThings(ink, page.about.items, at, small);
  for (const way of ways) drawWay(ink, at, way, moment, small);
  if (moment !== null) for (const way of ways) drawAgent(ink, at, way, moment);
}

function drawThings(ink, items, at, small) {
  const size = small ? 4 : 9;
  ink.font = '700 11px system-ui, sans-serif';
  ink.textAlign = 'center';
  ink.textBaseline = 'middle';
  items.forEach(([name, x, y], i) => {
    ink.fillStyle = itemColour(name, i);
    ink.beginPath();
    ink.arc(at.x(x), at.y(y), size, 0, 7);
    ink.fill();
    if (small) return;
    ink.fillStyle = '#fff';
    ink.fillText(String(i + 1), at.x(x), at.y(y) + 0.5);
  });
}

/** Solid as far as it was recorded, dotted where the page filled in; a ring where the two meet. */
function drawWay(ink, at, { run, hue, wide = 2.4 }, moment, small) {
  if (!run.x) return;
  const last = run.x.length - 1;
  const line = (from, to, dash, alpha) => {
    if (to <= from) return;
    ink.setLineDash(dash);
    ink.globalAlpha = alpha;
    ink.beginPath();
    for (let t = from; t <= to; t++) ink.lineTo(at.x(run.x[t]), at.y(run.y[t]));
    ink.stroke();
  };
  ink.strokeStyle = hue;
  ink.lineWidth = small ? 1.3 : wide;
  ink.lineJoin = 'round';
  const parted = Math.min(run.parted, last);
  const faint = moment === null ? 1 : 0.42;
  line(0, parted, [], faint);
  line(parted, last, small ? [] : [1, 4], moment === null ? 1 : 0.7);
  if (moment !== null) {
    const now = Math.min(moment, last);
    line(0, Math.min(now, parted), [], 1);
    line(parted, now, [1, 4], 1);
  }
  ink.setLineDash([]);
  ink.globalAlpha = 1;
  if (!small && run.otherwise?.length && run.outcome === 'as recorded') drawOtherwise(ink, at, run, hue);
  if (!small && run.parted > 0 && run.parted < last) {
    ink.lineWidth = 1.6;
    ink.beginPath();
    ink.arc(at.x(run.x[parted]), at.y(run.y[parted]), 6, 0, 7);
    ink.stroke();
  }
}

function drawOtherwise(ink, at, run, hue) {
  ink.fillStyle = hue;
  for (const t of run.otherwise) ink.fillRect(at.x(run.x[t]) - 1.5, at.y(run.y[t]) - 1.5, 3, 3);
}

function drawAgent(ink, at, { run, hue }, moment) {
  if (!run.x) return;
  const t = Math.min(moment, run.x.length - 1);
  const heading = run.angle ? (run.angle[t] * Math.PI) / 180 : 0;
  const [x, y] = [at.x(run.x[t]), at.y(run.y[t])];
  const point = (away, turn) => [x + away * Math.cos(heading + turn), y - away * Math.sin(heading + turn)];
  ink.fillStyle = hue;
  ink.strokeStyle = colour('panel');
  ink.lineWidth = 1.5;
  ink.beginPath();
  if (run.angle) for (const [away, turn] of [[10, 0], [7, 2.5], [3, Math.PI], [7, -2.5]]) ink.lineTo(...point(away, turn));
  else ink.arc(x, y, 5, 0, 7);
  ink.closePath();
  ink.fill();
  ink.stroke();
}

/** Elements by steps, blue below zero, orange above, pale at zero. Rows that are off are hatched. */
function drawHeat(canvas, run, { size, order, most, kept = null, moment = 0 }) {
  const { ink, width, height } = pen(canvas);
  const steps = run.states.length / size;
  const [low, zero, high] = [numbers(colour('neg')), numbers(colour('zero')), numbers(colour('pos'))];
  const image = new ImageData(Math.max(1, steps), size);
  for (let row = 0; row < size; row++)
    for (let t = 0; t < steps; t++) {
      const value = Math.max(-1, Math.min(1, run.states[t * size + order[row]]));
      const to = value < 0 ? low : high;
      const share = Math.abs(value) ** 0.8;
      const p = (row * steps + t) * 4;
      for (let c = 0; c < 3; c++) image.data[p + c] = zero[c] + (to[c] - zero[c]) * share;
      image.data[p + 3] = 255;
    }
  const sheet = document.createElement('canvas');
  sheet.width = image.width;
  sheet.height = size;
  sheet.getContext('2d').putImageData(image, 0, 0);
  ink.imageSmoothingEnabled = false;
  ink.drawImage(sheet, 0, 0, (width * steps) / most, height);
  if (kept) drawOff(ink, { size, order, kept, width, height });
  ink.fillStyle = colour('ink');
  ink.fillRect((width * (Math.min(moment, steps - 1) + 0.5)) / most, 0, 1, height);
}

function drawOff(ink, { size, order, kept, width, height }) {
  const tall = height / size;
  ink.fillStyle = colour('soft');
  order.forEach((element, row) => {
    if (!kept.has(element)) ink.fillRect(0, row * tall, width, Math.max(1, tall - 0.5));
  });
}

/** Bands under the heat maps: both runs' actions, things gathered, and how far the page filled in. */
function drawStrips(canvas, { full, yours, most, moment, items, canPlayOn, gaps }) {
  const { ink, width, height } = pen(canvas);
  const one = width / most;
  const band = (y, tall, run) => {
    for (let t = 0; t < run.actions.length; t++) {
      ink.fillStyle = actionColour(run.actions[t]);
      ink.fillRect(t * one, y, Math.max(one, 0.6), tall);
    }
  };
  band(0, 9, full);
  band(22, 9, yours);
  const marks = (y, run) => {
    ink.font = '700 9px system-ui, sans-serif';
    ink.textAlign = 'center';
    ink.textBaseline = 'middle';
    for (const { step, item, right } of run.items) {
      const x = Math.min(width - 6, Math.max(6, step * one));
      ink.fillStyle = itemColour(items[item]?.[0], item);
      ink.beginPath();
      ink.arc(x, y, 6, 0, 7);
      ink.fill();
      ink.fillStyle = '#fff';
      ink.fillText(right ? String(item + 1) : '×', x, y + 0.5);
    }
  };
  if (canPlayOn) drawFilledIn(ink, { y: 47, tall: 10, one, yours, gaps });
  else drawDecided(ink, { y: 47, tall: 10, one, yours });
  marks(15, full);
  marks(38, yours);
  ink.fillStyle = colour('ink');
  ink.fillRect((Math.min(moment, most - 1) + 0.5) * one, 0, 1, height);
}

function drawFilledIn(ink, { y, tall, one, yours, gaps }) {
  for (let t = 0; t < yours.length; t++) {
    const filled = t >= yours.parted;
    ink.fillStyle = filled ? colour('yours') : colour('full');
    ink.globalAlpha = filled ? 0.25 + 0.75 * yours.away[t] : 0.25;
    ink.fillRect(t * one, y, Math.max(one, 0.6), filled ? tall : 3);
  }
  ink.globalAlpha = 1;
  ink.fillStyle = colour('ink');
  if (gaps) for (let t = 0; t < gaps.length; t++) ink.fillRect(t * one, y + tall - Math.min(1, gaps[t]) * tall, Math.max(one, 0.6), 1);
}

function drawDecided(ink, { y, tall, one, yours }) {
  ink.fillStyle = colour('yours');
  for (const t of yours.otherwise ?? []) ink.fillRect(t * one, y, Math.max(one, 1), tall);
}
