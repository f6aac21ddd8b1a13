/**
 * `node bench/beside-heavy.mjs [--seconds N] [--workers N]` after a build: how long small reads take while other clients
 * loop queries that visit a million edges, or sort, group and write one huge level. A real server, its own folder; prints
 * p50, p99 and the longest for each kind of heavy query.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    workers: { type: "string", default: "1" },
    clients: { type: "string", default: "4" },
  },
});
const seconds = Number(values.seconds);

/** Each of so many nodes points at so many others. */
const nodeCount = 1000;
const edgesPerNode = 100;
const levels = 10;

/** Few nodes that point at many: what is done to one huge level. */
const hubCount = 10;
const leafCount = 20_000;
const firstHub = 1_000_000;

const nested = (inner) => `${"to { ".repeat(levels - 1)}${inner}${" }".repeat(levels - 1)}`;
const heavyQueries = {
  "a million edges, one number": `{ var(func: has(to)) { ${nested("n as count(to)")} } all() { sum(val(n)) } }`,
  "a million edges, filtered": `{ var(func: has(to)) { ${nested("to @filter(ge(number, 0) and not eq(number, 7)) { n as number }")} } all() { sum(val(n)) } }`,
  "a recursion over all edges":
    "{ var(func: uid(1)) @recurse(depth: 12, loop: true) { v as to } c(func: uid(v)) { count(uid) } }",
  "a hundred thousand edges, printed": "{ q(func: has(to)) { number to { number } } }",
  "two hundred thousand edges, in order":
    "{ q(func: type(Hub)) { leaf (orderasc: size, first: 5000) { uid } } }",
  "two hundred thousand edges, in groups":
    "{ q(func: type(Hub)) { leaf @groupby(size) { count(uid) } } }",
  "a list of 20,000 below one GraphQL root": {
    query: `{ getHub(id: "0x${firstHub.toString(16)}") { leaf { id size label } } }`,
  },
};

const port = await findFreePort();
const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
const root = join(import.meta.dirname, "..");
const server = spawn(
  process.execPath,
  [
    join(root, "bin", "weft"),
    "serve",
    "--data",
    folder,
    "--http",
    `127.0.0.1:${port}`,
    "--workers",
    values.workers,
    "--limit",
    "query-edge=100000000",
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
try {
  await whenHealthy();
  await load();
  await report("nothing", []);
  for (const [name, query] of Object.entries(heavyQueries)) await report(name, [query]);
} finally {
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}

/** Small reads, one after another on connections of their own, beside a client that loops the heavy queries. */
async function report(name, queries) {
  const heavy = { count: 0, ms: 0, isOver: false };
  const loops = queries.map((query) => loop(query, heavy));
  const times = [];
  const end = performance.now() + seconds * 1000;
  const small = Array.from({ length: Number(values.clients) }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = client; performance.now() < end; i++) {
      const start = performance.now();
      await ask(agent, `{ q(func: uid(${1 + (i % nodeCount)})) { uid number } }`);
      times.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    agent.destroy();
  });
  await Promise.all(small);
  heavy.isOver = true;
  await Promise.all(loops);
  times.sort((a, b) => a - b);
  const at = (share) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1).padStart(7);
  const beside =
    queries.length === 0
      ? ""
      : `  (${heavy.count} heavy, ${(heavy.ms / heavy.count).toFixed(0)} ms each)`;
  const waits = `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  longest ${at(1 - 1e-9)} ms`;
  const line = `${String(times.length).padStart(6)} small reads  ${waits}`;
  process.stdout.write(`beside ${name.padEnd(40)}${line}${beside}\n`);
}

async function loop(query, heavy) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!heavy.isOver) {
    const start = performance.now();
    await ask(agent, query);
    heavy.ms += performance.now() - start;
    heavy.count++;
  }
  agent.destroy();
}

async function load() {
  await post("/alter", "text/plain", "number: int @index(int) .\nto: [uid] @reverse .");
  let lines = [];
  for (let i = 1; i <= nodeCount; i++) {
    lines.push(`<${i}> <number> "${i}" .`);
    for (let k = 0; k < edgesPerNode; k++) {
      lines.push(`<${i}> <to> <${1 + ((i * 31 + k * 97) % nodeCount)}> .`);
    }
    if (lines.length < 5000 && i < nodeCount) continue;
    await mutate(lines);
    lines = [];
  }
  await loadHubs();
}

async function loadHubs() {
  const sdl = `type Hub { id: ID! leaf: [Leaf] @dgraph(pred: "leaf") }
    type Leaf { id: ID! size: Int @dgraph(pred: "size") label: String @dgraph(pred: "label") }`;
  await post("/admin/schema", "text/plain", sdl);
  for (let from = 0; from < leafCount; from += 2000) {
    const lines = [];
    for (let i = from; i < from + 2000; i++) {
      const leaf = firstHub + 100 + i;
      lines.push(`<${leaf}> <dgraph.type> "Leaf" .`, `<${leaf}> <label> "leaf ${i}" .`);
      lines.push(`<${leaf}> <size> "${(i * 7919) % 5003}" .`);
      for (let h = 0; h < hubCount; h++) lines.push(`<${firstHub + h}> <leaf> <${leaf}> .`);
    }
    await mutate(lines);
  }
  const hubs = Array.from({ length: hubCount }, (_, h) => firstHub + h);
  await mutate(hubs.map((hub) => `<${hub}> <dgraph.type> "Hub" .`));
}

async function mutate(lines) {
  await post("/mutate?commitNow=true", "application/rdf", `{ set {\n${lines.join("\n")}\n} }`);
}

function ask(agent, query) {
  if (typeof query !== "string") {
    const body = JSON.stringify(query);
    return send({ agent, path: "/graphql", type: "application/json", body });
  }
  return send({ agent, path: "/query", type: "application/dql", body: query });
}

async function post(path, type, body) {
  const text = await send({ agent: undefined, path, type, body });
  if (text.includes('"errors"')) throw new Error(text);
}

function send({ agent, path, type, body }) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
    const sent = request(
      { agent, port, host: "127.0.0.1", path, method: "POST", headers },
      (res) => {
        let text = "";
        res.on("data", (chunk) => {
          if (text.length < 10_000) text += chunk;
        });
        res.on("end", () => {
          if (text.startsWith('{"errors"')) reject(new Error(text));
          else resolve(text);
        });
        res.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

async function whenHealthy() {
  for (let attempt = 0; attempt < 300; attempt++) {
    try {
      if ((await fetch(`http://127.0.0.1:${port}/health`)).ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the server did not start");
}

function findFreePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address();
      probe.close(() => resolve(free));
    });
  });
}
