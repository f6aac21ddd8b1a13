/** An array that is filled by place; reading a place before it was filled gives undefined. */
export function makeArray<T>(length: number): T[] {
  const array: T[] = [];
  array.length = length;
  return array;
}
