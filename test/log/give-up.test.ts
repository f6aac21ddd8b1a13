// Goal: a machine that cannot do what a leader has to do gives the lead up to one that can, and keeps it where none can.
import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { readHead } from "../../src/log/record.ts";
import { waitUntil } from "../e2e/server.ts";
import { closeMachines, putForeignRow } from "../support/machines.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { openGate, openNode, type TestNode } from "../support/nodes.ts";

afterAll(closeMachines);

const newId = (): string => randomBytes(16).toString("hex");

function whenIn({ machine }: TestNode, role: string): Promise<void> {
  return waitUntil(() => machine.facts.role === role, 10_000);
}

test("who cannot write its store leaves the lead to one that can, and takes it where there is none", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const storeId = newId();
  const full = "the store is full: its disk has 0.0 MB left";
  const state = { words: undefined as string | undefined };
  const a = await openNode(connectTwin(engine), storeId, { name: "a", trouble: () => state.words });
  await whenIn(a, "leading");
  state.words = full;
  // Nobody else could lead: reads go on.
  await waitUntil(() => a.machine.facts.problem === full, 5000);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect([a.machine.facts.role, a.ends]).toEqual(["leading", []]);

  let isAlso: string | undefined = "its directory is gone";
  const b = await openNode(connectTwin(engine), storeId, { name: "b", trouble: () => isAlso });
  const told = (): string =>
    a.machine.facts.members
      .map(({ node, problem }) => `${node}: ${problem}`)
      .toSorted()
      .join();
  const both = `a: ${full},b: ${isAlso}`;
  await waitUntil(() => told() === both, 5000);
  expect(a.ends).toEqual([]);
  isAlso = undefined;
  await waitUntil(() => a.ends.length > 0, 10_000);
  expect(a.ends).toEqual(["resigned"]);
  await whenIn(b, "leading");

  // What is left of it is one that had better not lead: it takes the lead when all others had their turn.
  await a.machine.close();
  const again = await openNode(connectTwin(engine), storeId, {
    name: "a",
    trouble: () => state.words,
  });
  await waitUntil(() => again.machine.facts.leader === "b", 5000);
  expect(again.machine.facts).toMatchObject({ role: "following", problem: full });
  await b.machine.close();
  await whenIn(again, "leading");
}, 40_000);

test("who gives the lead up while it beats is not out of service", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const log = connectTwin(engine);
  const beats = openGate((term: number) => log.lease.beat(term));
  const ends = openGate((term: number) => log.lease.giveUp(term));
  const append: typeof log.append = async (records) => {
    const appended = await log.append(records);
    // Behind its begin: the next beat says that it is kept.
    beats.close();
    return appended;
  };
  const lease = { ...log.lease, beat: beats.pass, giveUp: ends.pass };
  const a = await openNode({ ...log, append, lease }, newId());
  await whenIn(a, "leading");
  await beats.whenStopped();
  ends.close();
  const resigned = a.machine.resign();
  await ends.whenStopped();
  beats.open();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([a.machine.facts.role, a.machine.facts.problem]).toEqual(["resigning", undefined]);
  ends.open();
  expect(await resigned).toBe(true);
  expect(a.ends).toEqual(["resigned"]);
});

/** One that the others reach until `cut`; it reaches them, and the log, all the time. */
async function openBehindLine(engine: TwinEngine, storeId: string, name: string) {
  let cut = (): Promise<void> => Promise.resolve();
  const addressOf = async (port: number): Promise<string> => {
    const proxy = await startTcpProxy(port);
    cut = () => proxy.close();
    return `127.0.0.1:${proxy.port}`;
  };
  const node = await openNode(connectTwin(engine), storeId, { name, addressOf });
  return { node, cut: () => cut() };
}

test("who reaches the log and no machine gives the lead up to those that reach each other", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const storeId = newId();
  const a = await openBehindLine(engine, storeId, "a");
  await whenIn(a.node, "leading");
  const b = await openNode(connectTwin(engine), storeId, { name: "b" });
  const c = await openNode(connectTwin(engine), storeId, { name: "c" });
  await waitUntil(() => [b, c].every(({ machine }) => machine.facts.leader === "a"), 10_000);
  await a.cut();
  await waitUntil(() => a.node.ends.length > 0, 10_000);
  expect(a.node.ends).toEqual(["resigned"]);
  await waitUntil(() => [b, c].some(({ machine }) => machine.facts.role === "leading"), 10_000);
  // It begins anew, and does not take the lead back: the others are more.
  await a.node.machine.close();
  const again = await openNode(connectTwin(engine), storeId, { name: "a" });
  const { term } = engine.lease;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect([again.machine.facts.role, engine.lease.term]).toEqual(["following", term]);
}, 40_000);

test("of two machines with a cut line between them the one that leads goes on", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const storeId = newId();
  const a = await openBehindLine(engine, storeId, "a");
  await whenIn(a.node, "leading");
  const b = await openNode(connectTwin(engine), storeId, { name: "b" });
  await waitUntil(() => b.machine.facts.leader === "a", 10_000);
  await a.cut();
  await waitUntil(() => engine.wishes.has("b"), 5000);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect([a.node.machine.facts.role, engine.lease.node, engine.lease.term]).toEqual([
    "leading",
    "a",
    1,
  ]);
}, 30_000);

test("a leader whose rows are not those of most machines goes out of service, and one of those leads", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const storeId = newId();
  const before = await openNode(connectTwin(engine), storeId, { name: "a" });
  await whenIn(before, "leading");
  await before.machine.close();
  await putForeignRow(before.dir, storeId);
  const { dir } = before;
  const log = connectTwin(engine);
  let areThere = false;
  const append: typeof log.append = async (records) => {
    // With one of them alone nobody could know.
    const isDigest = records.some((record) => readHead(record).kind === "digest");
    if (isDigest) await waitUntil(() => areThere, 20_000);
    return await log.append(records);
  };
  const a = await openNode({ ...log, append }, storeId, { name: "a", dir, digestMs: 500 });
  await whenIn(a, "leading");
  const others = await Promise.all(
    ["b", "c"].map((name) => openNode(connectTwin(engine), storeId, { name })),
  );
  await waitUntil(() => others.every(({ machine }) => machine.facts.leader === "a"), 10_000);
  areThere = true;
  await whenIn(a, "stopped");
  expect(a.machine.facts.problem).toMatch(
    /^its rows are not those of most machines \([bc], [bc]\)/,
  );
  await waitUntil(() => others.some(({ machine }) => machine.facts.role === "leading"), 10_000);
  await waitUntil(() => others.some(({ machine }) => machine.facts.role === "following"), 10_000);
  expect(a.ends).toEqual([]);
}, 30_000);
