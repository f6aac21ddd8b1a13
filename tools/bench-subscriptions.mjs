// `npm run bench -- subscriptions -- [--sockets N] [--commits N] [--workers N]`: many sockets on one subscribed query of
// a real server. Prints how often the query is run for a commit, and how long a push takes, from before the mutation is
// sent and from its acknowledgement to the arrival at each socket. Runs are told apart by the times in the answers'
// extensions: equal bytes are one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { findFreePort, LiveServer } from "./live-server.mjs";

const { values } = parseArgs({
  options: {
    sockets: { type: "string", default: "1000" },
    commits: { type: "string", default: "30" },
    workers: { type: "string", default: "1" },
  },
});
const socketCount = Number(values.sockets);
const commitCount = Number(values.commits);

const sdl = `type Boat @withSubscription { name: String! @id  crew: Int  length: Float @search }`;
const subscription = {
  id: "1",
  type: "subscribe",
  payload: {
    query: "subscription { queryBoat(order: {asc: name}, first: 20) { name crew length } }",
  },
};

/** What arrived since the last commit: times, and the distinct texts. */
let arrivals = [];
let texts = new Set();
let isComplete = () => {};

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  const server = new LiveServer(folder, await findFreePort(), Number(values.workers));
  const sockets = [];
  try {
    await server.start();
    await server.post("/admin/schema", "text/plain", sdl);
    await mutate(server, 0);
    for (let at = 0; at < socketCount; at += 50) {
      const some = Array.from({ length: Math.min(50, socketCount - at) }, () => open(server.url));
      sockets.push(...(await Promise.all(some)));
    }
    await measure(server);
  } finally {
    for (const socket of sockets) socket.terminate();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(server) {
  const runs = [];
  const sinceSent = [];
  const sinceDone = [];
  for (let commit = 1; commit <= commitCount; commit++) {
    arrivals = [];
    texts = new Set();
    const all = new Promise((resolve) => (isComplete = resolve));
    const sentMs = performance.now();
    await mutate(server, commit);
    const doneMs = performance.now();
    await all;
    runs.push(texts.size);
    for (const at of arrivals) {
      sinceSent.push(at - sentMs);
      sinceDone.push(at - doneMs);
    }
  }
  const mean = runs.reduce((sum, one) => sum + one, 0) / runs.length;
  print(`sockets ${socketCount}, commits ${commitCount}, workers ${values.workers}`);
  print(`runs of the query for a commit: ${mean.toFixed(2)}`);
  print(`push after the mutation was sent: ${describe(sinceSent)}`);
  print(`push after it was acknowledged:   ${describe(sinceDone)}`);
  print(`memory of the processes: ${server.memory().join(", ")} MiB`);
}

function mutate(server, crew) {
  const query =
    crew === 0
      ? `mutation { addBoat(input: [${Array.from({ length: 20 }, (_, i) => `{name: "boat ${i}", crew: 0, length: ${i}}`).join()}]) { numUids } }`
      : `mutation { updateBoat(input: {filter: {name: {eq: "boat 3"}}, set: {crew: ${crew}}}) { numUids } }`;
  return server.post("/graphql", "application/json", JSON.stringify({ query }));
}

/** Resolves when the first answer has come. */
function open(url) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
    let isBegun = false;
    socket.on("error", reject);
    socket.on("open", () => socket.send('{"type":"connection_init"}'));
    socket.on("message", (data) => {
      // A whole message, as bytes.
      const text = Buffer.from(data).toString();
      if (text.startsWith('{"type":"connection_ack"')) socket.send(JSON.stringify(subscription));
      else if (!isBegun) {
        isBegun = true;
        resolve(socket);
      } else {
        texts.add(text);
        if (arrivals.push(performance.now()) === socketCount) isComplete();
      }
    });
  });
}

function describe(times) {
  times.sort((a, b) => a - b);
  const at = (part) => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(1);
  return `median ${at(0.5)} ms, 99th percentile ${at(0.99)} ms, longest ${at(1)} ms`;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

await main();
