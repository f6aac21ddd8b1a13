/**
 * Big decimals as clients send them in messages: what Go's `big.Float` makes of itself (math/big, GobEncode). A version
 * byte, a byte with the form and the sign, four with the precision; then, of a number that is neither zero nor without
 * end, four with the exponent of two and the mantissa, of which the point is in front. Highest bytes first.
 */
import type { Buffer } from "node:buffer";
import { Fault } from "../model/fault.ts";

const forms = { zero: 0, finite: 1 } as const;
const headBytes = 6;
const exponentBytes = 4;

/** A number of more digits is none that anybody means; its text would take what the whole server has. */
const exponentMax = 16_384;

/** Every digit of it. Throws Fault E_MUTATION. */
export function printGobFloat(bytes: Buffer): string {
  if (bytes.length < headBytes || bytes[0] !== 1) throw refuse("it is not of version 1");
  const flags = bytes[1] ?? 0;
  const form = (flags >> 1) & 3;
  const sign = (flags & 1) === 1 ? "-" : "";
  if (form === forms.zero) return `${sign}0`;
  if (form !== forms.finite) throw refuse("it has no end");
  if (bytes.length <= headBytes + exponentBytes) throw refuse("it is cut short");
  const exponent = bytes.readInt32BE(headBytes);
  const digits = bytes.subarray(headBytes + exponentBytes);
  if (Math.abs(exponent) > exponentMax || digits.length * 8 > exponentMax) {
    throw refuse(`it has more than ${exponentMax} binary digits`);
  }
  return sign + printScaled(BigInt(`0x${digits.toString("hex")}`), exponent - digits.length * 8);
}

function refuse(reason: string): Fault {
  return new Fault("E_MUTATION", `a big decimal of a fact cannot be read: ${reason}`);
}

/** mantissa × 2^scale; a half has one digit behind the point. */
function printScaled(mantissa: bigint, scale: number): string {
  if (scale >= 0) return (mantissa << BigInt(scale)).toString();
  const places = -scale;
  const digits = (mantissa * 5n ** BigInt(places)).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, -places);
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
