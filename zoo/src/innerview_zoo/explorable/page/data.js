// Reads what the page was written with: facts as JSON, numbers as compressed bytes. Names in it are only ever text.

const TYPES = {
  float32: Float32Array,
  float64: Float64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  int32: Int32Array,
};

/** Arrays by name, each asked for by the type it must have. */
class PageArrays {
  /**
   * @param {ArrayEntry[]} entries
   * @param {ArrayBuffer} buffer
   */
  constructor(entries, buffer) {
    /** @type {Map<string, NumberArray>} */
    this.byName = new Map();
    for (const { name, type, shape, offset } of entries) {
      const length = shape.reduce((a, b) => a * b, 1);
      this.byName.set(name, new TYPES[type](buffer, offset, length));
    }
  }

  /**
   * The array, or null where the page was written without it.
   * @template {NumberArray} T
   * @param {string} name
   * @param {NumberArrayClass<T>} type
   * @returns {T | null}
   */
  find(name, type) {
    const array = this.byName.get(name);
    if (array === undefined) return null;
    if (array instanceof type) return array;
    throw new TypeError(`its array '${name}' is no ${type.name}`);
  }

  /**
   * @template {NumberArray} T
   * @param {string} name
   * @param {NumberArrayClass<T>} type
   */
  get(name, type) {
    const array = this.find(name, type);
    if (array === null) throw new TypeError(`its array '${name}' is missing`);
    return array;
  }
}

/** @param {string} text */
async function unpack(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** @param {"about" | "bytes"} id */
function embeddedText(id) {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new TypeError(`its part '${id}' is missing`);
  return text;
}

/** @returns {Promise<PageData>} */
async function readPage() {
  /** @type {About} */
  const about = JSON.parse(embeddedText("about"));
  return { about, arrays: new PageArrays(about.arrays, await unpack(embeddedText("bytes"))) };
}
