/** How many cases a property is tried with: the number given, or the one of `WEFT_RUNS` (`npm run nightly`: 10,000). */
export function runs(count: number): number {
  return Math.max(count, Number(process.env["WEFT_RUNS"] ?? 0));
}
