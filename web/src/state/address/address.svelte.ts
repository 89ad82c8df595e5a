/** What the address of the page may hold: keys, each declared once with its name, type and default. */
import { SvelteMap } from "svelte/reactivity";

/** One key of the address. A text that cannot be read counts as the default. */
export interface Key<T> {
  readonly name: string;
  readonly otherwise: T;
  /** Undefined where the text is no such value. */
  readonly read: (text: string) => T | undefined;
  readonly write: (value: T) => string;
  /** Whether each of two sources has a value of its own: which result, which factor. */
  readonly own: boolean;
}

interface More<T> {
  readonly otherwise?: T;
  readonly own?: boolean;
}

const keys = new Map<string, Key<unknown>>();
/** Prefixes of keys that there are many of. */
const families = new Map<string, Key<unknown>>();
const ownB = "b.";
/** Stands for a default that has no text; never written. */
const unsaid = "\0";

function declared<T>(known: Map<string, Key<unknown>>, key: Key<T>): Key<T> {
  // While the page is developed a module may be read again; else two owners of one key are a mistake.
  if (known.has(key.name) && !import.meta.hot)
    throw new Error(`The key “${key.name}” of the address is declared twice.`);
  known.set(key.name, key as Key<unknown>);
  return key;
}

/** A value with its own way to be written as text. */
export function key<T>(name: string, how: Pick<Key<T>, "otherwise" | "read" | "write"> & { own?: boolean }): Key<T> {
  return declared(keys, { name, own: false, ...how });
}

export const text = (name: string, { otherwise = "", own = false }: More<string> = {}): Key<string> =>
  key(name, { otherwise, own, read: (told) => told, write: (value) => value });

/** One of a few words; the first is the default. */
export const choice = <T extends string>(name: string, words: readonly [T, ...T[]]): Key<T> =>
  key<T>(name, { otherwise: words[0], read: (told) => words.find((word) => word === told), write: (value) => value });

/** One of a few words, or null where nobody said: what is usual then depends on what is shown. */
export const wish = <T extends string>(name: string, words?: readonly T[]): Key<T | null> =>
  key<T | null>(name, {
    otherwise: null,
    read: (told) => (words ? words.find((word) => word === told) : (told as T)),
    write: (value) => value ?? unsaid,
  });

/** A list of names, or null where nobody said. */
export const names = (name: string): Key<readonly string[] | null> =>
  key<readonly string[] | null>(name, {
    otherwise: null,
    read: (told) => decoded(told.split(",").filter(Boolean)),
    write: (value) => (value ? value.map(encodeURIComponent).join(",") : unsaid),
  });

export const flag = (name: string, otherwise = false): Key<boolean> =>
  key(name, { otherwise, read: (told) => ({ on: true, off: false })[told], write: (value) => (value ? "on" : "off") });

export const amount = (
  name: string,
  { otherwise, fits = Number.isFinite }: { otherwise: number; fits?: (value: number) => boolean },
): Key<number> =>
  key(name, {
    otherwise,
    read: (told) => (told.trim() !== "" && fits(Number(told)) ? Number(told) : undefined),
    write: String,
  });

/** Undefined where the text was cut in the middle of a letter. */
export function decoded(parts: readonly string[]): string[] | undefined {
  try {
    return parts.map(decodeURIComponent);
  } catch (problem) {
    if (problem instanceof URIError) return undefined;
    throw problem;
  }
}

/** A key for each of many things: `result-factors` is that of the family `result-` for “factors”. */
export function family(prefix: string, { own = false }: { own?: boolean } = {}): (member: string) => Key<string> {
  const made = { otherwise: "", own, read: (told: string) => told, write: (value: string) => value };
  declared(families, { name: prefix, ...made });
  return (member) => ({ name: prefix + member, ...made });
}

function declaredKey(name: string): Key<unknown> | undefined {
  return keys.get(name) ?? [...families.values()].find((each) => name.startsWith(each.name));
}

/** What is written in the address now. Only what differs from its default is. */
export class Address {
  private readonly written = new SvelteMap<string, string>();
  readonly a: Scope = new Scope(this.written, "");
  readonly b: Scope = new Scope(this.written, ownB);

  /** Take over what a link says, but for what nobody knows or can read. */
  restore(settings: Readonly<Record<string, string>>): void {
    const good = Object.entries(settings).filter(([name, told]) => {
      const bare = name.startsWith(ownB) ? name.slice(ownB.length) : name;
      const known = declaredKey(bare);
      return known !== undefined && (bare === name || known.own) && known.read(told) !== undefined;
    });
    const wanted = new Map(good);
    for (const name of [...this.written.keys()]) if (!wanted.has(name)) this.written.delete(name);
    for (const [name, told] of wanted) if (this.written.get(name) !== told) this.written.set(name, told);
  }

  get settings(): Record<string, string> {
    return Object.fromEntries(this.written);
  }
}

/** The address as one of two sources reads it: most keys are shared, some are its own. */
export class Scope {
  constructor(
    private readonly written: SvelteMap<string, string>,
    private readonly prefix: string,
  ) {}

  get<T>(key: Key<T>): T {
    const told = this.written.get(this.nameOf(key));
    return told === undefined ? key.otherwise : (key.read(told) ?? key.otherwise);
  }

  set<T>(key: Key<T>, value: T): void {
    const told = key.write(value);
    const name = this.nameOf(key);
    if (told === key.write(key.otherwise)) this.written.delete(name);
    else if (this.written.get(name) !== told) this.written.set(name, told);
  }

  clear(...some: readonly Pick<Key<never>, "name" | "own">[]): void {
    for (const each of some) this.written.delete(this.nameOf(each));
  }

  private nameOf(key: Pick<Key<never>, "name" | "own">): string {
    return key.own ? this.prefix + key.name : key.name;
  }
}
