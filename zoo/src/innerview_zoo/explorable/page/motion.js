// How Doom moves a player, tic by tic: turning that starts slowly, thrust, friction, and sliding along walls.
// Follows the engine's own rules for walls that run along the axes, so that it stays close over hundreds of steps.

const FRICTION = 0.90625;
const THRUST = 0.78125;
const MIN_SPEED = 0.0625;
const RADIUS = 16;
const REACH = 36; // player's and item's radius together
const TICS = 4;
const ASLEEP_TICS = 7; // at the start of an episode, in which the engine takes no buttons
const FUDGE = 1 / 32;
const TURN = 360 / 65536;

/** A player among walls that have open space on their right hand. */
class Player {
  /**
   * @param {Wall[]} walls
   * @param {Pose} start
   */
  constructor(walls, start) {
    this.walls = walls;
    this.x = start.x;
    this.y = start.y;
    this.angle = start.angle;
    this.vx = 0;
    this.vy = 0;
    this.turning = 0;
    this.tic = 0;
  }

  /**
   * Hold buttons for the tics of a step; `touch` gets each place and may end the step.
   * @param {Buttons} buttons
   * @param {(x: number, y: number) => boolean} [touch]
   */
  step(buttons, touch) {
    for (let i = 0; i < TICS; i++) {
      this.#tic(buttons);
      if (touch?.(this.x, this.y)) return;
    }
  }

  /** @param {Buttons} buttons */
  #tic([left, right, forward]) {
    this.tic += 1;
    this.turning = left || right ? this.turning + 1 : 0;
    if (this.tic <= ASLEEP_TICS) return;
    if (left || right) {
      const speed = (this.turning < 6 ? 320 : 640) * TURN;
      this.angle = (this.angle + (left ? speed : 0) - (right ? speed : 0) + 360) % 360;
    }
    if (forward) {
      const heading = (this.angle * Math.PI) / 180;
      this.vx += THRUST * Math.cos(heading);
      this.vy += THRUST * Math.sin(heading);
    }
    if (this.vx || this.vy) this.#move();
    if (!forward && Math.abs(this.vx) < MIN_SPEED && Math.abs(this.vy) < MIN_SPEED) this.vx = this.vy = 0;
    this.vx *= FRICTION;
    this.vy *= FRICTION;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #isFree(x, y) {
    return this.walls.every(
      ([x1, y1, x2, y2]) =>
        x + RADIUS <= Math.min(x1, x2) ||
        x - RADIUS >= Math.max(x1, x2) ||
        y + RADIUS <= Math.min(y1, y2) ||
        y - RADIUS >= Math.max(y1, y2),
    );
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  #go(dx, dy) {
    if (!this.#isFree(this.x + dx, this.y + dy)) return false;
    this.x += dx;
    this.y += dy;
    return true;
  }

  #move() {
    if (!this.#go(this.vx, this.vy)) this.#slide(this.vx, this.vy);
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  #slide(dx, dy) {
    for (let tries = 0; tries < 2; tries++) {
      const hit = this.#firstHit(dx, dy);
      if (hit === null) break;
      const near = hit.share - FUDGE;
      if (near > 0 && !this.#go(dx * near, dy * near)) break;
      const rest = Math.min(1, 1 - (near + FUDGE));
      if (rest <= 0) return;
      dx = hit.upright ? 0 : dx * rest;
      dy = hit.upright ? dy * rest : 0;
      this.vx = dx;
      this.vy = dy;
      if (this.#go(dx, dy)) return;
    }
    if (!this.#go(0, dy)) this.#go(dx, 0);
  }

  /**
   * The wall that one of the three leading corners meets first.
   * @param {number} dx
   * @param {number} dy
   */
  #firstHit(dx, dy) {
    const leadX = this.x + (dx > 0 ? RADIUS : -RADIUS);
    const trailX = this.x - (dx > 0 ? RADIUS : -RADIUS);
    const leadY = this.y + (dy > 0 ? RADIUS : -RADIUS);
    const trailY = this.y - (dy > 0 ? RADIUS : -RADIUS);
    /** @type {Point[]} */
    const corners = [
      [leadX, leadY],
      [trailX, leadY],
      [leadX, trailY],
    ];
    /** @type {{share: number, upright: boolean} | null} */
    let first = null;
    for (const corner of corners)
      for (const wall of this.walls) {
        const share = this.#meets(wall, corner, dx, dy);
        if (share !== null && (first === null || share < first.share)) first = { share, upright: wall[0] === wall[2] };
      }
    return first;
  }

  /**
   * The share of a move after which a corner is on a wall; null where it does not meet it.
   * @param {Wall} wall
   * @param {Point} corner
   * @param {number} dx
   * @param {number} dy
   */
  #meets([x1, y1, x2, y2], [px, py], dx, dy) {
    // Walls are met from their open side only.
    if ((this.x - x1) * (y2 - y1) - (this.y - y1) * (x2 - x1) <= 0) return null;
    const upright = x1 === x2;
    const speed = upright ? dx : dy;
    if (speed === 0) return null;
    const share = (upright ? x1 - px : y1 - py) / speed;
    if (share < 0 || share > 1) return null;
    const at = upright ? py + share * dy : px + share * dx;
    const low = upright ? Math.min(y1, y2) : Math.min(x1, x2);
    const high = upright ? Math.max(y1, y2) : Math.max(x1, x2);
    return at >= low && at <= high ? share : null;
  }
}
