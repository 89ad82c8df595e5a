// The parts of page.html that the scripts work with, and new ones. Whatever comes out of the recording is text.

const PARTS = {
  agreement: HTMLElement,
  allOff: HTMLButtonElement,
  allOn: HTMLButtonElement,
  anyLuck: HTMLInputElement,
  attempts: HTMLTableElement,
  back: HTMLButtonElement,
  curve: HTMLCanvasElement,
  curveSaid: HTMLElement,
  elements: HTMLElement,
  featureGap: HTMLElement,
  flip: HTMLButtonElement,
  found: HTMLElement,
  fromGrid: HTMLInputElement,
  gridFull: HTMLElement,
  heatFull: HTMLCanvasElement,
  heatYours: HTMLCanvasElement,
  itemNames: HTMLElement,
  legend: HTMLElement,
  luck: HTMLButtonElement,
  lucky: HTMLOutputElement,
  main: HTMLElement,
  map: HTMLCanvasElement,
  mapSaid: HTMLElement,
  mazeWide: HTMLElement,
  mode: HTMLSelectElement,
  moment: HTMLInputElement,
  namedYours: HTMLElement,
  now: HTMLOutputElement,
  others: HTMLButtonElement,
  play: HTMLButtonElement,
  poseCount: HTMLElement,
  saidFull: HTMLElement,
  saidYours: HTMLElement,
  samples: HTMLElement,
  savedReductions: HTMLElement,
  search: HTMLButtonElement,
  searched: HTMLOutputElement,
  seenFrom: HTMLElement,
  showPoses: HTMLInputElement,
  stage: HTMLElement,
  start: HTMLInputElement,
  strips: HTMLCanvasElement,
  theme: HTMLButtonElement,
  top: HTMLInputElement,
  topSaid: HTMLOutputElement,
  value: HTMLInputElement,
  view: HTMLCanvasElement,
  waiting: HTMLElement,
  walkGap: HTMLElement,
  walkUsually: HTMLElement,
  policy: HTMLElement,
  watch: HTMLButtonElement,
};

/**
 * A part of the page by its id.
 * @template {keyof typeof PARTS} Id
 * @param {Id} id
 * @returns {InstanceType<(typeof PARTS)[Id]>}
 */
function $(id) {
  const node = document.getElementById(id);
  const type = /** @type {new () => InstanceType<(typeof PARTS)[Id]>} */ (PARTS[id]);
  if (node instanceof type) return node;
  throw new TypeError(`its part '${id}' is missing or no ${type.name}`);
}

/**
 * Radio buttons of a name.
 * @param {string} name
 * @returns {NodeListOf<HTMLInputElement>}
 */
const radios = (name) => document.querySelectorAll(`input[name=${name}]`);

/**
 * A new element. `kind` is its class.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 */
function make(tag, { text = "", kind = "", ...rest } = {}, ...children) {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  if (kind) node.className = kind;
  for (const [name, value] of Object.entries(rest)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/**
 * Where a pointer is on an element, 0 to 1 from left to right and from top to bottom.
 * @param {MouseEvent} event
 * @param {HTMLElement} node
 * @returns {Point}
 */
const shareOf = (event, node) => [event.offsetX / node.clientWidth, event.offsetY / node.clientHeight];
