// Goal: who develops gets a token in one command, which the rules of the schema believe.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, runWeft, startServer, type TestServer } from "./server.ts";

const line = (fields: object): string =>
  `# Dgraph.Authorization ${JSON.stringify({ Header: "X-App", Namespace: "https://app.example/claims", ...fields })}`;
const types = `type Note @auth(query: { rule: "query($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { text } }" }) {
  id: ID! text: String! owner: String! @search(by: [hash]) size: Int @lambda }\n`;
const secret = "a-key-of-your-own-with-32-letters";
const sdl = `${types}${line({ Algo: "HS512", VerificationKey: secret, Audience: ["app"] })}\n`;

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = makeFolder();
  writeFileSync(join(folder, "schema.graphql"), sdl);
  server = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "1", "--lambda-url", "http://127.0.0.1:9"],
  });
  const done = await post(`${server.url}/admin/schema`, sdl, { "content-type": "text/plain" });
  expect(done.json).toMatchObject({ data: { code: "Success" } });
  const query =
    'mutation { addNote(input: [{ text: "a", owner: "ann" }, { text: "b", owner: "bob" }]) { numUids } }';
  await post(`${server.url}/graphql`, { query });
});
afterAll(cleanUp);

const sign = (...args: string[]) =>
  runWeft(["token", "--schema", join(folder, "schema.graphql"), ...args]);

async function notesOf(token: string): Promise<unknown> {
  const { json } = await post(
    `${server.url}/graphql`,
    { query: "{ queryNote { text } }" },
    { "x-app": token },
  );
  return json["data"];
}

test("claims as pairs and as JSON; the token alone is on standard output", async () => {
  const { code, stdout, stderr } = await sign("USER=ann");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(stderr).toMatch(/^weft: for the header X-App; it ends at \d{4}-[\d-]+T/);
  expect(await notesOf(stdout.trim())).toEqual({ queryNote: [{ text: "a" }] });
  const json = await sign('{"USER":"ann"}', "USER=bob", "--expires", "30d");
  expect(await notesOf(json.stdout.trim())).toEqual({ queryNote: [{ text: "b" }] });
});

test("what cannot be is told in one line", async () => {
  expect((await sign("ann")).stderr).toBe(
    'weft: "ann" is neither NAME=VALUE nor an object of JSON\n',
  );
  expect((await sign("--expires", "soon")).stderr).toContain('--expires: "soon"');
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const others = {
    "a public key": line({ Algo: "RS256", VerificationKey: pem }),
    "a key set": line({ JWKURL: "https://keys.example/set", Audience: ["app"] }),
    "has no line": "",
  };
  for (const [what, text] of Object.entries(others)) {
    writeFileSync(join(folder, "schema.graphql"), `${types}${text}\n`);
    const { code, stderr, stdout } = await sign("USER=ann");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(what);
  }
});
