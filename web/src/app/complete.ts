// What may stand at a place of an experiment file, by its JSON Schema. It reads
// the YAML only as far as indentation tells: a file that is being written is
// seldom whole.

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  required?: string[];
}

export interface Item {
  label: string;
  detail: string;
  /** What replaces the text from Completion.from to the cursor. */
  insert: string;
}

export interface Completion {
  from: number;
  items: Item[];
}

const KEY = /^(\s*)((?:- +)*)(?:"([^"]*)"|'([^']*)'|([\w.\-]+))\s*:(?:\s+(.*))?$/;

interface Line {
  indent: number; // of its key, behind dashes
  dashes: number; // how many list items begin on it
  key?: string;
  value: string;
}

function read(text: string): Line | undefined {
  if (!text.trim() || /^\s*#/.test(text)) return undefined;
  const m = KEY.exec(text.replace(/\s+#.*$/, ""));
  const lead = /^(\s*)((?:- +)*)/.exec(text)!;
  const indent = lead[0].length;
  const dashes = (lead[2]!.match(/-/g) ?? []).length;
  if (!m) return { indent, dashes, value: text.trim() };
  return { indent, dashes, key: m[3] ?? m[4] ?? m[5]!, value: m[6] ?? "" };
}

/** The keys that lead to a line of this indentation, "[]" for items of lists. */
export function pathAt(lines: string[], row: number, indent: number, dashes: number): string[] {
  const path: string[] = [];
  let at = indent;
  if (dashes) path.unshift(...Array<string>(dashes).fill("[]"));
  let own = dashes > 0;
  for (let i = row - 1; i >= 0 && at > 0; i--) {
    const l = read(lines[i]!);
    if (!l) continue;
    const start = l.dashes ? lines[i]!.search(/\S/) : l.indent; // where its first dash stands
    if (l.dashes && l.indent <= at && start < at && !own && l.indent === at) {
      path.unshift("[]"); // a sibling in the same item
      at = start;
      own = true;
      continue;
    }
    if (l.key !== undefined && l.value === "" && (l.indent < at || (own && l.indent <= at && !l.dashes))) {
      path.unshift(l.key);
      at = l.indent;
      own = false;
      if (l.dashes) {
        path.unshift(...Array<string>(l.dashes).fill("[]"));
        at = start;
        own = true;
      }
    }
  }
  return path;
}

/** Every way a schema may be meant: references followed, choices opened. */
export function forms(root: Schema, s: Schema | undefined, depth = 0): Schema[] {
  if (!s || depth > 12) return [];
  if (s.$ref) {
    const name = /^#\/\$defs\/(.+)$/.exec(s.$ref)?.[1];
    return name ? forms(root, root.$defs?.[name], depth + 1) : [];
  }
  return [s, ...[...(s.anyOf ?? []), ...(s.oneOf ?? [])].flatMap((x) => forms(root, x, depth + 1))];
}

/** What a path leads to. */
export function at(root: Schema, path: string[]): Schema[] {
  return path.reduce<Schema[]>(
    (all, key) => all.flatMap((s) => {
      if (key === "[]") return forms(root, s.items);
      const own = Object.hasOwn(s.properties ?? {}, key) ? s.properties![key] : undefined;
      return forms(root, own ?? (typeof s.additionalProperties === "object" ? s.additionalProperties : undefined));
    }),
    forms(root, root),
  );
}

/** What may stand at the cursor: keys, or the words that a key takes. */
export function complete(root: Schema, text: string, cursor: number): Completion {
  const before = text.slice(0, cursor);
  const lines = text.split("\n");
  const row = before.split("\n").length - 1;
  const typed = before.slice(before.lastIndexOf("\n") + 1);
  if (/(^|\s)#/.test(typed)) return { from: cursor, items: [] };
  const value = KEY.exec(typed);
  if (value && /:\s/.test(typed)) return values(root, lines, row, typed, value, cursor);
  const start = /^(\s*)((?:- +)*)([\w.\-]*)$/.exec(typed);
  if (!start) return { from: cursor, items: [] };
  const word = start[3]!;
  const indent = start[1]!.length + start[2]!.length;
  const path = pathAt(lines, row, indent, (start[2]!.match(/-/g) ?? []).length);
  const items = [...keys(at(root, path), siblings(lines, row, indent)), ...(path.at(-1) === "[]" ? words(at(root, path)) : [])];
  return { from: cursor - word.length, items: fitting(items, word) };
}

function values(root: Schema, lines: string[], row: number, typed: string, m: RegExpExecArray, cursor: number): Completion {
  const indent = m[1]!.length + m[2]!.length;
  const path = pathAt(lines, row, indent, (m[2]!.match(/-/g) ?? []).length);
  const word = /(?:[:\[,]\s+|\[)([\w.\-]*)$/.exec(typed)?.[1];
  if (word === undefined) return { from: cursor, items: [] };
  const listed = /:\s+\[/.test(typed);
  const of = at(root, [...path, m[3] ?? m[4] ?? m[5]!]);
  const all = listed ? of.flatMap((s) => forms(root, s.items)) : of;
  return { from: cursor - word.length, items: fitting(words(all), word) };
}

function keys(of: Schema[], taken: Set<string>): Item[] {
  const all = new Map<string, Item>();
  for (const s of of) {
    for (const [k, v] of Object.entries(s.properties ?? {})) {
      const need = s.required?.includes(k) ? "required. " : "";
      if (!taken.has(k) && !all.has(k)) all.set(k, { label: k, detail: need + (v.description ?? ""), insert: `${k}: ` });
    }
  }
  return [...all.values()];
}

function words(of: Schema[]): Item[] {
  const all = of.flatMap((s) => [...(s.enum ?? []), ...(s.const !== undefined ? [s.const] : []), ...(s.type === "boolean" ? [true, false] : [])]);
  return [...new Set(all.map(String))].map((w) => ({ label: w, detail: "", insert: w }));
}

/** Keys that stand beside the cursor already. */
function siblings(lines: string[], row: number, indent: number): Set<string> {
  const taken = new Set<string>();
  const look = (from: number, by: number) => {
    for (let i = from; i >= 0 && i < lines.length; i += by) {
      const l = read(lines[i]!);
      if (!l) continue;
      if (l.indent < indent || (by > 0 && l.dashes && l.indent === indent)) return;
      if (l.indent === indent && l.key !== undefined) taken.add(l.key);
      if (by < 0 && l.dashes && l.indent === indent) return;
    }
  };
  look(row - 1, -1);
  look(row + 1, 1);
  return taken;
}

/** Those that begin with what was typed, then those that contain it. */
function fitting(items: Item[], word: string): Item[] {
  const w = word.toLowerCase();
  const rank = (i: Item) => (i.label.toLowerCase().startsWith(w) ? 0 : i.label.toLowerCase().includes(w) ? 1 : 2);
  return items.filter((i) => rank(i) < 2 && i.label !== word).sort((a, b) => rank(a) - rank(b));
}
