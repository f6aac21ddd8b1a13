// Goal: both languages can be asked how a query is run, by request and by command; GraphQL's rules keep their secrets.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, type TestServer } from "./server.ts";

let server: TestServer;
const folder = makeFolder();
const token = { "x-dgraph-authtoken": "secret" };
const query =
  "{ q(func: ge(Note.size, 10), orderdesc: Note.size, first: 3) @filter(has(Note.next)) { Note.size Note.next { uid } } }";

beforeAll(async () => {
  const flags = ["--workers", "1", "--security", "token=secret"];
  server = await startServer({ dataDir: makeFolder(), flags });
  const sdl = "type Note { id: ID! size: Int @search next: Note }";
  const set = await post(`${server.url}/admin/schema`, sdl, {
    ...token,
    "content-type": "text/plain",
  });
  expect(set.text).toContain("Success");
  const facts = Array.from({ length: 40 }, (_, i) => {
    const id = `<${i + 1}>`;
    const next = i % 2 === 0 ? "" : `${id} <Note.next> <1> .`;
    return `${id} <dgraph.type> "Note" .\n${id} <Note.size> "${i}" .\n${next}`;
  });
  const told = await post(
    `${server.url}/mutate?commitNow=true`,
    `{ set {\n${facts.join("\n")}\n} }`,
    rdf,
  );
  expect(told.json["errors"]).toBeUndefined();
});
afterAll(cleanUp);

test("DQL: a profile beside the plain answer, and an explanation without one", async () => {
  const plain = await post(`${server.url}/query`, query);
  const profiled = await post(`${server.url}/query?profile=true`, query);
  expect(profiled.json["data"]).toEqual(plain.json["data"]);
  expect(profiled.json["extensions"]?.["profile"]).toMatchObject({
    kind: "profile",
    steps: [{ step: "block", out: 3 }],
  });
  const explained = await post(`${server.url}/query?explain=true`, query);
  expect(explained.json["data"]).toEqual({});
  expect(explained.json["extensions"]?.["explain"]).toMatchObject({ kind: "explain" });
  const text = await post(`${server.url}/query?explain=text`, query);
  expect(text.json["extensions"]?.["explain"]).toMatch(/^step +estimated\nblock 0: query q +\d/);
  expect(plain.text).not.toContain("profile");
});

test("a word that is none is refused", async () => {
  const told = await post(`${server.url}/query?explain=please`, query);
  expect(told.text).toContain("invalid value [please] for parameter explain");
});

test("GraphQL: for administrators alone", async () => {
  const ask = (parameter: string, headers: Record<string, string>) =>
    post(
      `${server.url}/graphql?${parameter}`,
      { query: "{ queryNote(first: 2) { size } }" },
      headers,
    );
  const refused = await ask("profile=true", {});
  expect(refused.json["errors"]).toHaveLength(1);
  expect(refused.text).not.toContain("estimated");
  const profiled = await ask("profile=true", token);
  expect(profiled.json["data"]).toEqual({ queryNote: [{ size: 0 }, { size: 1 }] });
  expect(profiled.json["extensions"]?.["profile"]?.["queryNote"]).toMatchObject({
    kind: "profile",
  });
  const explained = await ask("explain=text", token);
  expect(explained.json["extensions"]?.["explain"]).toMatch(/^queryNote\nstep +estimated/);
});

test("weft explain prints what was asked for", async () => {
  const file = join(folder, "query.dql");
  writeFileSync(file, query);
  const table = await runWeft(["explain", "--to", server.url, "--profile", file]);
  expect(table).toMatchObject({ code: 0, stderr: "" });
  expect(table.stdout).toMatch(/^step +estimated +in +out +times +ms/);
  const json = await runWeft(["explain", "--to", server.url, "--json", file]);
  expect(JSON.parse(json.stdout)).toMatchObject({ kind: "explain", steps: [{ step: "block" }] });
  const graphql = join(folder, "query.graphql");
  writeFileSync(graphql, "query($n: Int) { queryNote(first: $n) { size } }");
  const flags = ["--to", server.url, "--graphql", "--variables", '{"n": 4}', graphql];
  const refused = await runWeft(["explain", ...flags]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^weft: .+\n$/);
  const allowed = await runWeft(["explain", "--token", "secret", ...flags]);
  expect(allowed.stdout).toMatch(/page first 4/);
});
