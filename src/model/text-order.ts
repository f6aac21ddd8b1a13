/** Hot: compares texts by their UTF-8 bytes without encoding them (bench/tokens.ts). */

/**
 * Negative, zero or positive, as the bytes of UTF-8 compare. UTF-16 units agree with that order except that
 * surrogates (code points above U+FFFF) must come after U+E000 … U+FFFF.
 */
export function compareText(a: string, b: string): number {
  const length = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    if (left >= 0xd800 && right >= 0xd800) return lift(left) - lift(right);
    return left - right;
  }
  return a.length - b.length;
}

function lift(unit: number): number {
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
