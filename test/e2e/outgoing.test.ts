/** Schemas name URLs: what the server asks of them, and who makes it ask. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";

let other: Server;
let asked = 0;
let keysUrl: string;

beforeAll(async () => {
  other = createServer((_req, res) => {
    asked++;
    res.end('{"keys":[]}');
  });
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  keysUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/keys`;
});

afterAll(async () => {
  other.close();
  await cleanUp();
});

const sdl = (): string =>
  `type A { id: ID! name: String }\n# Dgraph.Authorization {"Header":"X-A","Namespace":"n","JWKUrl":"${keysUrl}","Audience":["a"]}`;

const start = (flags: readonly string[]): Promise<TestServer> =>
  startServer({ dataDir: join(makeFolder(), "data"), flags: ["--no-sample", ...flags] });

test("validating a schema asks nobody, setting one asks for its keys", async () => {
  const server = await start([]);
  const validated = await post(`${server.url}/admin/schema/validate`, sdl());
  expect(validated.json["errors"]![0]!["message"]).toBe("Schema is valid");
  expect(asked).toBe(0);
  const set = await post(`${server.url}/admin/schema`, sdl());
  expect(set.json["data"]).toBeDefined();
  expect(asked).toBe(1);
}, 60_000);

test("an address that is not public, and was not named, is not asked", async () => {
  const server = await start(["--outgoing", "private=10.0.0.0/8"]);
  const before = asked;
  const set = await post(`${server.url}/admin/schema`, sdl());
  expect(set.json["errors"]![0]!["message"]).toContain(
    "127.0.0.1 is no public address, and not named in --outgoing private",
  );
  expect(asked).toBe(before);
}, 60_000);
