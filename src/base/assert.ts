/** Tools without a word of the domain. No `node:` imports; time and chance are handed in. */

/** Our own mistake, never the user's: an invariant of the code does not hold. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** Always on. The text is a fixed short sentence, so that a log line leads to one place. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Broken(sentence);
}

/** What cannot be missing by now; `sentence` says why, as `assert`'s. */
export function must<T>(value: T | undefined, sentence: string): T {
  if (value === undefined) throw new Broken(sentence);
  return value;
}

/** Ends a switch over a union: a new kind does not compile until it is handled. */
export function unreachable(value: never): never {
  throw new Broken(`unreachable: ${JSON.stringify(value)}`);
}
