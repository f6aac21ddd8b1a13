// Goal: tokens and rules as a client meets them, over HTTP, with both kinds of keys (reference/graphql 4.1, 11).
import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { signRsaToken, signToken, testNamespace, testSecret, tokenOf } from "../support/tokens.ts";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let keys: Server;
const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder() });
  keys = createServer((_, res) => {
    const key = { ...pair.publicKey.export({ format: "jwk" }), kid: "one" };
    res.end(JSON.stringify({ keys: [key] }));
  });
  await new Promise<void>((resolve) => keys.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  keys.close();
  await cleanUp();
});

const types = `type Note @auth(
    query: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }
    add: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }
  ) { id: ID!  by: String! @search(by: [hash])  text: String }
  type Page { id: ID!  notes: [Note] }`;

async function serve(line: object): Promise<void> {
  const meta = { Header: "X-Notes-Auth", Namespace: testNamespace, ...line };
  const sdl = `${types}\n# Dgraph.Authorization ${JSON.stringify(meta)}\n`;
  const done = await post(`${server.url}/admin/schema`, sdl, { "content-type": "text/plain" });
  expect(done.json["data"]).toEqual({ code: "Success", message: "Done" });
}

async function ask(query: string, token?: string): Promise<unknown> {
  const headers: Record<string, string> = token === undefined ? {} : { "X-Notes-Auth": token };
  const { extensions: _, ...answer } = (await post(`${server.url}/graphql`, { query }, headers))
    .json as Record<string, unknown>;
  return answer;
}

const add = (by: string): string =>
  `mutation { addPage(input: [{notes: [{by: "${by}", text: "t"}]}]) { page { notes { by } } } }`;
const empty = { data: { queryNote: [] } };

describe("reference/graphql 11 JWT for @auth, by a shared secret", () => {
  beforeEach(async () => {
    await post(`${server.url}/alter`, { drop_all: true });
    await serve({ VerificationKey: testSecret, Algo: "HS256" });
  });

  test("nothing tells how many nodes were looked at: not of values, not of counts", async () => {
    const ann = tokenOf({ USER: "ann" });
    await ask(add("ann"), ann);
    const queries = [
      "{ queryNote { by } }",
      '{ queryNote(filter: {by: {eq: "ann"}}) { by } }',
      '{ queryNote(filter: {by: {eq: "nobody"}}) { by } }',
      "{ aggregateNote { count } }",
      "{ queryPage { notes { by } } }",
      'mutation { deleteNote(filter: {by: {eq: "ann"}}) { numUids } }',
    ];
    for (const query of queries) {
      const answer = await fetch(`${server.url}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", "X-Notes-Auth": tokenOf({ USER: "bob" }) },
        body: JSON.stringify({ query }),
      });
      expect(answer.headers.get("graphql-toucheduids"), query).toBeNull();
      expect(await answer.text(), query).not.toContain("touched_uids");
    }
  });

  test("a valid token in the configured header, and nowhere else", async () => {
    const token = tokenOf({ USER: "ann" });
    expect(await ask(add("ann"), token)).toEqual({
      data: { addPage: { page: [{ notes: [{ by: "ann" }] }] } },
    });
    expect(await ask("{ queryNote { by } }", `Bearer ${token}`)).toEqual({
      data: { queryNote: [{ by: "ann" }] },
    });
    expect(await ask("{ queryNote { by } }")).toEqual(empty);
    expect(await ask("{ queryNote { by } }", tokenOf({ USER: "bob" }))).toEqual(empty);
    const elsewhere = await post(
      `${server.url}/graphql`,
      { query: "{ queryNote { by } }" },
      { authorization: token },
    );
    expect(elsewhere.json["data"]).toEqual({ queryNote: [] });
  });

  test("reference/graphql 4.1.3 rule 9: a refused write is an error, and those after it are not executed", async () => {
    const both = `mutation { addPage(input: [{notes: [{by: "bob"}]}]) { numUids } again: addPage(input: [{}]) { numUids } }`;
    expect(await ask(both, tokenOf({ USER: "ann" }))).toMatchObject({
      errors: [
        { message: "mutation failed because authorization failed", path: ["addPage"] },
        { message: "Mutation again was not executed because of a previous error." },
      ],
      data: { addPage: null },
    });
    const count = await post(`${server.url}/query`, "{ q(func: type(Page)) { count(uid) } }");
    expect(count.json["data"]).toEqual({ q: [{ count: 0 }] });
  });

  test("a token that is too old, or signed by somebody else", async () => {
    const reason = "couldn't rewrite query queryNote because unable to parse jwt token:";
    const past = signToken({ exp: 1, [testNamespace]: { USER: "ann" } });
    expect(await ask("{ queryNote { by } }", past)).toEqual({
      errors: [
        { message: `${reason}token has invalid claims: token is expired`, path: ["queryNote"] },
      ],
      ...empty,
    });
    const foreign = signToken({ [testNamespace]: { USER: "ann" } }, {}, "another");
    expect(await ask("{ queryNote { by } }", foreign)).toEqual({
      errors: [
        {
          message: `${reason}token signature is invalid: signature is invalid`,
          path: ["queryNote"],
        },
      ],
      ...empty,
    });
  });

  test("a page of another origin may send the header", async () => {
    const response = await fetch(`${server.url}/graphql`, { method: "OPTIONS" });
    expect(response.headers.get("access-control-allow-headers")).toContain("X-Notes-Auth");
  });
});

describe("reference/graphql 11 JWT for @auth, by a set of keys", () => {
  test("tokens of RS256 for the audience", async () => {
    const { port } = keys.address() as AddressInfo;
    await serve({ JWKUrl: `http://127.0.0.1:${port}/keys`, Audience: ["notes"] });
    const claims = { aud: "notes", [testNamespace]: { USER: "cy" } };
    const token = signRsaToken(claims, { kid: "one" }, pair.privateKey);
    expect(await ask(add("cy"), token)).toMatchObject({ data: { addPage: { page: [{}] } } });
    expect(await ask("{ queryNote { by } }", token)).toEqual({
      data: { queryNote: [{ by: "cy" }] },
    });
    const other = signRsaToken({ ...claims, aud: "others" }, { kid: "one" }, pair.privateKey);
    expect(await ask("{ queryNote { by } }", other)).toMatchObject({
      errors: [
        {
          message:
            "couldn't rewrite query queryNote because JWT `aud` value doesn't match with the audience",
        },
      ],
    });
  });
});
