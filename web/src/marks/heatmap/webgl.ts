/** The heat map on the GPU: tiles are textures, the order of elements is one more, so that sorting moves no data. */
import type { Rgb } from "./diverging";
import { pixelsOf, type HeatmapPainter, type HeatPicture, type HeatPiece, type HeatTile } from "./heatmap";

const vertex = `#version 300 es
void main() {
  gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0);
}`;

// Averages the cells of a pixel; the twin of this stands in heatmapcanvas.ts. Memories wider than a texture are wrapped,
// which takes divisions that all others are spared.
const fragment = (wrapped: boolean): string => `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform sampler2D tile;
uniform usampler2D order;
uniform int tileWidth, orderWidth, elements, bins, lines;
uniform float left, perColumn, top, perLine, height, range;
uniform vec3 negative, zero, positive, unknown;
out vec4 colour;

ivec2 cells(float begin, float end, int count) {
  if (end - begin < 1.0) {
    int cell = clamp(int(floor((begin + end) * 0.5)), 0, count - 1);
    return ivec2(cell, cell + 1);
  }
  int first = clamp(int(floor(begin + 1e-3)), 0, count - 1);
  int last = min(count, int(floor(end + 1e-3)));
  return ivec2(first, max(first + 1, last));
}

void main() {
  float x = gl_FragCoord.x - 0.5;
  float y = height - gl_FragCoord.y - 0.5;
  ivec2 across = cells(left + x * perColumn, left + (x + 1.0) * perColumn, bins);
  ivec2 down = cells(top + y * perLine, top + (y + 1.0) * perLine, lines);
  float sum = 0.0;
  int count = 0;
  for (int line = down.x; line < down.y; line++) {
    int element = int(texelFetch(order, ${wrapped ? "ivec2(line % orderWidth, line / orderWidth)" : "ivec2(line, 0)"}, 0).r);
    for (int bin = across.x; bin < across.y; bin++) {
      ${wrapped ? "int at = bin * elements + element;" : ""}
      float value = texelFetch(tile, ${wrapped ? "ivec2(at % tileWidth, at / tileWidth)" : "ivec2(element, bin)"}, 0).r;
      if (!isnan(value)) {
        sum += value;
        count++;
      }
    }
  }
  if (count == 0) {
    colour = vec4(unknown, 1.0);
    return;
  }
  float share = clamp(sum / float(count) / range, -1.0, 1.0);
  colour = vec4(mix(zero, share < 0.0 ? negative : positive, abs(share)), 1.0);
}`;

const names = [
  "tile",
  "order",
  "tileWidth",
  "orderWidth",
  "elements",
  "bins",
  "lines",
  "left",
  "perColumn",
  "top",
  "perLine",
  "height",
  "range",
  "negative",
  "zero",
  "positive",
  "unknown",
] as const;
type Uniform = (typeof names)[number];

/** Bytes of tiles that stay on the GPU. */
const cacheBytes = 48e6;

interface CachedTile {
  readonly texture: WebGLTexture;
  readonly width: number;
  readonly bytes: number;
}

export class GlHeatmap implements HeatmapPainter {
  readonly kind = "webgl";
  private readonly programs: { narrow: Program; wrapped: Program | null };
  private at: Program["at"];
  private readonly widest: number;
  private readonly cached = new Map<HeatTile, CachedTile>();
  private bytes = 0;
  private order: { of: Uint32Array<ArrayBufferLike>; texture: WebGLTexture; width: number } | null = null;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.programs = { narrow: link(gl, false), wrapped: null };
    this.at = this.programs.narrow.at;
    this.widest = gl.getParameter(gl.MAX_TEXTURE_SIZE) as number;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  draw(picture: HeatPicture): void {
    const { gl } = this;
    const { width, height } = gl.canvas;
    if (gl.isContextLost() || !width || !height) return;
    gl.viewport(0, 0, width, height);
    gl.disable(gl.SCISSOR_TEST);
    const [r, g, b] = picture.scale.unknown.map((c) => c / 255) as unknown as Rgb;
    gl.clearColor(r, g, b, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!picture.order.length) return;
    const at = this.useProgram(picture);
    gl.enable(gl.SCISSOR_TEST);
    this.useOrder(picture.order);
    gl.uniform1f(at.top, picture.top);
    gl.uniform1f(at.perLine, (picture.bottom - picture.top) / height);
    gl.uniform1f(at.height, height);
    gl.uniform1f(at.range, picture.range);
    for (const name of ["negative", "zero", "positive", "unknown"] as const)
      gl.uniform3fv(
        at[name],
        picture.scale[name].map((c) => c / 255),
      );
    for (const piece of picture.pieces) this.drawPiece(piece, picture, width, height);
  }

