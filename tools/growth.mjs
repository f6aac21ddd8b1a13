// `npm run growth [-- --only NAME,…] [--rounds N] …`: sends requests that grow in one construct each (hostile/constructs.mjs)
// to a server of its own and tells how their cost grows: what more than doubles when the document doubles, takes longer than
// a second or leaves the server larger is marked. Exit 1 when there is one.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constructs, facts, schema, sdl } from "./hostile/constructs.mjs";
import { findFreePort, LiveServer } from "./live-server.mjs";
import { readOptions } from "./options.mjs";

const values = readOptions(
  "growth",
  "How the cost of a request grows with the size of its document.",
  {
    only: ["", "parts of names, as `graphql/roots` or `/query`; all when not given"],
    doublings: [3, "how often the size is doubled"],
    bytes: [1_000_000, "of the largest document"],
    seconds: [1, "that a document may take at most"],
    memory: [200, "MiB that a document may take at most"],
    port: [0, "of the server; 0 for a free one"],
  },
);

/** Times below it say nothing about growth. */
const noiseMs = 100;
const growthMax = 2.6;
const giveUpMs = 20_000;

const nameOf = ({ path, name }) => `${path.split("?")[0]}/${name}`.slice(1);

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-growth-"));
  const port = values.port === 0 ? await findFreePort() : values.port;
  let server = await start(folder, port);
  let marked = 0;
  try {
    const only = values.only.split(",").filter(Boolean);
    for (const construct of constructs) {
      const name = nameOf(construct);
      if (only.length > 0 && !only.some((part) => `/${name}`.includes(part))) continue;
      const told = await measure(server, construct);
      const remarks = judge(told);
      if (remarks.length > 0) marked++;
      tell(name, told, remarks);
      if (told.some(({ isLost }) => isLost)) {
        await server.killAll();
        server = await start(folder, port, true);
      }
    }
  } finally {
    await server.killAll();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    marked === 0 ? "growth: nothing grows faster than its document" : `growth: ${marked} marked`,
  );
  process.exit(marked === 0 ? 0 : 1);
}

async function start(folder, port, isFilled = false) {
  const server = new LiveServer(join(folder, "data"), port, 1);
  await server.start();
  if (isFilled) return server;
  await server.post("/alter", "text/plain", schema);
  await server.mutate(facts);
  await server.post("/admin/schema", "text/plain", sdl);
  await send(server, constructs[0], 1);
  return server;
}

async function measure(server, construct) {
  const told = [];
  let count = construct.size;
  await send(server, construct, Math.max(1, count >> 3));
  for (let i = 0; i <= values.doublings; i++, count *= 2) {
    const one = await send(server, construct, count);
    if (one === undefined) break;
    told.push(one);
    if (one.isLost || one.ms > giveUpMs) break;
  }
  return told;
}

async function send(server, { path, contentType, body }, count) {
  const text = body(count);
  if (text.length > values.bytes) return undefined;
  const before = sum(server.memory());
  const start = cpuMs(server);
  let answer = "";
  let isLost = false;
  try {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": contentType },
      body: text,
      signal: AbortSignal.timeout(giveUpMs + 5_000),
    });
    answer = `${response.status} ${(await response.text()).slice(0, 300)}`;
  } catch (error) {
    isLost = true;
    answer = String(error.cause ?? error);
  }
  const ms = cpuMs(server) - start;
  return {
    count,
    bytes: text.length,
    ms,
    mib: isLost ? 0 : sum(server.memory()) - before,
    answer,
    isLost,
  };
}

/** Of all its processes: other work of the machine does not count. */
function cpuMs(server) {
  return sum(
    server.pids().map((pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    }),
  );
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

function judge(told) {
  const remarks = [];
  for (let i = 0; i < told.length; i++) {
    const { ms, mib, isLost, bytes, answer } = told[i];
    if (isLost) remarks.push("lost");
    else if (answer.startsWith("500")) remarks.push("500");
    if (bytes <= 65_536 && ms > values.seconds * 1000) remarks.push(`${Math.round(ms)} ms`);
    if (bytes <= 65_536 && mib > values.memory) remarks.push(`${mib} MiB`);
    const before = told[i - 1];
    if (before !== undefined && ms > noiseMs && before.ms * growthMax < ms)
      remarks.push(`× ${(ms / before.ms).toFixed(1)}`);
  }
  return [...new Set(remarks)];
}

function tell(name, told, remarks) {
  const sizes = told.map(
    ({ count, bytes, ms, mib }) => `${count}:${bytes >> 10}K ${Math.round(ms)}ms ${mib}M`,
  );
  console.log(
    `${remarks.length > 0 ? "!" : " "} ${name.padEnd(38)} ${sizes.join(" | ")}  ${remarks.join(", ")}`,
  );
  const last = told.at(-1);
  if (process.env["GROWTH_ANSWERS"] !== undefined) console.log(`    ${last?.answer.slice(0, 160)}`);
}

await main();
