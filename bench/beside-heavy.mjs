/**
 * `node bench/beside-heavy.mjs [--seconds N] [--workers N]` after a build: how long small reads take while other clients
 * loop queries that visit a million edges. A real server, its own folder; prints p50 and p99 for each kind of heavy query.
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

const nested = (inner) => `${"to { ".repeat(levels - 1)}${inner}${" }".repeat(levels - 1)}`;
const heavyQueries = {
  "a million edges, one number": `{ var(func: has(to)) { ${nested("n as count(to)")} } all() { sum(val(n)) } }`,
  "a million edges, filtered": `{ var(func: has(to)) { ${nested("to @filter(ge(number, 0) and not eq(number, 7)) { n as number }")} } all() { sum(val(n)) } }`,
  "a recursion over all edges":
    "{ var(func: uid(1)) @recurse(depth: 12, loop: true) { v as to } c(func: uid(v)) { count(uid) } }",
  "a hundred thousand edges, printed": "{ q(func: has(to)) { number to { number } } }",
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
  const line = `${String(times.length).padStart(6)} small reads  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`;
  process.stdout.write(`beside ${name.padEnd(36)}${line}${beside}\n`);
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
    await post("/mutate?commitNow=true", "application/rdf", `{ set {\n${lines.join("\n")}\n} }`);
    lines = [];
  }
}

function ask(agent, query) {
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
