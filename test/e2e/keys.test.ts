// Goal: a server without anonymous access, its keys made on its stopped store and through it, in all of its processes.
import { afterAll, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, runWeft, startServer } from "./server.ts";

afterAll(cleanUp);

const key = (text: string) => ({ "x-auth-token": text });

test("keys open, do not administer unless they may, and are gone when they are revoked", async () => {
  const dataDir = makeFolder();
  const offline = ["--data", dataDir];
  const first = await runWeft(["key", "create", "--name", "me", "--kind", "admin", ...offline]);
  expect(first.stderr).toMatch(/^weft: admin key \w{10} "me" does not expire/);
  const admin = first.stdout.trim();
  const server = await startServer({ dataDir, flags: ["--workers", "2", "--anonymous", "off"] });
  const { url } = server;
  const query = (headers: Record<string, string>) =>
    post(`${url}/query`, "{ q(func: has(name)) { name } }", headers);

  expect((await query({})).status).toBe(401);
  expect((await get(`${url}/state`)).status).toBe(401);
  expect((await get(`${url}/health`)).status).toBe(200);
  expect((await query(key(admin))).json["data"]).toEqual({ q: [] });
  expect((await post(`${url}/alter`, { drop_all: true }, key(admin))).status).toBe(200);
  expect((await runWeft(["key", "list", ...offline])).stderr).toContain("another server does");

  const online = ["--to", url, "--key", admin];
  const made = await runWeft(["key", "create", "--name", "shop", "--expires", "30d", ...online]);
  const client = made.stdout.trim();
  expect(client).toMatch(/^weft_client_/);
  // Each connection may come to another process.
  for (let i = 0; i < 6; i++) {
    const answer = await query({ ...key(client), connection: "close" });
    expect(answer.json["data"]).toEqual({ q: [] });
  }
  expect((await post(`${url}/alter`, "age: int .", key(client))).status).toBe(403);
  expect((await runWeft(["key", "list", ...online])).stdout).toMatch(/client .* shop\n$/);

  await runWeft(["key", "revoke", client.slice(12, 22), ...online]);
  for (let i = 0; i < 6; i++) {
    expect((await query({ ...key(client), connection: "close" })).status).toBe(401);
  }
  expect((await query(key(admin))).status).toBe(200);
  expect(await server.stop()).toBe(0);
}, 120_000);

test("an administrator drains a server of several processes and ends it", async () => {
  const server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] });
  const { url } = server;
  const close = { connection: "close" };
  const turn = (enable: boolean) =>
    post(`${url}/admin`, {
      query: `mutation { draining(enable: ${enable}) { response { code } } }`,
    });
  expect((await turn(true)).json["errors"]).toBeUndefined();
  for (let i = 0; i < 6; i++) {
    expect((await get(`${url}/health`, close)).status).toBe(503);
    expect((await post(`${url}/query`, "{ q(func: has(name)) { name } }", close)).text).toContain(
      "the server is in draining mode",
    );
  }
  await turn(false);
  for (let i = 0; i < 6; i++) expect((await get(`${url}/health`, close)).status).toBe(200);
  const ended = new Promise((resolve) => server.process.once("exit", resolve));
  expect((await post(`${url}/admin/shutdown`, "")).text).toBe(
    '{"code": "Success","message": "Server is shutting down"}',
  );
  expect(await ended).toBe(0);
}, 120_000);
