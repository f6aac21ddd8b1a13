import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { AccessTokens } from "./access-token.ts";

const secret = new TextEncoder().encode("a secret that is long enough for this");
let nowMs = 1_700_000_000_000;
const clock = { nowMs: () => nowMs, tickMs: () => nowMs };
const hour = 3_600_000;
const options = {
  secret,
  algorithm: "HS256",
  accessTtlMs: hour,
  refreshTtlMs: 9 * hour,
  clock,
} as const;

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

describe("access tokens", () => {
  test("say who logged in, with which groups, and which of a pair they are", async () => {
    const tokens = new AccessTokens(options);
    const { accessJWT, refreshJWT } = await tokens.issue("ann", 3, ["staff", "cooks"]);
    expect(await tokens.read(accessJWT)).toEqual({
      user: "ann",
      namespace: 3,
      groups: ["staff", "cooks"],
      isAccess: true,
      expiryMs: nowMs + hour,
    });
    expect(await tokens.read(refreshJWT)).toMatchObject({
      user: "ann",
      groups: [],
      isAccess: false,
    });
    const [, payload = ""] = refreshJWT.split(".");
    expect(Object.keys(JSON.parse(Buffer.from(payload, "base64url").toString()) as object)).toEqual(
      ["userid", "namespace", "exp"],
    );
  });

  test("end, also after they were remembered", async () => {
    const tokens = new AccessTokens(options);
    const { accessJWT } = await tokens.issue("ann", 0, []);
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
