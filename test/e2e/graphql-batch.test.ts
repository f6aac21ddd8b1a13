// Goal: several operations in one request, where the operator allows it, and the reference's refusal where not.
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer, type Told } from "./server.ts";

let url = "";
let closed = "";

beforeAll(async () => {
  const start = async (flags: readonly string[]): Promise<string> => {
    const options = { dataDir: makeFolder(), flags: ["--workers", "1", ...flags] };
    const server = await startServer(options);
    await post(`${server.url}/admin/schema`, "type Note { id: ID! text: String! @search }");
    return server.url;
  };
  [url, closed] = await Promise.all([start(["--graphql", "batch=3"]), start([])]);
}, 60_000);
afterAll(cleanUp);

const ask = (at: string, body: object): Promise<Told> => post(`${at}/graphql`, body);
const notes = { query: "{ queryNote { text } }" };
const add = (text: string): object => ({
  query: "mutation ($text: String!) { addNote(input: [{ text: $text }]) { note { text } } }",
  variables: { text },
});

test("each is answered in its place, and sees what went before", async () => {
  const told = await ask(url, [add("one, [two]"), { query: "{ nonsense }" }, notes]);
  expect(told.status).toBe(200);
  const [added, wrong, seen] = told.json;
  expect(added?.["data"]).toEqual({ addNote: { note: [{ text: "one, [two]" }] } });
  expect(wrong?.["errors"]?.[0]?.["message"]).toContain('Cannot query field "nonsense"');
  expect(seen?.["data"]).toEqual({ queryNote: [{ text: "one, [two]" }] });
});

test("a list that is too long names the setting, and does nothing", async () => {
  const told = await ask(url, [add("a"), add("b"), add("c"), add("d")]);
  expect(told.json["errors"]).toEqual([
    { message: "A request may have 3 operations, not 4 (--graphql batch)" },
  ]);
  expect((await ask(url, notes)).text).not.toContain('"a"');
});

test("statuses are told to whoever asks for them", async () => {
  const type = "application/graphql-response+json";
  const told = async (body: object | string, accept: string): Promise<[number, string | null]> => {
    const headers = { accept, "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { status, headers: answered } = await post(`${url}/graphql`, text, headers);
    return [status, answered.get("content-type")];
  };
  const full = `${type}; charset=utf-8`;
  expect(await told(notes, type)).toEqual([200, full]);
  expect(await told({ query: "{ nonsense }" }, `${type}, application/json`)).toEqual([400, full]);
  expect(await told({ query: "{" }, type)).toEqual([400, full]);
  expect(await told("no JSON", type)).toEqual([400, full]);
  const plain = [200, "application/json"];
  expect(await told({ query: "{ nonsense }" }, `application/json, ${type}`)).toEqual(plain);
  expect(await told({ query: "{ nonsense }" }, "*/*")).toEqual(plain);
});

test("a list is no request where nobody has said so", async () => {
  const told = await ask(closed, [notes]);
  expect(told.json["data"]).toBeUndefined();
  expect(told.text).toContain("Not a valid GraphQL request body");
});
