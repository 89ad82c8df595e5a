// What the page is given by `page.py`, and what its scripts hand to one another. Holds types only and is no part of
// the page itself.

/** Facts about the episode, as JSON. Written by `_about` in `page.py`. */
interface About {
  title: string;
  subject: string;
  world: string;
  recording: string;
  episode: number;
  seed: number | null;
  steps: number;
  outcome: string;
  return: number;
  greedy: boolean;
  /** Where the random numbers behind the actions come from. */
  draws: "recorded" | "made to fit" | "none";
  actions: string[];
  /** For each action the buttons it presses, where the page can play on. */
  buttons: Buttons[] | null;
  /** Steps after which time is up, where the page can play on. */
  limit: number | null;
  kind: "gru" | "lstm";
  size: number;
  policy: StageKind[];
  walls: Wall[];
  items: Item[];
  pictures: PictureSheet | null;
  reductions: Reduction[];
  grid: Grid | null;
  arrays: ArrayEntry[];
}

type StageKind = "linear" | "relu" | "tanh" | "sigmoid" | "elu";
/** Left, right, forward: 1 where pressed. */
type Buttons = [left: number, right: number, forward: number];
/** A segment that runs along an axis, in map units. */
type Wall = [x1: number, y1: number, x2: number, y2: number];
type Item = [name: string, x: number, y: number];
type Point = [x: number, y: number];

/** Some observations of the episode on one picture. */
interface PictureSheet {
  /** The step of each, from left to right and top to bottom. */
  rows: number[];
  width: number;
  height: number;
  across: number;
  pixelated: boolean;
}

/** Poses at which the recurrent layer's input is known. Written by `_grid` in `page.py`. */
interface Grid {
  /** Places of lines, of x and of y alike, in map units. */
  lines: number[];
  headings: number;
  directions: number;
  blocks: number;
  /** How many items may have been gathered: none, one, … all but one. */
  states: number;
  step: number;
  rounding: number;
}

/** A saved reduction of the study. */
interface Reduction {
  name: string;
  note: string;
  edits: Edit[];
}

type Operation = "zero" | "freeze" | "set";

/** A change to elements of the memory from step `start` until before step `stop`. */
interface Edit {
  elements: number[];
  op: Operation;
  value?: number;
  start?: number;
  stop?: number | null;
}

/** An edit under way: `held` are the values its elements were frozen at. */
type ActiveEdit = Required<Edit> & { held: number[] | null };
type AblationOptions = { op?: Operation; value?: number; start?: number };

type ArrayType = "float32" | "float64" | "uint8" | "uint16" | "int32";
type NumberArray = Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array;
type NumberArrayClass<T extends NumberArray> = abstract new (...parameters: never[]) => T;
interface ArrayEntry {
  name: string;
  type: ArrayType;
  shape: number[];
  offset: number;
}

interface PageData {
  about: About;
  arrays: PageArrays;
}

/** What a memory is between two steps; an LSTM has a cell, too. */
interface MemoryState {
  hidden: Float32Array;
  cell: Float32Array | null;
}

type PolicyStage = LinearStage | { kind: Exclude<StageKind, "linear"> };
interface LinearStage {
  kind: "linear";
  weight: Float32Array;
  bias: Float32Array;
}

interface Pose {
  x: number;
  y: number;
  /** Degrees, counter-clockwise from east. */
  angle: number;
}

/** Where an agent was, by step. */
interface Way {
  x: Float32Array;
  y: Float32Array;
  /** Degrees; null where the world does not say. */
  angle: Float32Array | null;
}

/** An item that was touched. */
interface ItemTouch {
  step: number;
  item: number;
  /** Whether it was its turn. */
  right: boolean;
}

/** An episode, recorded or computed. */
interface Rollout {
  length: number;
  /** The first step that is not as recorded; its length where there is none. */
  divergence: number;
  outcome: string;
  gathered: number;
  touches: ItemTouch[];
  /** Recorded steps at which another action was taken. */
  otherwise: number[];
  /** Of the memory, steps × size. */
  states: Float32Array;
  /** Of the actions, steps × actions. */
  chances: Float32Array;
  actions: Uint8Array;
  way: Way | null;
  /** How far the nearest known pose is: 0 on it, 1 as far as can be. */
  away: Float32Array;
}

interface RolloutOptions {
  /** Take what is seen from the grid from the first step on, also where the recording would do. */
  fromGrid?: boolean;
  /** Other random numbers than the recorded ones. */
  draws?: Float64Array | null;
}

type Measure = "activation" | "change";

interface SearchOptions {
  rounds: number;
  fromGrid: boolean;
  /** How many other sequences of random numbers it must finish with as well. */
  sequences: number;
}
interface SearchProgress {
  smallest: number[];
  now: number[];
  tried: number;
  round: number;
}

/** How rollouts under other random numbers fared. */
interface Trials {
  finished: number;
  /** Items gathered, on average. */
  items: number;
  times: number;
}

interface Surface {
  ink: CanvasRenderingContext2D;
  width: number;
  height: number;
}
/** From map units to pixels. */
interface MapScale {
  scale: number;
  x: (value: number) => number;
  y: (value: number) => number;
}
interface DrawnRollout {
  run: Rollout;
  hue: string;
  wide?: number;
}
interface MapOptions {
  moment?: number | null;
  poses?: Point[] | null;
  small?: boolean;
}
interface HeatOptions {
  size: number;
  order: number[];
  steps: number;
  moment: number;
  remaining?: ReadonlySet<number> | null;
}
interface StripOptions {
  full: Rollout;
  yours: Rollout;
  steps: number;
  moment: number;
  items: Item[];
  canPlayOn: boolean;
  gaps: Float32Array | null;
}
/** A band of the strips, in pixels; `one` is the width of a step. */
interface Band {
  y: number;
  tall: number;
  one: number;
  yours: Rollout;
}
interface CurvePoint {
  share: number;
  good: boolean;
}
interface CurveOptions {
  points: CurvePoint[];
  size: number;
  chosen: number;
}

/** How a rollout ended, in words. */
interface Ending {
  text: string;
  short: string;
  good: boolean;
}
type Attributes = { text?: string; kind?: string } & Record<string, string>;

/** Which elements remain, why, and the edits that stand for it where it is more than switching off. */
interface Choice {
  remaining: ReadonlySet<number>;
  reason: string;
  edits: Edit[] | null;
}
type Attempt = Choice & { run: Rollout };

/** How far the page can be trusted. */
interface Fidelity {
  /** Largest difference between a recorded state and one that is computed here. */
  agreement: number;
  /** What is known only where the page can play on. */
  playingOn: {
    features: number;
    /** Distance from the recorded place after each step, in map units. */
    walks: number[];
    control: Rollout;
    /** Mean distance of `control` from the recorded way, in map units. */
    distance: number;
  } | null;
}

interface Window {
  /** For those who check the page from outside: what it computed, and a way to roll out any edits. */
  explorable?: {
    fidelity: Fidelity;
    rollOut: (edits: Edit[], options?: RolloutOptions) => Rollout;
    stage: Stage;
  };
}
