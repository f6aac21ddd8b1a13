/** Which tokens are believed, and what is said of the others (reference/graphql 6.2). */
import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { signRsaToken, signToken, testNamespace, testSecret } from "../../test/support/tokens.ts";
import type { Clock } from "../base/clock.ts";
import { OutgoingFailure, type GetText } from "../outgoing/request.ts";
import { parseAuthorization } from "./authorization.ts";
import { TokenRefused, TokenVerifier } from "./token.ts";
import type { Claims } from "./token.ts";

const line = {
  VerificationKey: testSecret,
  Algo: "HS256",
  Header: "X-Auth",
  Namespace: testNamespace,
};

let now = 1_000_000;
const clock: Clock = { nowMs: () => now, tickMs: () => now };

function verifier(overlay: object = {}): TokenVerifier {
  const json = JSON.stringify({ ...line, ...overlay });
  return new TokenVerifier(
    parseAuthorization(`# Dgraph.Authorization ${json}`),
    clock,
    (url, bounds) => fetchKeys(url, bounds),
  );
}

let fetchKeys: GetText = () => Promise.reject(new OutgoingFailure("nobody is there"));

async function reasonOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TokenRefused) return error.message;
    throw error;
  }
  return "";
}

const ask = (header: string | undefined, overlay?: object): Promise<string> =>
  reasonOf(() => verifier(overlay).identify(header));

beforeEach(() => {
  now = 1_000_000;
});

describe("the header", () => {
  test("without a token nobody is known", async () => {
    for (const header of [undefined, "", "  "]) {
      const claims = await verifier().identify(header);
      expect(claims.size).toBe(0);
      expect(await ask(header, { ClosedByDefault: true })).toBe(
        "a valid JWT is required but was not provided",
      );
    }
  });

  test("bare, or behind Bearer in any case", async () => {
    const token = signToken({ a: 1 });
    for (const header of [token, `Bearer ${token}`, `bearer ${token}`]) {
      expect((await verifier().identify(header)).get("a")).toBe(1);
    }
  });

  test("Bearer with anything but one token is refused as a whole", async () => {
    const work = (): unknown => verifier().identify("Bearer a b");
    expect(await reasonOf(work)).toBe("invalid Bearer-formatted header value for JWT (Bearer a b)");
    expect(work).toThrow(expect.objectContaining({ isHeaderFault: true }));
  });
});

describe("signatures", () => {
  const parse = "unable to parse jwt token:";
  test("by another key", async () => {
    const wrong = `${parse}token signature is invalid: signature is invalid`;
    expect(await ask(signToken({}, {}, "other"))).toBe(wrong);
    const token = signToken({ role: "USER" });
    const [head, , signature] = token.split(".");
    const forged = Buffer.from('{"role":"ADMIN"}').toString("base64url");
    expect(await ask(`${head}.${forged}.${signature}`)).toBe(wrong);
  });

  test("by another algorithm than the line's, none included", async () => {
    const reason = `${parse}token is unverifiable: error while executing keyfunc: unexpected signing method: Expected HS256 Found`;
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    expect(await ask(signRsaToken({}, {}, privateKey))).toBe(`${reason} RS256`);
    expect(await ask(signToken({}, { alg: "none" }))).toBe(`${reason} none`);
    expect(await ask(signToken({}, { alg: "HS512" }))).toBe(`${reason} HS512`);
    expect(await ask(signToken({}, { alg: "XX" }))).toBe(
      `${parse}token is unverifiable: signing method (alg) is unavailable`,
    );
  });

  test("a public key is no shared secret", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const keys = { Algo: "RS256", VerificationKey: pem };
    expect(await ask(signRsaToken({}, {}, privateKey), keys)).toBe("");
    expect(await ask(signToken({}, {}, pem), keys)).toMatch(/Expected RS256 Found HS256/);
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    expect(await ask(signRsaToken({}, {}, other.privateKey), keys)).toBe(
      `${parse}token signature is invalid: crypto/rsa: verification error`,
    );
  });

  test.each([
    ["a.b", "token is malformed: token contains an invalid number of segments"],
    ["a.b.c.d", "token is malformed: token contains an invalid number of segments"],
    [
      "!.b.c",
      "token is malformed: could not base64 decode header: illegal base64 data at input byte 0",
    ],
    ["eyJ9.e30.c", "token is malformed: could not JSON decode header"],
    ["e30.W10.c", "token is malformed: could not JSON decode claim"],
    ["e30.e30.c", "token is unverifiable: signing method (alg) is unavailable"],
  ])("%s", async (token, reason) => {
    expect(await ask(token)).toContain(`${parse}${reason}`);
  });
});

