import { createHmac, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { describe, expect, test } from "vitest";
import { AccessTokens, stampOf, type KnownUser } from "./access-token.ts";
import { readSigningKey } from "./signing-key.ts";
import type { AccessAlgorithm } from "./signing-key.ts";

const secret = new TextEncoder().encode("a secret that is long enough for this");
let nowMs = 1_700_000_000_000;
const clock = { nowMs: () => nowMs, tickMs: () => nowMs };
const hour = 3_600_000;
const options = {
  secrets: [secret],
  algorithm: "HS256",
  accessTtlMs: hour,
  refreshTtlMs: 9 * hour,
  clock,
} as const;

const user = (groups: readonly string[]): KnownUser => ({
  name: "ann",
  namespace: 0,
  groups,
  stamp: stampOf("a hash"),
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** By hand, so that it may be wrong. */
function sign(claims: object, header: object = { alg: "HS256", typ: "JWT" }, key = secret): string {
  const body = `${encode(header)}.${encode(claims)}`;
  return `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
}

async function why(token: string): Promise<string> {
  try {
    await new AccessTokens(options).read(token);
    return "believed";
  } catch (error) {
    return (error as Error).message;
  }
}

const good = { userid: "ann", groups: ["staff"], namespace: 0, exp: 4_102_444_800 };

const pem = (key: KeyObject): Buffer =>
  Buffer.from(key.export({ type: "pkcs8", format: "pem" }) as string);
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const curve = (namedCurve: string): KeyObject =>
  generateKeyPairSync("ec", { namedCurve }).privateKey;

test.each<[AccessAlgorithm, KeyObject]>([
  ["RS256", rsa],
  ["RS512", rsa],
  ["PS384", rsa],
  ["ES256", curve("P-256")],
  ["ES384", curve("P-384")],
  ["ES512", curve("P-521")],
  ["EdDSA", generateKeyPairSync("ed25519").privateKey],
])("%s signs with a private key", async (algorithm, key) => {
  const tokens = new AccessTokens({ ...options, algorithm, secrets: [pem(key)] });
  const { accessJWT } = await tokens.issue(user(["staff"]));
  // Read by another, which has not seen it: a process of the same server.
  const other = new AccessTokens({ ...options, algorithm, secrets: [pem(key)] });
  expect(await other.read(accessJWT)).toMatchObject({ user: "ann", groups: ["staff"] });
  const publicKey = createPublicKey(key);
  const checked = await compactVerify(accessJWT, publicKey, { algorithms: [algorithm] });
  expect(checked.protectedHeader).toEqual({ alg: algorithm, typ: "JWT" });
  // The public key is no secret to sign with.
  const shared = Buffer.from(publicKey.export({ type: "spki", format: "pem" }) as string);
  await expect(async () => other.read(sign(good, undefined, shared))).rejects.toThrow(
    "unexpected signing method in token: HS256",
  );
  const [head, , signature] = accessJWT.split(".");
  const forged = `${head}.${encode({ ...good, userid: "groot" })}.${signature}`;
  await expect(async () => other.read(forged)).rejects.toThrow("token signature is invalid");
});

test.each<[AccessAlgorithm, Uint8Array, string]>([
  ["HS512", secret, "has 37 bytes; HS512 needs at least 64"],
  ["RS256", secret, "is no private key as PEM, which RS256 needs"],
  ["RS256", pem(curve("P-256")), "is no RSA key, which RS256 needs"],
  ["ES256", pem(curve("P-384")), "is no key of P-256, which ES256 needs"],
  ["ES512", pem(rsa), "is no key of P-521, which ES512 needs"],
  ["EdDSA", pem(rsa), "is no key of Ed25519, which EdDSA needs"],
  [
    "PS256",
    pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey),
    "has 1024 bits; PS256 needs at least 2048",
  ],
])("%s needs another key", (algorithm, bytes, problem) => {
  expect(readSigningKey(algorithm, bytes)).toBe(problem);
});

describe("access tokens", () => {
  test("say who logged in, with which groups, and which of a pair they are", async () => {
    const tokens = new AccessTokens(options);
    const { accessJWT, refreshJWT } = await tokens.issue({
      ...user(["staff", "cooks"]),
      namespace: 3,
    });
    expect(await tokens.read(accessJWT)).toEqual({
      user: "ann",
      namespace: 3,
      groups: ["staff", "cooks"],
      isAccess: true,
      expiryMs: nowMs + hour,
      issued: { use: "access", atMs: nowMs, stamp: "" },
    });
    expect(await tokens.read(refreshJWT)).toMatchObject({
      user: "ann",
      groups: [],
      isAccess: false,
      issued: { use: "refresh", atMs: nowMs, stamp: stampOf("a hash") },
    });
    expect(stampOf("another hash")).not.toBe(stampOf("a hash"));
    const [, payload = ""] = refreshJWT.split(".");
    expect(Object.keys(JSON.parse(Buffer.from(payload, "base64url").toString()) as object)).toEqual(
      ["userid", "namespace", "weft.use", "weft.stamp", "exp", "iat"],
    );
  });

  test("the newest secret signs, and older ones are believed until they are taken away", async () => {
    const older = new TextEncoder().encode("the secret before, which is long enough, too");
    const before = await new AccessTokens({ ...options, secrets: [older] }).issue(user([]));
    const both = new AccessTokens({ ...options, secrets: [secret, older] });
    expect(await both.read(before.accessJWT)).toMatchObject({ user: "ann" });
    const now = await both.issue(user([]));
    expect(await new AccessTokens(options).read(now.accessJWT)).toMatchObject({ user: "ann" });
    await expect(async () => new AccessTokens(options).read(before.accessJWT)).rejects.toThrow(
      "token signature is invalid",
    );
  });

  test("end, also after they were remembered", async () => {
    const tokens = new AccessTokens(options);
    const { accessJWT } = await tokens.issue(user([]));
    await tokens.read(accessJWT);
    nowMs += hour;
    expect(() => tokens.read(accessJWT)).toThrow(
      "unable to parse jwt token: token has invalid claims: Token is expired",
    );
  });

  test("hostile ones are refused", async () => {
    const other = new TextEncoder().encode("another secret that is long enough, too");
    const cases: readonly (readonly [string, string])[] = [
      [sign(good), "believed"],
      [
        sign(good, undefined, other),
        "unable to parse jwt token: token signature is invalid: signature is invalid",
      ],
      [
        `${encode({ alg: "none" })}.${encode(good)}.`,
        "unable to parse jwt token: token is unverifiable: error while executing keyfunc: unexpected signing method in token: none",
      ],
      [
        sign(good, { alg: "HS384" }),
        "unable to parse jwt token: token is unverifiable: error while executing keyfunc: unexpected signing method in token: HS384",
      ],
      [
        sign(good, { alg: "RS256" }),
        "unable to parse jwt token: token is unverifiable: error while executing keyfunc: unexpected signing method in token: RS256",
      ],
      [
        "garbage",
        "unable to parse jwt token: token is malformed: token contains an invalid number of segments",
      ],
      [sign({ ...good, exp: undefined }), "Token is expired"],
      [sign({ ...good, userid: 7 }), "userid in claims is not a string:"],
      [sign({ ...good, namespace: "0" }), "namespace in claims is not valid:0"],
      [sign({ ...good, namespace: -1 }), "namespace in claims is not valid:-1"],
      [sign({ ...good, namespace: 0.5 }), "namespace in claims is not valid:0.5"],
      [sign({ ...good, groups: ["guardians", 7] }), "unable to convert group to string:7"],
    ];
    for (const [token, expected] of cases) expect(await why(token)).toBe(expected);
    const [head, , signature] = sign(good).split(".");
    const forged = `${head}.${encode({ ...good, groups: ["guardians"] })}.${signature}`;
    expect(await why(forged)).toContain("token signature is invalid");
  });

  test("a start time's hash depends on the secret, the namespace and the time", () => {
    const tokens = new AccessTokens(options);
    const hash = tokens.transactionHash(7, 0);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(tokens.transactionHash(70, 0)).not.toBe(hash);
    expect(tokens.transactionHash(7, 1)).not.toBe(hash);
    expect(tokens.transactionHash(0, 7)).not.toBe(tokens.transactionHash(7, 0));
  });
});
