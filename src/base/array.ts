/** An array that is filled by place; reading a place before it was filled gives undefined. */
export function makeArray<T>(length: number): T[] {
  // Half of what setting the length of an empty one costs.
  // oxlint-disable-next-line unicorn/no-new-array
  return new Array<T>(length);
}
