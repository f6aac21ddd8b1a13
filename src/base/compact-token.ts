/** The compact form of signed claims: three parts in base64url (RFC 7515 7.1, RFC 7519). */
import { encodeUtf8 } from "./bytes.ts";

/** `sign`: the signature of a text, in base64url. */
export function makeCompactToken(
  algorithm: string,
  claims: object,
  sign: (text: string) => string,
): string {
  const text = `${encodePart({ alg: algorithm, typ: "JWT" })}.${encodePart(claims)}`;
  return `${text}.${sign(text)}`;
}

function encodePart(value: object): string {
  let units = "";
  for (const byte of encodeUtf8(JSON.stringify(value))) units += String.fromCharCode(byte);
  return btoa(units).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
