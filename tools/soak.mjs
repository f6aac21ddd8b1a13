// `npm run soak -- [--minutes M] [--workers N] [--kills SECONDS]`: mixed load with long readers and kills. Prints memory,
// growth of the file and the 99th percentile over time, and fails when an acknowledged write is lost or the check finds
// anything.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, kill, LiveServer, makeRandom, sleep } from "./live-server.mjs";
import { readOptions } from "./options.mjs";

const values = readOptions(
  "soak",
  "Reads and writes for long, with kills; looks for what was acknowledged, memory and the file's growth.",
  {
    minutes: [10, "how long"],
    workers: [2, "processes that answer"],
    kills: [20, "seconds between kills; 0 for none"],
    seed: [1, "of what is asked and killed"],
  },
);
const random = makeRandom(values.seed);
const lengthMs = values.minutes * 60_000;
const reportMs = 10_000;
const personCount = 5_000;

const schema = `
soak.name: string @index(exact, term) .
soak.score: int @index(int) .
soak.knows: [uid] @reverse @count .
soak.counter: int .
`;

const counts = { reads: 0, writes: 0, longReads: 0, refused: 0, cut: 0, kills: 0 };
let latencies = [];
let isOver = false;
/** Increments of the counter node that were acknowledged, and those of which nobody knows. */
const counter = { acknowledged: 0, unknown: 0 };

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-soak-"));
  const server = new LiveServer(folder, await findFreePort(), values.workers);
  try {
    await server.start();
    const uids = await fill(server);
    const clients = [
      ...Array.from({ length: 6 }, () => read(server, uids)),
      ...Array.from({ length: 3 }, () => write(server, uids)),
      ...Array.from({ length: 2 }, () => readLong(server)),
      count(server, uids),
      disturb(server),
    ];
    await report(server);
    isOver = true;
    await Promise.all(clients);
    await verify(server, uids);
    await server.stop();
    server.check();
    console.log("soak: every acknowledged increment is there, the store checks clean");
  } finally {
    isOver = true;
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(server) {
  await server.post("/alter", "text/plain", schema);
  const uids = [];
  for (let from = 0; from < personCount; from += 500) {
    const facts = [];
    for (let i = from; i < from + 500; i++) {
      facts.push(`_:p${i} <soak.name> "person ${i}" .`, `_:p${i} <soak.score> "${i % 100}" .`);
      for (const other of uids.slice(-3)) facts.push(`_:p${i} <soak.knows> <${other}> .`);
    }
    const { data } = await server.mutate(facts.join("\n"));
    uids.push(...Object.values(data.uids));
  }
  await server.mutate(`<${uids[0]}> <soak.counter> "0" .`);
  return uids;
}

/** Runs `work` until the end; a refusal or a cut connection is what a killed child looks like from outside. */
async function keepOn(work, name) {
  while (!isOver) {
    const began = performance.now();
    try {
      await work();
      counts[name]++;
      if (name !== "longReads") latencies.push(performance.now() - began);
    } catch (error) {
      counts[error.answer === undefined ? "cut" : "refused"]++;
      await sleep(50);
    }
  }
}

const pick = (list) => list[Math.floor(random() * list.length)];

function read(server, uids) {
  return keepOn(() => {
    const turn = random();
    if (turn < 0.4)
      return server.query(`{ q(func: uid(${pick(uids)})) { soak.name soak.knows { soak.name } } }`);
    if (turn < 0.7) {
      const number = Math.floor(random() * personCount);
      return server.query(`{ q(func: eq(soak.name, "person ${number}")) { uid soak.score } }`);
    }
    return server.query(
      `{ q(func: ge(soak.score, ${Math.floor(random() * 90)}), first: 20) { soak.name } }`,
    );
  }, "reads");
}

function write(server, uids) {
  return keepOn(() => {
    const facts = [
      `<${pick(uids)}> <soak.score> "${Math.floor(random() * 100)}" .`,
      `<${pick(uids)}> <soak.knows> <${pick(uids)}> .`,
      `_:n <soak.name> "new ${Math.floor(random() * 1e9)}" .`,
    ];
    return server.mutate(facts.join("\n"));
  }, "writes");
}

/** Walks the whole graph: seconds under load. */
function readLong(server) {
  return keepOn(
    () =>
      server.query(
        "{ q(func: has(soak.name)) { soak.name soak.knows { soak.name soak.knows { soak.score } } } }",
      ),
    "longReads",
  );
}

/** Counts one node up; what was acknowledged must be in the sum. */
function count(server, uids) {
  const body = `upsert { query { u as var(func: uid(${uids[0]})) { c as soak.counter n as math(c + 1) } }
    mutation { set { uid(u) <soak.counter> val(n) . } } }`;
  return keepOn(async () => {
    try {
      await server.post("/mutate?commitNow=true", "application/rdf", body);
      counter.acknowledged++;
    } catch (error) {
      counter.unknown++;
      throw error;
    }
  }, "writes");
}

async function disturb(server) {
  const everyMs = values.kills * 1000;
  for (let waited = 0; !isOver; waited += 200) {
    await sleep(200);
    if (waited === 0 || waited % everyMs !== 0) continue;
    const victim = pick(server.children());
    if (victim !== undefined) kill(victim);
    counts.kills++;
  }
}

async function report(server) {
  console.log(
    "  time  reads/s writes/s  long  refused  cut  kills  p50 ms  p99 ms  max ms  memory MiB (supervisor, children)  file MiB",
  );
  let before = { ...counts };
  for (let at = 0; at < lengthMs; at += reportMs) {
    const rowMs = Math.min(reportMs, lengthMs - at);
    await sleep(rowMs);
    const times = latencies.sort((a, b) => a - b);
    latencies = [];
    const seconds = rowMs / 1000;
    const percentile = (share) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
    const row = [
      `${Math.round((at + rowMs) / 1000)} s`.padStart(6),
      String(Math.round((counts.reads - before.reads) / seconds)).padStart(8),
      String(Math.round((counts.writes - before.writes) / seconds)).padStart(8),
      String(counts.longReads - before.longReads).padStart(5),
      String(counts.refused - before.refused).padStart(8),
      String(counts.cut - before.cut).padStart(4),
      String(counts.kills).padStart(6),
      percentile(0.5).padStart(7),
      percentile(0.99).padStart(7),
      percentile(0.9999).padStart(7),
      `  ${readMemory(server)}`.padEnd(37),
      (server.fileBytes() / 1024 / 1024).toFixed(1).padStart(8),
    ];
    console.log(row.join(" "));
    before = { ...counts };
  }
}

function readMemory(server) {
  try {
    return server.memory().join(" ");
  } catch {
    return "(a child is being started)";
  }
}

async function verify(server, uids) {
  for (let waited = 0; !(await server.isHealthy()); waited += 100) {
    if (waited > 20_000) throw new Error("the server is not back");
    await sleep(100);
  }
  const { data } = await server.query(`{ q(func: uid(${uids[0]})) { soak.counter } }`);
  const stored = data.q[0]["soak.counter"];
  const most = counter.acknowledged + counter.unknown;
  if (stored < counter.acknowledged || stored > most) {
    throw new Error(`counted to ${stored}, acknowledged ${counter.acknowledged}, at most ${most}`);
  }
  const back = await server.query("{ a(func: has(soak.knows)) { n: count(soak.knows) } }");
  if (back.data.a.length === 0) throw new Error("the graph is gone");
  console.log(
    `soak: counted to ${stored}, acknowledged ${counter.acknowledged}, unknown ${counter.unknown}`,
  );
}

await main();
