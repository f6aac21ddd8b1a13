// `npm run hostile -- [--attack NAME,…] [--seconds N] [--rounds N] …`: small reads and writes beside hostile clients. For
// each attack, with one client and with eight: the 99th percentile of reads and writes, the most memory that all processes
// had together, and what they keep of it afterwards; the median of the rounds. Exit 1 when a target is missed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { attacks } from "./hostile/attacks.mjs";
import { HostileClient } from "./hostile/client.mjs";
import { fill, nodeCount, writeResolvers } from "./hostile/data.mjs";
import { findFreePort, LiveServer, sleep } from "./live-server.mjs";
import { readOptions, refuseOption } from "./options.mjs";

const values = readOptions(
  "hostile",
  "Small reads and writes beside hostile clients: how long they take, and what memory it costs.",
  {
    attack: ["", `one or several of ${[...attacks.keys()].join(", ")}; all when not given`],
    clients: ["1,8", "numbers of hostile clients"],
    seconds: [5, "length of each attack"],
    rounds: [3, "of which the median counts"],
    workers: [2, "processes that answer"],
    memory: ["3GB", "the server's --memory"],
    port: [0, "of the first server; 0 for a free one"],
  },
);

/** What is to be held beside each attack. */
const targets = { readMs: 100, writeMs: 250, memoryMiB: parseMiB(values.memory), calmMs: 60_000 };
const isCalm = (nowMiB, beforeMiB) => nowMiB <= beforeMiB * 1.25 + 100;

const names = values.attack === "" ? [...attacks.keys()] : values.attack.split(",");
for (const name of names) if (!attacks.has(name)) refuseOption("hostile", `--attack: no "${name}"`);
const clientCounts = values.clients.split(",").map(Number);
if (!clientCounts.every((count) => Number.isInteger(count) && count > 0)) {
  refuseOption("hostile", `--clients takes numbers, not "${values.clients}"`);
}

function parseMiB(text) {
  const match = /^(\d+)(MB|GB)$/i.exec(text);
  if (match === null) refuseOption("hostile", `--memory takes a size as 3GB, not "${text}"`);
  return Number(match[1]) * (match[2].toUpperCase() === "GB" ? 1024 : 1);
}

let missed = 0;

async function main() {
  const heads = ["attack", "clients", "sent", "read p99", "write p99", "failed", "peak MiB"];
  console.log([...heads, "before", "after", "calm s", ""].map(toColumn).join(" "));
  for (const kind of ["plain", "constructs", "rules", "acl", "lambda"]) {
    const wanted = names.filter((name) => attacks.get(name).server === kind);
    if (wanted.length > 0) await withServer(kind, (target) => runAll(target, wanted));
  }
  console.log(missed === 0 ? "hostile: all targets met" : `hostile: ${missed} missed`);
  process.exit(missed === 0 ? 0 : 1);
}

async function runAll(target, wanted) {
  await target.measure([], 2); // What a process compiles on its way is nobody's attack.
  for (const name of wanted) {
    for (const count of clientCounts) {
      const rounds = [];
      for (let i = 0; i < values.rounds; i++) rounds.push(await playRound(target, name, count));
      tell(name, count, rounds);
    }
  }
}

