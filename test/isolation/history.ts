/** What clients did with lists: the input of the checker. */

/** `list`: what a read showed, undefined for an append. Values are used once in all. */
export type Step =
  | { readonly kind: "append"; readonly key: string; readonly value: number }
  | { readonly kind: "read"; readonly key: string; readonly list: readonly number[] };

export interface Attempt {
  /** ok: acknowledged. failed: surely not done. unknown: either. */
  readonly outcome: "ok" | "failed" | "unknown";
  readonly startMs: number;
  /** When the answer came; of an unknown one nothing is known. */
  readonly endMs: number;
  readonly steps: readonly Step[];
}
