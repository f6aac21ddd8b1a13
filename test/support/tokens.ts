/** Signed tokens for tests. */
import { createHmac, createSign } from "node:crypto";
import type { KeyObject } from "node:crypto";

export const testSecret = "a secret that is known to the tests alone";
export const testNamespace = "https://claims.example";

/** A token of HS256 over `claims`; `header` overlays its header. */
export function signToken(claims: object, header: object = {}, secret = testSecret): string {
  const text = `${encode({ alg: "HS256", typ: "JWT", ...header })}.${encode(claims)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

/** A token of RS256. */
export function signRsaToken(claims: object, header: object, key: KeyObject): string {
  const text = `${encode({ alg: "RS256", typ: "JWT", ...header })}.${encode(claims)}`;
  return `${text}.${createSign("sha256").update(text).sign(key, "base64url")}`;
}

/** A token whose claims are in the namespace of the tests. */
export function tokenOf(claims: object): string {
  return signToken({ [testNamespace]: claims });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
