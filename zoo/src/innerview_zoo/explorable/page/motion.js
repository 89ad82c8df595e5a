// How Doom moves a player, tic by tic: turning that starts slowly, thrust, friction, and sliding along walls.
// Follows the engine's own rules for walls that run along the axes, so that it stays close over hundreds of steps.

const FRICTION = 0.90625;
const THRUST = 0.78125;
const SLOWEST = 0.0625;
const RADIUS = 16;
const REACH = 36; // player's and item's radius together
const TICS = 4;
const FUDGE = 1 / 32;
const TURN = 360 / 65536;

/** Walls as the mover needs them: [x1, y1, x2, y2] with open space on the right hand. */
class Mover {
  constructor(walls, start, rules) {
    this.walls = walls;
    this.rules = rules;
    this.x = start.x;
    this.y = start.y;
    this.angle = start.angle;
    this.vx = this.vy = this.held = this.tic = 0;
  }

  /** Hold buttons [left, right, forward] for the tics of a step; `touch` is told each place and may end it. */
  step(buttons, touch) {
    for (let i = 0; i < TICS; i++) {
      this.#tic(buttons);
      if (touch(this.x, this.y)) return;
    }
  }

  #tic([left, right, forward]) {
    this.tic += 1;
    const asleep = this.tic <= this.rules.asleep;
    this.held = left || right ? this.held + 1 : 0;
    if (asleep) return;
    if (left || right) {
      const speed = (this.held < 6 ? 320 : 640) * TURN;
      this.angle = (this.angle + (left ? speed : 0) - (right ? speed : 0) + 360) % 360;
    }
    if (forward) {
      const heading = (this.angle * Math.PI) / 180;
      this.vx += THRUST * Math.cos(heading);
      this.vy += THRUST * Math.sin(heading);
    }
    if (this.vx || this.vy) this.#move();
    if (!forward && Math.abs(this.vx) < SLOWEST && Math.abs(this.vy) < SLOWEST) this.vx = this.vy = 0;
    this.vx *= FRICTION;
    this.vy *= FRICTION;
  }

  #free(x, y) {
    for (const [x1, y1, x2, y2] of this.walls) {
      const clear =
        x + RADIUS <= Math.min(x1, x2) ||
        x - RADIUS >= Math.max(x1, x2) ||
        y + RADIUS <= Math.min(y1, y2) ||
        y - RADIUS >= Math.max(y1, y2);
      if (!clear) return false;
    }
    return true;
  }

  #go(dx, dy) {
    if (!this.#free(this.x + dx, this.y + dy)) return false;
    this.x += dx;
    this.y += dy;
    return true;
  }

  #move() {
    if (!this.#go(this.vx, this.vy)) this.#slide(this.vx, this.vy);
  }

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

  /** The wall that one of the three leading corners meets first. */
  #firstHit(dx, dy) {
    const leadX = this.x + (dx > 0 ? RADIUS : -RADIUS);
    const trailX = this.x - (dx > 0 ? RADIUS : -RADIUS);
    const leadY = this.y + (dy > 0 ? RADIUS : -RADIUS);
    const trailY = this.y - (dy > 0 ? RADIUS : -RADIUS);
    let best = null;
    for (const [px, py] of [[leadX, leadY], [trailX, leadY], [leadX, trailY]]) {
      for (const wall of this.walls) {
        const share = this.#meets(wall, px, py, dx, dy);
        if (share !== null && (best === null || share < best.share))
          best = { share, upright: wall[0] === wall[2] };
      }
    }
    return best;
  }

  #meets([x1, y1, x2, y2], px, py, dx, dy) {
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
