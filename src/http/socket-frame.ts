/** Text frames of a server (RFC 6455, 5.2): unmasked, unfragmented. */
import { Buffer } from "node:buffer";

const finalText = 0x81;
/** Lengths up to here stand in the second byte; then in two more, then in eight. */
const shortMax = 125;
const mediumMax = 0xffff;

/**
 * The head of a frame whose payload is `before` and then `size` bytes more, with `before` behind it: whoever writes it
 * writes those bytes next, which need not be copied for each reader.
 */
export function openFrame(before: string, size: number): Buffer {
  const length = Buffer.byteLength(before) + size;
  const headLength = length <= shortMax ? 2 : length <= mediumMax ? 4 : 10;
  const frame = Buffer.allocUnsafe(headLength + length - size);
  frame[0] = finalText;
  if (length <= shortMax) frame[1] = length;
  else if (length <= mediumMax) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(before, headLength);
  return frame;
}
