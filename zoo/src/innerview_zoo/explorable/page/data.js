// Reads what the page was written with: facts as JSON, numbers as compressed bytes. Names in it are only ever text.

const TYPES = {
  float32: Float32Array,
  float64: Float64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  int32: Int32Array,
};

async function unpacked(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** Facts and arrays by name; `shapes` holds the arrays' sizes. */
async function readPage() {
  const about = JSON.parse(document.getElementById('about').textContent);
  const buffer = await unpacked(document.getElementById('bytes').textContent);
  const arrays = {};
  const shapes = {};
  for (const { name, type, shape, offset } of about.arrays) {
    const length = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new TYPES[type](buffer, offset, length);
    shapes[name] = shape;
  }
  return { about, arrays, shapes };
}
