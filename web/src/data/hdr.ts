// Decodes HdrHistogram V2 (compressed, base64) and answers questions about the
// distribution. The layout follows the HdrHistogram sources (AbstractHistogram,
// ZigZagEncoding). Counts are JavaScript numbers: exact up to 2^53.

const COOKIE_PLAIN = 0x1c849303;
const COOKIE_COMPRESSED = 0x1c849304;
const COOKIE_MASK = 0xffffff0f;
const HEADER = 40;
const MOST_COUNTERS = 1 << 22;

/** One cell that is not empty: values from low to high, both inclusive. */
export interface Cell {
  low: number;
  high: number;
  count: number;
}

export class Histogram {
  readonly count: number;
  constructor(readonly cells: Cell[]) {
    this.count = cells.reduce((n, c) => n + c.count, 0);
  }

  /** The value that a share q (0 to 1) of all values does not exceed: nearest
   * rank, reported as the top of its cell. NaN when empty. */
  value(q: number): number {
    const rank = Math.max(1, Math.ceil(q * this.count - 1e-9));
    let seen = 0;
    for (const c of this.cells) {
      seen += c.count;
      if (seen >= rank) return c.high;
    }
    return this.cells.at(-1)?.high ?? NaN;
  }

  /** The values at ascending shares, in one walk. */
  values(shares: number[]): number[] {
    const out: number[] = [];
    let i = 0;
    let seen = this.cells[0]?.count ?? 0;
    for (const q of shares) {
      const rank = Math.max(1, Math.ceil(q * this.count - 1e-9));
      while (i < this.cells.length - 1 && seen < rank) seen += this.cells[++i]!.count;
      out.push(this.cells[i]?.high ?? NaN);
    }
    return out;
  }
}

/** Reads the base64 form. Refuses what it does not understand with an Error. */
export async function decode(text: string): Promise<Histogram> {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (bytes.length < 8) throw new Error("histogram: too short for a header");
  const view = new DataView(bytes.buffer);
  const cookie = (view.getUint32(0) & COOKIE_MASK) >>> 0;
  if (cookie === COOKIE_PLAIN) return plain(bytes);
  if (cookie !== COOKIE_COMPRESSED) throw new Error("histogram: unknown format");
  if (view.getUint32(4) !== bytes.length - 8) throw new Error("histogram: wrong length");
  return plain(await inflate(bytes.subarray(8), HEADER + MOST_COUNTERS * 9));
}

/** Inflates a zlib stream and stops at a bound: an announced size is a claim. */
async function inflate(bytes: Uint8Array<ArrayBuffer>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error("histogram: larger than its shape allows");
    }
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
}

function plain(bytes: Uint8Array<ArrayBuffer>): Histogram {
  if (bytes.length < HEADER) throw new Error("histogram: too short for a header");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if ((view.getUint32(0) & COOKIE_MASK) >>> 0 !== COOKIE_PLAIN) throw new Error("histogram: unknown format");
  if (view.getUint32(4) !== bytes.length - HEADER) throw new Error("histogram: wrong length");
  const digits = view.getInt32(12);
  const lowest = Math.max(1, Number(view.getBigInt64(16)));
  if (digits < 1 || digits > 5) throw new Error("histogram: unsupported digits");
  if (view.getFloat64(32) !== 1) throw new Error("histogram: scaled values are not supported");
  return new Histogram(readCells(bytes, layout(digits, lowest)));
}

interface Layout {
  half: number; // half the sub-buckets of a bucket
  halfMagnitude: number;
  unit: number; // log2 of the finest cell
}

function layout(digits: number, lowest: number): Layout {
  const magnitude = Math.ceil(Math.log2(2 * 10 ** digits));
  return { half: 2 ** (magnitude - 1), halfMagnitude: magnitude - 1, unit: Math.floor(Math.log2(lowest)) };
}

function readCells(bytes: Uint8Array, l: Layout): Cell[] {
  const cells: Cell[] = [];
  const reader: Reader = { bytes, at: HEADER };
  let index = 0;
  while (reader.at < bytes.length) {
    const value = varint(reader);
    if (value < 0) index -= value;
    else {
      if (value > 0) cells.push(cellAt(l, index, value));
      index++;
    }
    if (index > MOST_COUNTERS) throw new Error("histogram: more counters than allowed");
  }
  return cells;
}

/** The counter at an index, with the values that fall into it. */
function cellAt(l: Layout, index: number, count: number): Cell {
  let bucket = Math.floor(index / l.half) - 1;
  let sub = (index % l.half) + l.half;
  if (bucket < 0) {
    sub -= l.half;
    bucket = 0;
  }
  const width = 2 ** (bucket + l.unit);
  return { low: sub * width, high: (sub + 1) * width - 1, count };
}

interface Reader {
  bytes: Uint8Array;
  at: number;
}

/** One number in ZigZag LEB128 of at most nine bytes, the ninth with 8 bits.
 * Floating point holds it exactly up to 2^53, which is more than any count. */
function varint(r: Reader): number {
  let u = 0;
  let scale = 1;
  for (let i = 0; i < 9; i++) {
    const b = r.bytes[r.at++];
    if (b === undefined) throw new Error("histogram: ends within a number");
    if (i === 8 || b < 0x80) {
      u += b * scale;
      return u % 2 === 0 ? u / 2 : -(u + 1) / 2;
    }
    u += (b & 0x7f) * scale;
    scale *= 128;
  }
  throw new Error("histogram: endless number");
}