  private useProgram({ pieces, order }: HeatPicture): Program["at"] {
    const wide = Math.max(order.length, ...pieces.map(({ tile }) => tile.elements)) > this.widest;
    if (wide) this.programs.wrapped ??= link(this.gl, true);
    const { program, at } = (wide && this.programs.wrapped) || this.programs.narrow;
    this.gl.useProgram(program);
    return (this.at = at);
  }

  dispose(): void {
    for (const { texture } of this.cached.values()) this.gl.deleteTexture(texture);
    this.cached.clear();
    if (this.order) this.gl.deleteTexture(this.order.texture);
    for (const made of [this.programs.narrow, this.programs.wrapped]) if (made) this.gl.deleteProgram(made.program);
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private drawPiece(piece: HeatPiece, picture: HeatPicture, width: number, height: number): void {
    const { gl, at } = this;
    const { tile } = piece;
    const [left, right] = pixelsOf(piece, picture, width);
    if (left >= right) return;
    const cached = this.useTile(tile);
    gl.uniform1i(at.tileWidth, cached.width);
    gl.uniform1i(at.elements, tile.elements);
    gl.uniform1i(at.bins, tile.bins);
    gl.uniform1f(at.left, (picture.from - tile.first) / tile.rowsPerBin);
    gl.uniform1f(at.perColumn, (picture.to - picture.from) / width / tile.rowsPerBin);
    gl.scissor(left, 0, right - left, height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  private useOrder(order: Uint32Array): void {
    const { gl, at } = this;
    gl.activeTexture(gl.TEXTURE1);
    if (this.order?.of !== order) {
      if (this.order) gl.deleteTexture(this.order.texture);
      const width = Math.min(order.length, this.widest);
      const lines = Math.ceil(order.length / width);
      const padded = new Uint32Array(width * lines);
      padded.set(order);
      const texture = blank(gl);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32UI, width, lines, 0, gl.RED_INTEGER, gl.UNSIGNED_INT, padded);
      this.order = { of: order, texture, width };
    }
    gl.bindTexture(gl.TEXTURE_2D, this.order.texture);
    gl.uniform1i(at.order, 1);
    gl.uniform1i(at.orderWidth, this.order.width);
    gl.uniform1i(at.lines, order.length);
  }

  private useTile(tile: HeatTile): CachedTile {
    const { gl, at } = this;
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(at.tile, 0);
    let cached = this.cached.get(tile);
    if (cached) {
      this.cached.delete(tile);
      gl.bindTexture(gl.TEXTURE_2D, cached.texture);
    } else cached = this.upload(tile);
    this.cached.set(tile, cached);
    return cached;
  }

  private upload(tile: HeatTile): CachedTile {
    const { gl } = this;
    const { values } = tile;
    const width = Math.min(tile.elements, this.widest);
    const lines = Math.ceil(values.length / width);
    const whole = width * lines === values.length ? values : padded(values, width * lines);
    const texture = blank(gl);
    if (whole instanceof Uint16Array)
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16F, width, lines, 0, gl.RED, gl.HALF_FLOAT, whole);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, width, lines, 0, gl.RED, gl.FLOAT, whole);
    this.bytes += values.byteLength;
    for (const [old, other] of this.cached) {
      if (this.bytes <= cacheBytes) break;
      gl.deleteTexture(other.texture);
      this.bytes -= other.bytes;
      this.cached.delete(old);
    }
    gl.bindTexture(gl.TEXTURE_2D, texture);
    return { texture, width, bytes: values.byteLength };
  }
}

function padded(values: Float32Array | Uint16Array, length: number): Float32Array | Uint16Array {
  const out = values instanceof Uint16Array ? new Uint16Array(length) : new Float32Array(length);
  out.set(values);
  return out;
}

function blank(gl: WebGL2RenderingContext): WebGLTexture {
  const texture = gl.createTexture()!;
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  return texture;
}

interface Program {
  readonly program: WebGLProgram;
  readonly at: Readonly<Record<Uniform, WebGLUniformLocation | null>>;
}

function link(gl: WebGL2RenderingContext, wrapped: boolean): Program {
  const program = gl.createProgram()!;
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment(wrapped)],
  ] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`The heat map cannot be drawn by this GPU: ${gl.getProgramInfoLog(program) ?? ""}`);
  const places = names.map((name) => [name, gl.getUniformLocation(program, name)] as const);
  return { program, at: Object.fromEntries(places) as Program["at"] };
}
