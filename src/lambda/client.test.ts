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