/** A server of its own kind, filled and ended. */
async function withServer(kind, use) {
  const folder = mkdtempSync(join(tmpdir(), "weft-hostile-"));
  const port = values.port === 0 ? await findFreePort() : values.port;
  const server = new LiveServer(join(folder, "data"), port, values.workers);
  server.hasLambda = kind === "lambda";
  server.hasConstructs = kind === "constructs";
  server.hasRules = kind === "rules";
  server.args.push("--memory", values.memory, "--log", "error");
  if (kind === "lambda") server.args.push("--lambda", writeResolvers(folder));
  try {
    if (kind === "acl" || kind === "lambda") await restartFilled(server, kind, folder);
    else {
      await server.start();
      await fill(server);
    }
    await use(new Target(server, port, kind === "acl" ? await login(server) : {}));
    await server.stop();
  } finally {
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Filled by anybody, then served to those who log in. */
async function restartFilled(server, kind, folder) {
  await server.start();
  await fill(server);
  if (kind !== "acl") return;
  await server.stop();
  const file = join(folder, "secret");
  writeFileSync(file, "a secret of thirty-two bytes long");
  server.args.push("--acl", `secret-file=${file}`);
  await server.start();
}

async function login(server) {
  const body = '{"userid":"groot","password":"password"}';
  const { data } = await server.post("/login", "application/json", body);
  return { "x-dgraph-accesstoken": data.accessJWT };
}

class Target {
  constructor(server, port, headers) {
    this.server = server;
    this.port = port;
    this.headers = headers;
    const file = new URL("hostile/probe.mjs", import.meta.url);
    this.probe = new Worker(file, { workerData: { port, headers, nodeCount } });
    this.probe.unref();
  }

  /** What small reads and writes see for so long beside these clients. */
  async measure(clients, seconds, run) {
    this.probe.postMessage({ kind: "begin" });
    const running = clients.map((client) => run(client).catch((error) => console.error(error)));
    let peakMiB = 0;
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
      peakMiB = Math.max(peakMiB, readMiB(this.server, "VmRSS"));
      await sleep(100);
    }
    const told = new Promise((resolve) => this.probe.once("message", resolve));
    this.probe.postMessage({ kind: "end" });
    for (const client of clients) client.end();
    await Promise.all(running);
    return { ...(await told), peakMiB };
  }
}

/** Sum over all processes, resolvers too. `field`: VmRSS, or RssAnon for their own. */
function readMiB(server, field) {
  const pids = server.pids();
  for (const pid of pids.slice(1)) pids.push(...childrenOf(pid));
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      kilobytes += Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    } catch {
      // It has ended.
    }
  }
  return kilobytes / 1024;
}

function childrenOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function playRound(target, name, count) {
  const { server, port, headers } = target;
  const pids = server.pids().join();
  const beforeMiB = readMiB(server, "RssAnon");
  const clients = Array.from({ length: count }, (_, i) => new HostileClient(port, i, headers));
  const { run } = attacks.get(name);
  const measured = await target.measure(clients, values.seconds, run);
  const { reads, writes, peakMiB } = measured;
  const failures = [...measured.failures, ...clients.flatMap(({ complaints }) => complaints)];
  const began = performance.now();
  let afterMiB;
  do {
    await sleep(500);
    afterMiB = readMiB(server, "RssAnon");
  } while (!isCalm(afterMiB, beforeMiB) && performance.now() - began < targets.calmMs);
  return {
    sent: clients.reduce((sum, client) => sum + client.count, 0),
    readMs: percentile(reads),
    writeMs: percentile(writes),
    failures,
    failed: failures.length + (server.pids().join() === pids ? 0 : 1),
    died: server.pids().join() !== pids,
    peakMiB,
    beforeMiB,
    afterMiB,
    calmS: (performance.now() - began) / 1000,
  };
}

function percentile(times) {
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

function tell(name, count, rounds) {
  const of = (key) => median(rounds.map((round) => round[key]));
  const wrong = [];
  if (of("readMs") > targets.readMs) wrong.push("reads");
  if (of("writeMs") > targets.writeMs) wrong.push("writes");
  if (of("failed") > 0) wrong.push("failed");
  if (rounds.some(({ died }) => died)) wrong.push("a process ended");
  if (of("peakMiB") > targets.memoryMiB) wrong.push("memory");
  if (!isCalm(of("afterMiB"), of("beforeMiB"))) wrong.push("kept");
  missed += wrong.length > 0 ? 1 : 0;
  const row = [name, count, of("sent"), of("readMs"), of("writeMs"), of("failed"), of("peakMiB")];
  const rest = [of("beforeMiB"), of("afterMiB"), of("calmS")];
  const verdict = wrong.length === 0 ? "PASS" : `MISS: ${wrong.join(", ")}`;
  console.log([...row, ...rest, verdict].map(toColumn).join(" "));
  const [failure] = rounds.flatMap(({ failures }) => failures);
  if (failure !== undefined) console.log(`  the first that failed: ${failure}`);
}

function toColumn(value, i) {
  if (i === 0) return String(value).padEnd(20);
  if (typeof value !== "number") return String(value).padStart(9);
  return (Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 1 : 0)).padStart(9);
}

await main();
