// Goal: a machine that needs a snapshot is not left waiting for one that has ceased to come: it asks again, and has it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { ReplicatedLog } from "../log/replicated-log.ts";
import { fetchSnapshot } from "./fetch-snapshot.ts";
import { sendFrame, type PeerTls } from "./peer-connection.ts";
import { openPeerServer } from "./peer-server.ts";
import { peerKind } from "./peer-words.ts";
import { sendSnapshot } from "./snapshot-words.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-fetch-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pem = (name: string): Buffer => readFileSync(join("test", "certificates", name));
const tls: PeerTls = {
  ca: pem("cluster-authority.pem"),
  cert: pem("cluster-node.pem"),
  key: pem("cluster-node.key"),
};
const storeId = "0123456789abcdef0123456789abcdef";
const noRows = {
  storeId,
  share: 0,
  commitTs: 0,
  logHash: "",
  read: () => false,
  close: async () => {},
};

test("that falls silent is asked for again", async () => {
  let asked = 0;
  const server = await openPeerServer({
    bind: { host: "127.0.0.1", port: 0 },
    tls,
    storeId,
    logger: silentLogger,
    take: (_hello, socket) => {
      asked++;
      sendFrame(socket, peerKind.welcome);
      // The first time all of it is lost on the way.
      if (asked > 1) void sendSnapshot(noRows, async (bytes) => void socket.write(bytes));
    },
  });
  const address = `127.0.0.1:${server.port}`;
  const lease = { read: async () => ({ term: 1, beat: 1, node: "a", address }) };
  const dir = join(folder, "store");
  await fetchSnapshot({
    log: { lease } as ReplicatedLog,
    dir,
    encryption: undefined,
    tls,
    self: { storeId, node: "b", address: "127.0.0.1:1" },
    clock: systemClock,
    logger: silentLogger,
    idleMs: 200,
  });
  expect(asked).toBe(2);
  expect(existsSync(join(dir, "weft.store"))).toBe(true);
  await server.close();
});
