/** The way in: the one-time code of the address becomes a path that this page and the service know, nobody else. */
const stored = "innerview.path";

/** Before which path this browser asks; nothing where it has not been let in. */
export function knownPath(): string {
  try {
    return localStorage.getItem(stored) ?? "";
  } catch {
    return ""; // storage may be forbidden; then each address opens one page
  }
}

/** Exchange the code that stands in the address, if there is one, and take it out. */
export async function enter(): Promise<string> {
  const address = new URL(location.href);
  const code = address.searchParams.get("code");
  if (code === null) return knownPath();
  const reply = await fetch("/api/door", {
    method: "POST",
    credentials: "same-origin",
    body: JSON.stringify({ code }),
    headers: { "content-type": "application/json" },
  });
  address.searchParams.delete("code");
  history.replaceState(null, "", address);
  if (!reply.ok) return knownPath(); // used already; whether this browser is known is asked next
  const { path } = (await reply.json()) as { path: string };
  try {
    localStorage.setItem(stored, path);
  } catch {
    // As above.
  }
  return path;
}
