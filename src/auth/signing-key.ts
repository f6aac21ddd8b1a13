/** The key that the tokens of ACL are signed with: a shared secret, or a private key as PEM (RFC 7518, 3.1; 8037). */
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

export const accessAlgorithms = [
  "HS256",
  "HS384",
  "HS512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;
export type AccessAlgorithm = (typeof accessAlgorithms)[number];

export interface SigningKey {
  readonly sign: Uint8Array | KeyObject;
  readonly verify: Uint8Array | KeyObject;
}

/** OpenSSL's names of the curves; each algorithm has its own. */
const curves: Readonly<Record<string, readonly [name: string, curve: string]>> = {
  ES256: ["P-256", "prime256v1"],
  ES384: ["P-384", "secp384r1"],
  ES512: ["P-521", "secp521r1"],
};

const rsaBitsMin = 2048;

/** From the bytes of a file; else a text that says what they lack, to stand behind the file's name. */
export function readSigningKey(algorithm: AccessAlgorithm, bytes: Uint8Array): SigningKey | string {
  if (algorithm.startsWith("HS")) {
    const needed = Number(algorithm.slice(2)) / 8;
    if (bytes.length >= needed) return { sign: bytes, verify: bytes };
    return `has ${bytes.length} bytes; ${algorithm} needs at least ${needed}`;
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(Buffer.from(bytes));
  } catch {
    return `is no private key as PEM, which ${algorithm} needs`;
  }
  const problem = findProblem(algorithm, key);
  return problem ?? { sign: key, verify: createPublicKey(key) };
}

function findProblem(algorithm: AccessAlgorithm, key: KeyObject): string | undefined {
  const { asymmetricKeyType: kind = "", asymmetricKeyDetails: details } = key;
  const [name, curve] = curves[algorithm] ?? [];
  if (curve !== undefined) {
    return details?.namedCurve === curve
      ? undefined
      : `is no key of ${name}, which ${algorithm} needs`;
  }
  if (algorithm === "EdDSA") {
    return kind === "ed25519" ? undefined : "is no key of Ed25519, which EdDSA needs";
  }
  const bits = details?.modulusLength ?? 0;
  if (kind === "rsa" && bits >= rsaBitsMin) return undefined;
  return kind === "rsa"
    ? `has ${bits} bits; ${algorithm} needs at least ${rsaBitsMin}`
    : `is no RSA key, which ${algorithm} needs`;
}
