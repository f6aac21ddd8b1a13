// Goal: a request counts as coming from where its connection was accepted from, and from nowhere when that is not known.
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWalkServer, type WalkServer } from "../../test/support/walk-server.ts";
import { openKeyRing } from "../auth/key-ring.ts";
import { systemClock } from "../base/clock.ts";
import { type OpenEngine, openEngine } from "../engine/open.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { handedOverFrom } from "./peer.ts";

let engine: OpenEngine;
let walk: WalkServer;
let listener: Server;
let from = "";

beforeAll(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
  const keys = openKeyRing({ rows: engine.systemRows, clock: systemClock });
  const security = { anonymous: true, token: undefined };
  walk = await openWalkServer({ engine, keys, security, onShutdown: () => {} });
  listener = createServer({ pauseOnConnect: true }, (socket) =>
    walk.accept(socket, { kind: "network", address: from }),
  );
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  listener.close();
  await walk.close();
  await engine.close();
});

function alter(schema: string, header: string): string {
  return `POST /alter HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}: 127.0.0.1\r\nContent-Length: ${schema.length}\r\n\r\n${schema}`;
}

/** What comes back until the other side ends; "" for a connection that is reset behind the request. */
function send(text: string, isReset: boolean): Promise<string> {
  const { port } = listener.address() as { port: number };
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.on("close", () => resolve(answer));
    socket.write(text, () => {
      if (isReset) socket.resetAndDestroy();
    });
  });
}

const predicates = async (): Promise<string[]> =>
  (await engine.schema(0)).predicates.map(({ definition }) => definition.name);

test.each([
  ["another machine", "203.0.113.7"],
  ["a connection that was over when it was accepted", ""],
])("%s does not administer, whatever its headers say", async (_where, address) => {
  from = address;
  const answer = await send(alter("named: int .", handedOverFrom), false);
  expect(answer).toContain(address);
  expect(answer).toMatch(/^HTTP\/1\.1 \d+.*\r\nconnection: close/is);
  expect(await predicates()).not.toContain("named");
});

test("a reset changes nothing about it", async () => {
  from = "203.0.113.7";
  for (let i = 0; i < 50; i++) await send(alter(`reset${i}: int .`, handedOverFrom), true);
  // What was sent before this one was read before it, too.
  await send(alter("last: int .", handedOverFrom), false);
  expect((await predicates()).filter((name) => /^(?:reset|last)/.test(name))).toEqual([]);
});
