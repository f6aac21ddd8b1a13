/** Where a follower stands: the newest commit of which it was told everything, and in which store. */

/** Digits of the store's id in a position: enough to tell a store from one that was restored of it. */
const idDigits = 8;

export function printPosition(storeId: string, commitTs: number): string {
  return `${storeId.slice(0, idDigits)}-${commitTs}`;
}

interface ParsedPosition {
  /** undefined: a number alone, which is taken as it is. */
  readonly store: string | undefined;
  readonly commitTs: number;
}

/** undefined for what is no position. */
export function parsePosition(text: string): ParsedPosition | undefined {
  const match = /^(?:(?<store>[\da-f]{8})-)?(?<commit>\d{1,15})$/.exec(text);
  if (match?.groups === undefined) return undefined;
  return { store: match.groups["store"], commitTs: Number(match.groups["commit"]) };
}

export function isOfStore({ store }: ParsedPosition, storeId: string): boolean {
  return store === undefined || store === storeId.slice(0, idDigits);
}
