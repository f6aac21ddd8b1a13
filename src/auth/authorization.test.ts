/** What `# Dgraph.Authorization` may say (reference/graphql 6.1). */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import { parseAuthorization } from "./authorization.ts";

const parse = (json: object): ReturnType<typeof parseAuthorization> =>
  parseAuthorization(`# Dgraph.Authorization ${JSON.stringify(json)}`);

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return "";
}

const keyed = { VerificationKey: "k", Algo: "HS256", Header: "X", Namespace: "n" };
const setted = { JWKUrl: "https://a/k", Header: "X", Namespace: "n", Audience: ["a"] };

describe("forms", () => {
  test("JSON, with its keys in any case", () => {
    const found = parse({ verificationkey: "k", ALGO: "HS384", header: "X-A", Namespace: "n" });
    expect(found).toMatchObject({ header: "X-A", namespace: "n", isClosedByDefault: false });
    expect(found.keys).toMatchObject({ kind: "key", algorithm: "HS384" });
  });

  test("positional", () => {
    const found = parseAuthorization('#Dgraph.Authorization X-A https://n HS256 "the key"');
    expect(found).toMatchObject({ header: "X-A", namespace: "https://n", audience: [] });
  });

  test("a public key in PEM, its line ends written out", () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    for (const type of ["spki", "pkcs1"] as const) {
      const pem = publicKey.export({ type, format: "pem" }).toString();
      for (const key of [pem, pem.replaceAll("\n", "\\n")]) {
        expect(parse({ ...keyed, Algo: "RS256", VerificationKey: key }).keys.kind).toBe("key");
      }
    }
  });

  test("sets of keys, the audience, closed by default", () => {
    expect(parse({ ...setted, ClosedByDefault: true })).toMatchObject({
      keys: { kind: "sets", urls: ["https://a/k"] },
      audience: ["a"],
      isClosedByDefault: true,
    });
  });
});

describe("refusals", () => {
  const missing = "required field missing in Dgraph.Authorization:";
  test.each([
    [
      {},
      `${missing} \`Verification key\`/\`JWKUrl\`/\`JWKUrls\` \`Algo\` \`Header\` \`Namespace\``,
    ],
    [{ ...setted, Audience: [] }, `${missing} \`Audience\``],
    [{ ...setted, JWKUrls: ["u"] }, "expecting either JWKUrl or JWKUrls, both were given"],
    [
      { ...setted, Algo: "HS256" },
      "expecting either JWKUrl/JWKUrls or (VerificationKey, Algo), both were given",
    ],
    [
      { ...keyed, Algo: "none" },
      "invalid jwt algorithm: found none, but supported options are: HS256,HS384,HS512,RS256,RS384,RS512",
    ],
    [{ ...keyed, Algo: "RS256" }, "invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key"],
  ])("%j", (json, message) => {
    expect(messageOf(() => parse(json))).toBe(message);
  });

  test.each([
    "# Dgraph.Authorization",
    '# Dgraph.Authorization {"Algo":',
    "# Dgraph.Authorization []",
  ])("%s", (line) => {
    expect(messageOf(() => parseAuthorization(line))).toBe(
      `input: Invalid \`Dgraph.Authorization\` format: ${line}`,
    );
  });

  test("a member of another form", () => {
    expect(messageOf(() => parse({ ...keyed, Audience: "a" }))).toMatch(/format/);
    expect(messageOf(() => parse({ ...keyed, ClosedByDefault: "yes" }))).toMatch(/format/);
  });
});
