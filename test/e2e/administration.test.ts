// Goal: who may administer: with a token, from a page of another site, under a foreign name.
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";

let open: TestServer;
let closed: TestServer;

beforeAll(async () => {
  open = await startServer({ dataDir: makeFolder() });
  const flags = ["--security", "token=secret; hosts=db.example; origins=https://ops.example"];
  closed = await startServer({ dataDir: makeFolder(), flags });
});
afterAll(cleanUp);

/** fetch keeps Host and Origin for itself. */
function ask(url: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method: "POST", headers }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end('{"query":"{ health { status } }"}');
  });
}

describe("without a token", () => {
  test.each(["/alter", "/admin", "/admin/schema", "/assign?what=uids&num=1"])(
    "%s refuses pages of other sites and names that only point here",
    async (path) => {
      const json = { "content-type": "application/json" };
      expect(await ask(open.url, path, { ...json, origin: "https://evil.example" })).toBe(403);
      expect(await ask(open.url, path, { ...json, origin: "null" })).toBe(403);
      expect(await ask(open.url, path, { ...json, host: "evil.example" })).toBe(403);
      expect(await ask(open.url, path, { ...json, origin: open.url })).not.toBe(403);
      expect(await ask(open.url, path, json)).not.toBe(403);
    },
  );

  test("queries are nobody's administration", async () => {
    const headers = { "content-type": "application/dql", origin: "https://evil.example" };
    expect(await ask(open.url, "/query", headers)).toBe(200);
  });
});

describe("with a token", () => {
  test("it is asked for where the reference asks, in its words", async () => {
    const { url } = closed;
    const messageOf = async (path: string, headers: Record<string, string>): Promise<unknown> => {
      const answer = await post(url + path, "age: int .", headers);
      return (answer.json["errors"] as unknown as { message: string }[] | undefined)?.[0]?.message;
    };
    expect(await messageOf("/alter", {})).toBe(
      "No Auth Token found. Token needed for Admin operations.",
    );
    expect(await messageOf("/alter", { "x-dgraph-authtoken": "wrong" })).toBe(
      "Provided auth token [wrong] does not match. Permission denied.",
    );
    expect(await messageOf("/alter", { "x-dgraph-authtoken": "secret" })).toBeUndefined();
    expect(await messageOf("/admin", {})).toBe("Invalid X-Dgraph-AuthToken");
    expect(await messageOf("/admin/schema", {})).toBe("Invalid X-Dgraph-AuthToken");
    expect((await post(`${url}/query`, "{ q(func: has(age)) { age } }")).json["data"]).toEqual({
      q: [],
    });
  });

  test("it opens what a foreign page or name would close; configured ones need it too", async () => {
    const token = { "x-dgraph-authtoken": "secret" };
    const { url } = closed;
    expect(await ask(url, "/alter", { ...token, origin: "https://evil.example" })).toBe(200);
    expect(await ask(url, "/alter", { host: "db.example", origin: "https://ops.example" })).toBe(
      200,
    );
    expect(await ask(url, "/alter", { host: "other.example" })).toBe(403);
  });
});
