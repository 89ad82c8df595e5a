// What the agent sees: the recorded picture where there is one, else a sketch drawn from the map.

const EYES = 41;
const CEILING = 128;

class ObservationView {
  /** @param {PageData} page */
  constructor({ about, arrays }) {
    this.about = about;
    this.pictures = about.pictures;
    /** @type {HTMLImageElement | null} */
    this.sheet = null;
    this.ready = this.#load(arrays.find("pictures", Uint8Array));
  }

  /** @param {Uint8Array<ArrayBuffer> | null} file */
  async #load(file) {
    if (file === null) return;
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([file], { type: "image/webp" }));
    await image.decode();
    this.sheet = image;
  }

  /**
   * Draw the step of a run; says what was drawn.
   * @param {HTMLCanvasElement} canvas
   * @param {Rollout} run
   * @param {number} moment
   */
  draw(canvas, run, moment) {
    const t = Math.min(moment, run.length - 1);
    const { way, touches } = run;
    if (t <= run.divergence) {
      if (this.sheet && this.pictures) return this.#picture(canvas, this.pictures, this.sheet, t);
    } else if (way?.angle && this.about.walls.length) {
      const gathered = touches.filter((touch) => touch.right && touch.step <= t).length;
      return this.#sketch(canvas, { x: way.x[t], y: way.y[t], angle: way.angle[t] }, gathered);
    }
    pen(canvas);
    return "";
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {PictureSheet} pictures
   * @param {HTMLImageElement} sheet
   * @param {number} t
   */
  #picture(canvas, pictures, sheet, t) {
    const { rows, width, height, across, pixelated } = pictures;
    let place = 0;
    while (place + 1 < rows.length && rows[place + 1] <= t) place += 1;
    const { ink, width: wide, height: tall } = pen(canvas);
    ink.imageSmoothingEnabled = !pixelated;
    const scale = Math.min(wide / width, tall / height);
    const [w, h] = [width * scale, height * scale];
    ink.drawImage(
      sheet,
      (place % across) * width,
      Math.floor(place / across) * height,
      width,
      height,
      (wide - w) / 2,
      (tall - h) / 2,
      w,
      h,
    );
    return "as recorded";
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Pose} pose
   * @param {number} gathered
   */
  #sketch(canvas, pose, gathered) {
    const { ink, width, height } = pen(canvas);
    const surface = { ink, width, height, focal: width / 2 };
    ink.fillStyle = "#2c2a2a";
    ink.fillRect(0, 0, width, height / 2);
    ink.fillStyle = "#6b5240";
    ink.fillRect(0, height / 2, width, height / 2);
    this.#things(pose, surface, this.#walls(pose, surface), gathered);
    return "a sketch: nobody recorded this view";
  }

  /**
   * @param {Pose} pose
   * @param {Surface & {focal: number}} surface
   */
  #walls({ x, y, angle }, { ink, width, height, focal }) {
    const heading = (angle * Math.PI) / 180;
    const columns = Math.ceil(width / 2);
    const depths = new Float32Array(columns);
    for (let c = 0; c < columns; c++) {
      const aside = (columns / 2 - c - 0.5) / (columns / 2);
      const dx = Math.cos(heading) - aside * Math.sin(heading);
      const dy = Math.sin(heading) + aside * Math.cos(heading);
      let depth = Infinity;
      let upright = false;
      for (const [x1, y1, x2, y2] of this.about.walls) {
        const isUpright = x1 === x2;
        const away = isUpright ? (x1 - x) / dx : (y1 - y) / dy;
        if (!(away > 0) || away >= depth) continue;
        const at = isUpright ? y + away * dy : x + away * dx;
        const [from, to] = isUpright ? [y1, y2] : [x1, x2];
        if (at < Math.min(from, to) || at > Math.max(from, to)) continue;
        depth = away;
        upright = isUpright;
      }
      depths[c] = depth;
      const light = Math.max(0.18, 1 - depth / 700) * (upright ? 150 : 122);
      ink.fillStyle = `rgb(${light},${light},${light * 0.98})`;
      const top = height / 2 - ((CEILING - EYES) / depth) * focal;
      const bottom = height / 2 + (EYES / depth) * focal;
      ink.fillRect(c * 2, top, 2, bottom - top);
    }
    return depths;
  }

  /**
   * @param {Pose} pose
   * @param {Surface & {focal: number}} surface
   * @param {Float32Array} depths
   * @param {number} gathered
   */
  #things({ x, y, angle }, { ink, width, height, focal }, depths, gathered) {
    const heading = (angle * Math.PI) / 180;
    const seen = this.about.items
      .map(([name, ix, iy], i) => {
        const [dx, dy] = [ix - x, iy - y];
        const depth = dx * Math.cos(heading) + dy * Math.sin(heading);
        const aside = -dx * Math.sin(heading) + dy * Math.cos(heading);
        return { i, name, depth, at: width / 2 - (aside / depth) * focal };
      })
      .filter(({ i, depth, at }) => i >= gathered && depth > 8 && at > -40 && at < width + 40)
      .sort((a, b) => b.depth - a.depth);
    for (const { i, name, depth, at } of seen) {
      const column = Math.min(depths.length - 1, Math.max(0, Math.floor(at / 2)));
      if (depths[column] < depth) continue;
      const radius = (12 / depth) * focal;
      ink.fillStyle = itemColour(name, i);
      ink.beginPath();
      ink.arc(at, height / 2 + (EYES / depth) * focal - radius, radius, 0, 7);
      ink.fill();
    }
  }
}
