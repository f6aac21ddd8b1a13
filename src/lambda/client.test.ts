import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openLambdaClient } from "./client.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(
  place: string | number,
): Promise<{ server: Server; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((req, res) => {
    seen.push(req.headers);
    req.resume();
    res.end("[]");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(place, resolve));
  return { server, seen };
}

test("the database's own lambda server is told the time that is left, others get the plain headers", async () => {
  const path = join(tmpdir(), `weft-lambda-client-${process.pid}.sock`);
  const own = await listen(path);
  const client = openLambdaClient({ kind: "socket", path });
  expect(await client.call(0, "[]", 1500.2)).toEqual({ status: 200, body: "[]" });
  client.close();
  expect(own.seen[0]).toHaveProperty("x-weft-time-left", "1501");

  const other = await listen(0);
  const { port } = other.server.address() as AddressInfo;
  const remote = openLambdaClient({ kind: "url", url: `http://127.0.0.1:${port}/graphql-worker` });
  expect(await remote.call(0, "[]", 1500)).toEqual({ status: 200, body: "[]" });
  remote.close();
  expect(Object.keys(other.seen[0] ?? {}).sort()).toEqual([
    "connection",
    "content-length",
    "content-type",
    "host",
  ]);
});

test("a call waits until the own server is there, for no longer than its time, and runs once", async () => {
  const path = join(tmpdir(), `weft-lambda-late-${process.pid}.sock`);
  const client = openLambdaClient({ kind: "socket", path });
  const calls = [1, 2, 3].map(() => client.call(0, "[]", 9_000));
  expect(await client.call(0, "[]", 60)).toEqual({
    unreachable: 'Post "http://lambda/graphql-worker": dial tcp unix: connect: connection refused',
  });
  const first = await listen(path);
  expect(await Promise.all(calls)).toEqual([1, 2, 3].map(() => ({ status: 200, body: "[]" })));
  expect(first.seen.map((one) => Number(one["x-weft-time-left"]) <= 8_940)).toEqual(
    [1, 2, 3].map(() => true),
  );
  client.close();
});

test("calls that wait end with the client", async () => {
  const path = join(tmpdir(), `weft-lambda-none-${process.pid}.sock`);
  const client = openLambdaClient({ kind: "socket", path });
  const ended = client.call(0, "[]", Infinity);
  await new Promise((resolve) => setTimeout(resolve, 40));
  client.close();
  expect(await ended).toHaveProperty("unreachable");
});

test("a server elsewhere that is not there is told at once", async () => {
  const { server } = await listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const remote = openLambdaClient({ kind: "url", url: `http://127.0.0.1:${port}/graphql-worker` });
  expect(await remote.call(0, "[]", Infinity)).toHaveProperty("unreachable");
  remote.close();
});
