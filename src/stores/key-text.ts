/** Keys as texts, for maps. */
import { Buffer } from "node:buffer";

/** What a Buffer reads latin1 with, without a Buffer for each key. */
// oxlint-disable-next-line typescript/unbound-method -- it is called with `call` alone
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
};

/** One text for a key. */
export function keyText(key: Uint8Array): string {
  return latin1Slice.call(key, 0, key.length);
}
