/** Counts as sentences have them. */

/** `1 node`, `2 nodes`, `1,000 nodes`. `plural`: ends in s; its singular is the same without. */
export function countWords(count: number, plural: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? plural.replace(/s$/, "") : plural}`;
}
