/**
 * Whether two texts are at most `max` edits apart: characters (code points) inserted, deleted or replaced
 * (reference/dql 4.3.6). Only a band of `max` around the diagonal is computed.
 */
export function withinDistance(a: string, b: string, max: number): boolean {
  if (a === b) return true;
  const left = codePoints(a);
  const right = codePoints(b);
  if (left.length > right.length) return isWithin(right, left, max);
  return isWithin(left, right, max);
}

/** Prepares one of the texts for comparing it with many. */
export function buildDistanceTest(text: string, max: number): (other: string) => boolean {
  const left = codePoints(text);
  return (other) => {
    // A code point has at most two units, so the lengths in units bound the distance from below.
    if (other.length > 2 * (left.length + max) || other.length < left.length - max) return false;
    if (other === text) return true;
    const right = codePoints(other);
    return left.length > right.length ? isWithin(right, left, max) : isWithin(left, right, max);
  };
}

function codePoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    if (point > 0xffff) i++;
    points[length++] = point;
  }
  return points.subarray(0, length);
}

/** `short` is not longer than `long`. */
function isWithin(short: Uint32Array, long: Uint32Array, max: number): boolean {
  if (long.length - short.length > max) return false;
  if (long.length <= max) return true;
  // row[i]: the distance between the first i characters of `short` and the first j of `long`.
  const row = new Uint32Array(short.length + 1);
  for (let i = 0; i <= short.length; i++) row[i] = i;
  for (let j = 1; j <= long.length; j++) {
    const from = Math.max(1, j - max);
    const to = Math.min(short.length, j + max);
    let diagonal = row[from - 1] ?? 0;
    row[from - 1] = from === 1 ? j : max + 1;
    let best = row[from - 1] ?? 0;
    for (let i = from; i <= to; i++) {
      const above = row[i] ?? 0;
      const replaced = diagonal + (short[i - 1] === long[j - 1] ? 0 : 1);
      const value = Math.min(replaced, above + 1, (row[i - 1] ?? 0) + 1);
      diagonal = above;
      row[i] = value;
      if (value < best) best = value;
    }
    if (to < short.length) row[to + 1] = max + 1;
    if (best > max) return false;
  }
  return (row[short.length] ?? 0) <= max;
}
