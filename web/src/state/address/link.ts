/** The address of the page: everything that is needed to see the same again. */
export interface Link {
  readonly workspace: string;
  readonly recording: string;
  readonly group: number | null;
  readonly step: number | null;
  readonly selection: string;
  readonly settings: Readonly<Record<string, string>>;
}

const own = new Set(["episode", "step", "select"]);

export function formatLink(link: Link): string {
  const path = `#/${encodeURIComponent(link.workspace)}/${encodeURIComponent(link.recording)}`;
  const query: string[] = [];
  if (link.group !== null) query.push(`episode=${link.group}`);
  if (link.step !== null) query.push(`step=${link.step}`);
  if (link.selection) query.push(`select=${link.selection}`);
  for (const [key, value] of Object.entries(link.settings).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (!own.has(key)) query.push(`${soft(key)}=${soft(value)}`);
  return query.length ? `${path}?${query.join("&")}` : path;
}

export function parseLink(hash: string): Link {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [workspace = "", recording = ""] = path.split("/").map(decode);
  const settings: Record<string, string> = {};
  const found: Record<string, string> = {};
  for (const pair of query.split("&").filter(Boolean)) {
    const at = pair.indexOf("=");
    const key = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? "" : pair.slice(at + 1);
    // The text of a selection quotes itself.
    if (own.has(key)) found[key] = value;
    else settings[key] = decode(value);
  }
  const selection = found.select ?? "";
  return { workspace, recording, group: whole(found.episode), step: whole(found.step), selection, settings };
}

/** Characters that our texts use as separators stay readable. */
const soft = (text: string): string => encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (problem) {
    if (problem instanceof URIError) return text;
    throw problem;
  }
}

function whole(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= 0 ? value : null;
}