describe("times", () => {
  const invalid = "unable to parse jwt token:token has invalid claims: ";

  test("until exp and from nbf on; iat and no exp do not matter", async () => {
    expect(await ask(signToken({ exp: 1001 }))).toBe("");
    expect(await ask(signToken({ exp: 1000 }))).toBe(`${invalid}token is expired`);
    expect(await ask(signToken({ nbf: 1000 }))).toBe("");
    expect(await ask(signToken({ nbf: 1000.5 }))).toBe(`${invalid}token is not valid yet`);
    expect(await ask(signToken({ exp: 1, nbf: 2000 }))).toBe(
      `${invalid}token is expired, token is not valid yet`,
    );
    expect(await ask(signToken({ iat: 99_999 }))).toBe("");
    expect(await ask(signToken({ exp: "soon" }))).toMatch(/could not JSON decode claim/);
  });

  test("a token that was believed is not believed for ever", async () => {
    const judge = verifier();
    const token = signToken({ exp: 1010, role: "A" });
    expect((await judge.identify(token)).get("role")).toBe("A");
    expect(judge.identify(token)).toBeInstanceOf(Map);
    expect(judge.expiryMs(token)).toBe(1_010_000);
    now = 1_010_000;
    expect(await reasonOf(() => judge.identify(token))).toBe(`${invalid}token is expired`);
  });
});

describe("audience", () => {
  const other = "JWT `aud` value doesn't match with the audience";
  test.each([
    [{ aud: "a" }, ["a", "b"], ""],
    [{ aud: ["x", "b"] }, ["a", "b"], ""],
    [{ aud: "ab" }, ["a", "b"], other],
    [{ aud: [] }, ["a"], other],
    [{ aud: [1] }, ["a"], other],
    [{}, ["a"], other],
    [{ aud: "a" }, [], "audience value was expected but not provided"],
    [{}, [], ""],
  ])("%j for %j", async (claims, Audience, reason) => {
    expect(await ask(signToken(claims), { Audience })).toBe(reason);
  });
});

describe("claims", () => {
  const claimsOf = async (claims: object): Promise<Claims> =>
    verifier().identify(signToken(claims));

  test("members of the namespace overlay the token's own", async () => {
    const claims = await claimsOf({ USER: "out", ROLE: "r", [testNamespace]: { USER: "in" } });
    expect([claims.get("USER"), claims.get("ROLE")]).toEqual(["in", "r"]);
  });

  test("the namespace may be JSON in a text", async () => {
    expect((await claimsOf({ [testNamespace]: '{"USER": "in"}' })).get("USER")).toBe("in");
    expect(await ask(signToken({ [testNamespace]: "{" }))).toMatch(
      /^unable to parse jwt token:token is malformed: could not JSON decode claim: /,
    );
  });
});

