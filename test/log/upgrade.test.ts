// Goal: rows get a newer form only when every machine that is one of them reads it, and somebody asks; who does not read
// it, and who was evicted, is refused in words. The second form is made up: it is the first under another number.
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { foundLog } from "../../src/cluster/founding.ts";
import { openMachine } from "../../src/cluster/open-machine.ts";
import { evictedWords } from "../../src/cluster/roster.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import { readHead } from "../../src/log/record.ts";
import { makeMachineFolder, closeMachines } from "../support/machines.ts";
import { findFreePort } from "../support/free-port.ts";

const certificates = join(import.meta.dirname, "..", "certificates");
const pem = (name: string): Buffer => readFileSync(join(certificates, name));
const tls = {
  ca: pem("cluster-authority.pem"),
  cert: pem("cluster-node.pem"),
  key: pem("cluster-node.key"),
};

const open = new Map<string, ClusterNode>();
afterAll(async () => {
  for (const machine of open.values()) await machine.close();
  await closeMachines();
});

const logFolder = makeMachineFolder();
const dirs = new Map<string, string>();

async function start(name: string, formats: readonly number[]): Promise<ClusterNode> {
  const dir = dirs.get(name) ?? join(makeMachineFolder(), name);
  dirs.set(name, dir);
  const port = await findFreePort();
  const log = await openDirectoryLog(logFolder, systemClock);
  const machine = await openMachine({
    log,
    clock: systemClock,
    logger: silentLogger,
    name,
    address: `127.0.0.1:${port}`,
    formats,
    bind: { host: "127.0.0.1", port },
    tls,
    leaseMs: 600,
    ledMs: 0,
    readWaitMs: 2_000,
    retainMs: 3_600_000,
    digestMs: 0,
    isQuorum: false,
    pathOf: (slot, isGrpc) => join(dir, `slot-${slot}${isGrpc ? ".grpc" : ".sock"}`),
    giveSnapshot: (socket) => socket.destroy(),
    onEnd: () => {},
    store: { dir },
  });
  open.set(name, machine);
  return machine;
}

async function end(name: string): Promise<void> {
  await open.get(name)?.close();
  open.delete(name);
}

const memberOf = (machine: ClusterNode, name: string): object | undefined =>
  machine.facts.members.find(({ node }) => node === name);

test("a form of rows that not all machines read is written when all do, or when those are evicted that do not", async () => {
  const log = await openDirectoryLog(logFolder, systemClock);
  await foundLog(log, {
    storeId: randomBytes(16).toString("hex"),
    lastTs: 0,
    clock: systemClock,
  });
  const a = await start("a", [5, 6]);
  await expect.poll(() => a.facts.role, { timeout: 10_000 }).toBe("leading");
  const b = await start("b", [5]);
  await expect
    .poll(() => memberOf(a, "b"), { timeout: 10_000 })
    .toMatchObject({
      formats: [5],
      isAway: false,
    });
  expect([a.facts.format, b.facts.format]).toEqual([5, 5]);
  const tooOld = {
    code: "E_CLUSTER",
    message: expect.stringContaining("not every machine reads format 6: b (5)"),
  };
  await expect(a.finalize()).rejects.toMatchObject(tooOld);
  await expect(b.finalize()).rejects.toMatchObject({ message: "b does not lead: a does" });
  // It is still one of them when it is away.
  await end("b");
  await expect.poll(() => memberOf(a, "b"), { timeout: 10_000 }).toMatchObject({ isAway: true });
  await expect(a.finalize()).rejects.toMatchObject(tooOld);
  await expect(a.evict("a", false)).rejects.toMatchObject({ code: "E_CLUSTER" });
  await expect(a.evict("z", false)).rejects.toMatchObject({ message: "there is no machine z" });
  expect(await a.evict("b", false)).toContain("b is not one of the machines any more");
  await expect(a.evict("b", false)).rejects.toMatchObject({ message: "b was evicted before" });
  await expect.poll(() => memberOf(a, "b")).toBeUndefined();
  expect(await a.finalize()).toContain("rows have format 6 from now on, and had 5");
  expect(a.facts.format).toBe(6);
  expect(await a.finalize()).toContain("nothing is to finalize: rows have format 6");

  // Before anything of it is touched, and in words.
  const older = { message: expect.stringContaining("format 6, and this machine reads 5") };
  await expect(start("b", [5])).rejects.toMatchObject(older);
  await expect(start("c", [5])).rejects.toMatchObject(older);
  // Its old store: it learns of it from the log itself.
  const back = await start("b", [5, 6]);
  await expect.poll(() => back.facts.role, { timeout: 10_000 }).toBe("stopped");
  expect(back.facts.problem).toBe(evictedWords);
  expect(memberOf(a, "b")).toBeUndefined();
  await end("b");
  await expect(start("b", [5, 6])).rejects.toMatchObject({
    code: "E_STARTUP",
    message: `--cluster: ${evictedWords}`,
  });
  // With a new directory it is one of them again, and leads in the form that was agreed upon.
  rmSync(dirs.get("b")!, { recursive: true });
  const anew = await start("b", [5, 6]);
  await expect
    .poll(() => memberOf(a, "b"), { timeout: 10_000 })
    .toMatchObject({ formats: [5, 6], isAway: false });
  await end("a");
  await expect.poll(() => anew.facts.role, { timeout: 10_000 }).toBe("leading");
  expect(anew.facts.format).toBe(6);
  const [newest] = await log.read((await log.tail()) - 1, 1);
  expect(readHead(newest!).rowFormat).toBe(6);
  await log.close();
}, 60_000);

test("a machine that is connected is evicted with force, and goes out of service", async () => {
  const leader = open.get("b")!;
  const c = await start("c", [5, 6]);
  await expect
    .poll(() => memberOf(leader, "c"), { timeout: 10_000 })
    .toMatchObject({ isAway: false });
  await expect(leader.evict("c", false)).rejects.toMatchObject({
    message: "c is connected: end it, or evict it with force",
  });
  await leader.evict("c", true);
  await expect.poll(() => c.facts.role, { timeout: 10_000 }).toBe("stopped");
  expect(c.facts.problem).toBe(evictedWords);
  expect(memberOf(leader, "c")).toBeUndefined();
}, 30_000);
