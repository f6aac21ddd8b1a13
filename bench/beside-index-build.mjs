// `npm run bench -- beside-index-build [--nodes N] [--workers N] [--seconds N] [--clients N]`: how long small reads and
// small writes take while `/alter` puts indexes on data that is there, beside the same clients without it. A real
// server, its own folder; prints p50, p99 and the longest of each phase.
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findFreePort, LiveServer, makeRandom, sleep } from "../tools/live-server.mjs";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "100000" },
    workers: { type: "string", default: "2" },
    seconds: { type: "string", default: "10" },
    clients: { type: "string", default: "2" },
  },
});
const nodes = Number(values.nodes);
const clients = Number(values.clients);

const plain = `
key: string @index(hash) .
counter: int .
name: string .
tags: [string] .
text: string .
at: datetime .
to: [uid] .
`;
const indexed = `
name: string @index(term, exact, trigram) .
tags: [string] @index(hash) @count .
text: string @index(fulltext) .
at: datetime @index(hour) .
to: [uid] @reverse @count .
`;

const random = makeRandom(7);
const word = () => `word${Math.floor(random() ** 3 * 5000)}`;
const words = (count) => Array.from({ length: count }, word).join(" ");

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  const port = await findFreePort();
  const server = new LiveServer(join(folder, "data"), port, Number(values.workers));
  server.args.push("--log", "info");
  try {
    await server.start();
    await load(port);
    // The code of the server is compiled by then.
    await besideWork(port, sleep(3000));
    print("nothing", await besideWork(port, sleep(Number(values.seconds) * 1000)));
    const beganMs = performance.now();
    const times = await besideWork(port, alter(port));
    const tookMs = performance.now() - beganMs;
    print(`an index build of ${(tookMs / 1000).toFixed(1)} s`, times);
    await server.stop();
    server.check();
    await sleep(0);
    printLog(server.output);
  } finally {
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

async function load(port) {
  const agent = new Agent({ keepAlive: true });
  await send(agent, port, { path: "/alter", type: "text/plain", body: plain });
  const path = "/mutate?commitNow=true";
  for (let from = 1; from <= nodes; from += 1000) {
    const facts = Array.from({ length: 1000 }, (_, k) => makeNode(from + k));
    const body = `{ set {\n${facts.join("\n")}\n} }`;
    await send(agent, port, { path, type: "application/rdf", body });
  }
  agent.destroy();
}

function makeNode(i) {
  const at = new Date(1.6e12 + i * 1e6).toISOString();
  const lines = [
    `<key> "k${i}"`,
    `<counter> "${i}"`,
    `<name> "${words(3)}"`,
    `<text> "${words(12)}"`,
    `<at> "${at}"`,
    `<tags> "t${i % 50}"`,
    `<tags> "u${i % 997}"`,
    ...Array.from({ length: 3 }, () => `<to> <${1 + Math.floor(random() ** 2 * nodes)}>`),
  ];
  return lines.map((line) => `<${i}> ${line} .`).join("\n");
}

/** Answers when every index is ready. */
function alter(port) {
  return send(new Agent(), port, { path: "/alter", type: "text/plain", body: indexed });
}

/** Small reads and small writes, one after another on connections of their own, until `work` is done. */
async function besideWork(port, work) {
  let isOver = false;
  const end = work.finally(() => (isOver = true));
  const times = { read: [], write: [] };
  const loop = async (list, make) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      const i = 1 + Math.floor(random() * nodes);
      const began = performance.now();
      await send(agent, port, make(i));
      list.push(performance.now() - began);
      await sleep(4);
    }
    agent.destroy();
  };
  const loops = Array.from({ length: clients }, () => [
    loop(times.read, read),
    loop(times.write, write),
  ]);
  await Promise.all([end, ...loops.flat()]);
  return times;
}

function read(i) {
  const body = `{ q(func: eq(key, "k${i}")) { uid counter name to { key } } }`;
  return { path: "/query", type: "application/dql", body };
}

/** Of a predicate that is being indexed, and of one that is not. */
function write(i) {
  const body = `{ set {\n<${i}> <counter> "${i + 1}" .\n<${i}> <name> "${words(3)}" .\n} }`;
  return { path: "/mutate?commitNow=true", type: "application/rdf", body };
}

function send(agent, port, { path, type, body }) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
    const options = { agent, port, host: "127.0.0.1", path, method: "POST", headers };
    const sent = request(options, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () =>
        text.startsWith('{"errors"') ? reject(new Error(text)) : resolve(text),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function print(name, times) {
  process.stdout.write(`beside ${name}\n`);
  for (const [kind, list] of Object.entries(times)) {
    list.sort((a, b) => a - b);
    const at = (share) => (list[Math.floor((list.length - 1) * share)] ?? 0).toFixed(1).padStart(7);
    const columns = `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  longest ${at(1)} ms`;
    process.stdout.write(`  ${String(list.length).padStart(6)} small ${kind}s`.padEnd(24));
    process.stdout.write(`${columns}\n`);
  }
}

/** What the server says of its builds: how long it kept the writer busy at a time. */
function printLog(output) {
  for (const line of output.split("\n")) {
    if (line.includes("an index is filled")) process.stdout.write(`  ${line}\n`);
  }
}

await main();
