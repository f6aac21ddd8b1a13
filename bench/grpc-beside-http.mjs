// `npm run bench -- grpc-beside-http [--calls N] [--rounds N] [--connections N]`: the CPU of a server's process for the
// same queries over gRPC and over HTTP, in turn. Clients write bytes that are made before: they cost the server nothing.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, constants } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findFreePort, LiveServer } from "../tools/live-server.mjs";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "4000" },
    rounds: { type: "string", default: "7" },
    connections: { type: "string", default: "8" },
    "grpc-connections": { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const calls = Number(values.calls);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const grpcConnections = Number(values["grpc-connections"] ?? connections);

/** Name → query, and how much fewer calls it is asked in. */
const questions = {
  "small: one node": { text: '{ q(func: eq(name, "n1")) { name } }', share: 1 },
  "10 KB": { text: "{ q(func: has(note), first: 10) { note } }", share: 0.5 },
  "100 KB": { text: "{ q(func: has(note), first: 100) { note } }", share: 0.2 },
  "1 MB": { text: "{ q(func: has(note), first: 1000) { note } }", share: 0.04 },
};

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  const server = new LiveServer(join(folder, "data"), await findFreePort(), 1);
  const grpcPort = await findFreePort();
  server.args.push("--grpc", `127.0.0.1:${grpcPort}`);
  try {
    await server.start();
    await server.post("/alter", "text/plain", "name: string @index(exact) .\nnote: string .");
    const note = "x".repeat(1010);
    const lines = Array.from(
      { length: 1000 },
      (_, i) => `_:n${i} <name> "n${i}" .\n_:n${i} <note> "${note}" .`,
    );
    await server.mutate(lines.join("\n"));
    const [pid] = server.children();
    const http = openHttp(server.url);
    const grpc = openGrpc(grpcPort);
    console.log(
      `${rounds} rounds of ${calls} calls, ${connections} connections; the server's CPU, median\n`,
    );
    console.log("answer             HTTP µs   gRPC µs   gRPC / HTTP   bytes");
    for (const [name, { text, share }] of Object.entries(questions)) {
      if (!name.startsWith(values.only)) continue;
      const count = Math.max(connections, Math.round(calls * share));
      const times = { http: [], grpc: [] };
      const bytes = (await http.ask(text)).length;
      for (let round = 0; round <= rounds; round++) {
        for (const [way, client] of [
          ["http", http],
          ["grpc", grpc],
        ]) {
          const used = await cpuOf(pid, () => run(client, text, count));
          // The first warms up.
          if (round > 0) times[way].push(used / count);
        }
      }
      const [a, b] = [median(times.http), median(times.grpc)];
      console.log(
        `${name.padEnd(16)} ${a.toFixed(0).padStart(9)} ${b.toFixed(0).padStart(9)} ${(b / a).toFixed(2).padStart(13)}   ${bytes}`,
      );
    }
    http.close();
    grpc.close();
    await server.stop();
  } finally {
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

/** So many lanes, each with one call at a time. */
async function run(client, text, count) {
  let left = count;
  const lane = async (connection) => {
    while (left-- > 0) await client.ask(text, connection);
  };
  await Promise.all(Array.from({ length: connections }, (_, i) => lane(i)));
}

/** Microseconds of CPU, user and system, that the process uses meanwhile; a tick of the system is 10 ms. */
async function cpuOf(pid, work) {
  const before = readTicks(pid);
  await work();
  return (readTicks(pid) - before) * 10_000;
}

function readTicks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function openHttp(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { "content-type": "application/dql" };
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        const asked = request(
          `${url}/query`,
          {
            method: "POST",
            agent,
            headers: { ...headers, "content-length": Buffer.byteLength(text) },
          },
          (answer) => {
            const parts = [];
            answer.on("data", (part) => parts.push(part));
            answer.on("end", () => resolve(Buffer.concat(parts)));
          },
        );
        asked.on("error", reject);
        asked.end(text);
      }),
    close: () => agent.destroy(),
  };
}

function openGrpc(port) {
  const sessions = Array.from({ length: grpcConnections }, () =>
    connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 4 << 20 } }),
  );
  for (const session of sessions) session.on("connect", () => session.setLocalWindowSize(16 << 20));
  const head = {
    ":method": "POST",
    ":path": "/api.Dgraph/Query",
    "content-type": "application/grpc",
    te: "trailers",
    "user-agent": "grpc-bench",
  };
  return {
    ask: (text, connection = 0) =>
      new Promise((resolve, reject) => {
        const stream = sessions[connection % sessions.length].request(head);
        let size = 0;
        stream.on("data", (part) => (size += part.length));
        stream.on("trailers", ({ "grpc-status": status }) => {
          if (status !== "0") reject(new Error(`status ${status}`));
        });
        stream.on("error", reject);
        stream.on("end", () => resolve({ length: size }));
        stream.end(messageOf(text));
      }),
    close: () => {
      for (const session of sessions) session.close(constants.NGHTTP2_NO_ERROR);
    },
  };
}

/** `Request` of the published api.proto: `query` is field 4, `read_only` 6. */
function messageOf(text) {
  const query = Buffer.from(text);
  const body = Buffer.concat([Buffer.from([0x22, query.length]), query, Buffer.from([0x30, 1])]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

await main();
