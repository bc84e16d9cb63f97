// Axes: from values to places, and where to put the ticks.

export interface Scale {
  (v: number): number;
  ticks: number[];
  low: number;
  high: number;
}

/** A linear axis that starts at zero unless told otherwise. */
export function linear(low: number, high: number, from: number, to: number, many = 5): Scale {
  if (!(high > low)) high = low + 1;
  const step = niceStep((high - low) / many);
  const top = Math.ceil(high / step - 1e-9) * step;
  const bottom = Math.floor(low / step + 1e-9) * step;
  const ticks: number[] = [];
  for (let i = 0; bottom + i * step <= top + step / 2; i++) ticks.push(+(bottom + i * step).toPrecision(12));
  return Object.assign((v: number) => from + ((v - bottom) / (top - bottom)) * (to - from), { ticks, low: bottom, high: top });
}

export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const f = rough / power;
  return (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10) * power;
}

/** A logarithmic axis; low and high must be above zero. */
export function log(low: number, high: number, from: number, to: number): Scale {
  if (!(low > 0)) low = 1;
  if (!(high > low)) high = low * 10;
  const a = Math.log10(low);
  const b = Math.log10(high);
  return Object.assign((v: number) => from + ((Math.log10(Math.max(v, low)) - a) / (b - a)) * (to - from), { ticks: logTicks(low, high), low, high });
}

/** Ticks at 1, 2 and 5 of each decade where they fit, else at decades. */
export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const factors = decades > 3.2 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const all: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const f of factors) {
      const v = f * 10 ** e;
      if (v >= low * 0.999 && v <= high * 1.001) all.push(v);
    }
  }
  const every = Math.ceil(all.length / 9);
  return all.filter((_, i) => i % every === 0);
}

/** Bounds for a logarithmic axis around positive values. */
export function logBounds(values: number[]): [number, number] {
  const v = values.filter((x) => x > 0 && Number.isFinite(x));
  if (v.length === 0) return [1, 10];
  const low = v.reduce((a, b) => Math.min(a, b));
  const high = v.reduce((a, b) => Math.max(a, b));
  return [low / 1.25, Math.max(high * 1.25, low * 3)];
}