describe("sets of keys", () => {
  const first = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const second = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let served: { body: string; status?: number; headers?: Record<string, string> };
  let fetches: number;

  const setOf = (...keys: object[]): string => JSON.stringify({ keys });
  const jwk = (pair: typeof first, kid: string): object => ({
    ...pair.publicKey.export({ format: "jwk" }),
    kid,
  });
  const sets = (urls: readonly string[] = ["https://keys.example/a"]): TokenVerifier =>
    verifier({ VerificationKey: "", Algo: "", JWKUrls: urls, Audience: ["a"] });
  const token = (pair: typeof first, kid: string | undefined): string =>
    signRsaToken({ aud: "a" }, kid === undefined ? {} : { kid }, pair.privateKey);
  const keyfunc =
    "unable to parse jwt token:token is unverifiable: error while executing keyfunc: ";

  beforeEach(() => {
    fetches = 0;
    served = { body: setOf(jwk(first, "one")) };
    fetchKeys = () => {
      fetches++;
      const { body: text, status = 200, headers = {} } = served;
      return Promise.resolve({ status, headers, text });
    };
  });

  test("the key that the token names, fetched once", async () => {
    const judge = sets();
    await judge.identify(token(first, "one"));
    await judge.identify(token(first, "one"));
    expect(fetches).toBe(1);
    expect(await reasonOf(() => judge.identify(token(first, undefined)))).toBe(
      `${keyfunc}kid not present in JWT`,
    );
    expect(await reasonOf(() => judge.identify(token(first, "two")))).toBe(`${keyfunc}Invalid kid`);
    expect(await reasonOf(() => judge.identify(token(second, "one")))).toBe(
      "unable to parse jwt token:token signature is invalid: crypto/rsa: verification error",
    );
    const secret = signToken({ aud: "a" }, { kid: "one" });
    expect(await reasonOf(() => judge.identify(secret))).toBe(
      "unable to parse jwt token:token signature is invalid: key is of invalid type: HMAC verify expects []byte",
    );
    expect(fetches).toBe(1);
  });

  test("keys that were withdrawn are gone when the answer's time is over", async () => {
    served.headers = { "cache-control": "public, max-age=60" };
    const judge = sets();
    await judge.identify(token(first, "one"));
    served.body = setOf(jwk(second, "two"));
    now += 59_999;
    expect(await reasonOf(() => judge.identify(token(first, "one")))).toBe("");
    now += 1;
    expect(await reasonOf(() => judge.identify(token(first, "one")))).toBe(`${keyfunc}Invalid kid`);
    expect(await reasonOf(() => judge.identify(token(second, "two")))).toBe("");
  });

  test("a key that is new to the set is found without the schema being set again", async () => {
    const judge = sets();
    await judge.identify(token(first, "one"));
    served.body = setOf(jwk(first, "one"), jwk(second, "two"));
    expect(await reasonOf(() => judge.identify(token(second, "two")))).toBe(
      `${keyfunc}Invalid kid`,
    );
    now += 10_000;
    expect(await reasonOf(() => judge.identify(token(second, "two")))).toBe("");
    expect(fetches).toBe(2);
  });

  test("no token passes while the set cannot be had, and it is asked again", async () => {
    served.headers = { "cache-control": "max-age=1" };
    const judge = sets();
    await judge.identify(token(first, "one"));
    now += 1000;
    served.body = "<html>";
    const reason = `${keyfunc}while refreshing JWK from the URL: invalid character '<' looking for beginning of value`;
    expect(await reasonOf(() => judge.identify(token(first, "one")))).toBe(reason);
    served.body = setOf(jwk(first, "one"));
    expect(await reasonOf(() => judge.identify(token(first, "one")))).toBe(reason);
    now += 10_000;
    expect(await reasonOf(() => judge.identify(token(first, "one")))).toBe("");
  });

  test("loading tells what is wrong with a set", async () => {
    await expect(sets().load()).resolves.toBe(undefined);
    served = { body: "{}", status: 503 };
    await expect(sets().load()).rejects.toThrow('Get "https://keys.example/a": status 503');
  });

  test("several sets are asked in turn; secrets in a set are no keys", async () => {
    fetchKeys = (url) => {
      const text = url.endsWith("a")
        ? setOf(jwk(first, "one"), { kty: "oct", k: "c2VjcmV0", kid: "shared" })
        : setOf(jwk(second, "two"));
      return Promise.resolve({ status: 200, headers: {}, text });
    };
    const judge = sets(["https://keys.example/a", "https://keys.example/b"]);
    expect(await reasonOf(() => judge.identify(token(second, "two")))).toBe("");
    const shared = signToken({ aud: "a" }, { kid: "shared" }, "secret");
    expect(await reasonOf(() => judge.identify(shared))).toBe(`${keyfunc}Invalid kid`);
  });
});
