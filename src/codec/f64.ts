/** Little-endian doubles in place: copying 8 bytes is cheaper than a DataView for each. */

const number = new Float64Array(1);
const bytes8 = new Uint8Array(number.buffer);

export function readF64(bytes: Uint8Array, at: number): number {
  for (let i = 0; i < 8; i++) bytes8[i] = bytes[at + i]!;
  return number[0]!;
}

export function writeF64(bytes: Uint8Array, at: number, value: number): void {
  number[0] = value;
  for (let i = 0; i < 8; i++) bytes[at + i] = bytes8[i]!;
}
