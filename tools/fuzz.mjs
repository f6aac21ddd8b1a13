// `npm run fuzz -- [--minutes M] [--seed S] [--workers N] [--only dql,rdf,json,alter,graphql,sdl] [--out DIR]`: hostile
// input to a server of its own, half by grammar, the rest damaged or random bytes. Fails when a process dies, an answer
// does not come, is no JSON, tells of the server's inside, or when the store does not check clean afterwards. What it
// finds is written to a folder, one request a file.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Grammar, storeSchema, storeSdl } from "./fuzz-grammar.mjs";
import { findFreePort, LiveServer, makeRandom } from "./live-server.mjs";
import { readOptions, refuseOption } from "./options.mjs";

const values = readOptions(
  "fuzz",
  "Sends hostile requests to a server of its own, and writes down those that it does not stand.",
  {
    minutes: [10, "how long"],
    seed: [1, "of the requests"],
    workers: [1, "processes that answer"],
    only: ["dql,rdf,json,alter,graphql,sdl", "kinds of requests"],
    out: [undefined, "folder for what is found"],
  },
);

const kinds = {
  dql: { path: "/query", type: "application/dql" },
  rdf: { path: "/mutate?commitNow=true", type: "application/rdf" },
  json: { path: "/mutate?commitNow=true", type: "application/json" },
  alter: { path: "/alter", type: "text/plain" },
  graphql: { path: "/graphql", type: "application/graphql" },
  sdl: { path: "/admin/schema", type: "text/plain" },
};

/** What no answer may hold: places in the code, and words of the runtime's own errors. */
const inside =
  /\bat [^"]*\.[cm]?[jt]s:\d+:\d+|node:internal|\/dist\/|TypeError|RangeError|ReferenceError|Cannot read propert|is not a function|is not iterable|Maximum call stack|Internal error|Assertion/;

/** The server's own limit for a query is shorter than this: what takes longer hangs. */
const patienceMs = 30_000;
const limits = "query-timeout=3s; depth=60; body-bytes=4MB";

const random = makeRandom(values.seed);
const grammar = new Grammar(random);
const names = values.only.split(",");
const stranger = names.find((name) => !Object.hasOwn(kinds, name));
if (stranger !== undefined) {
  refuseOption("fuzz", `--only takes ${Object.keys(kinds).join(", ")}, not "${stranger}"`);
}
const endMs = performance.now() + values.minutes * 60_000;
const counts = { requests: 0, answered: 0, refused: 0, findings: 0 };
let slowest = { ms: 0, text: "" };
const out = values.out ?? mkdtempSync(join(tmpdir(), "weft-fuzz-found-"));

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-fuzz-"));
  const server = new LiveServer(folder, await findFreePort(), values.workers);
  server.args.push("--limit", limits);
  mkdirSync(out, { recursive: true });
  try {
    await server.start();
    const pids = server.children().join(" ");
    await server.post("/alter", "text/plain", storeSchema);
    await server.post("/admin/schema", "text/plain", storeSdl);
    await fill(server);
    let lastReport = performance.now();
    while (performance.now() < endMs) {
      await Promise.all(Array.from({ length: 4 }, () => attack(server)));
      if (counts.requests % 4000 < 4) await fill(server);
      if (performance.now() - lastReport > 30_000) {
        lastReport = performance.now();
        console.log(tell(), `memory ${server.memory().join("+")} MiB`);
      }
      const now = server.children().join(" ");
      if (now !== pids) {
        report({ why: "a process has died", text: server.output });
        break;
      }
    }
    if (!(await server.isHealthy())) report({ why: "the server is not healthy at the end" });
    await server.stop();
    checkStore(server);
  } finally {
    await server.killAll().catch(() => {});
    if (counts.findings === 0) rmSync(folder, { recursive: true, force: true });
    else console.log(`the store is kept in ${folder}`);
  }
  console.log(`${tell()}; slowest ${slowest.ms} ms: ${slowest.text.slice(0, 200)}`);
  if (counts.findings > 0) {
    console.log(`fuzz: ${counts.findings} findings in ${out}`);
    process.exit(1);
  }
  rmSync(out, { recursive: true, force: true });
  console.log("fuzz: nothing found, the store checks clean");
}

function checkStore(server) {
  try {
    server.check();
  } catch (error) {
    report({ why: "the store does not check clean", text: String(error.stderr) });
  }
}

const tell = () =>
  `${counts.requests} requests, ${counts.answered} answered, ${counts.refused} refused, ${counts.findings} findings`;

/** The schema again, and some nodes: the attacks wear them away. */
async function fill(server) {
  await server.post("/alter", "text/plain", storeSchema).catch(() => {});
  await server.post("/admin/schema", "text/plain", storeSdl).catch(() => {});
  const facts = [];
  for (let i = 1; i < 30; i++) {
    facts.push(
      `<${i}> <name> "person ${i % 7}" .`,
      `<${i}> <name> "Mensch ${i}"@de .`,
      `<${i}> <age> "${i}" .`,
      `<${i}> <score> "${i / 3}" .`,
      `<${i}> <born> "19${40 + i}-01-02" .`,
      `<${i}> <vec> "[${i}, ${i % 5}]" .`,
      `<${i}> <dgraph.type> "Person" .`,
      `<${i}> <friend> <${1 + ((i * 7) % 29)}> (since=20${10 + i}, close=true) .`,
      `<${i}> <boss> <${1 + ((i * 3) % 29)}> .`,
    );
  }
  await server.mutate(facts.join("\n")).catch(() => {});
}

/** Counts only time in which this process runs: one that was stopped for a while has waited for nobody. */
function startPatience() {
  const controller = new AbortController();
  let leftMs = patienceMs;
  const timer = setInterval(() => {
    leftMs -= 1000;
    if (leftMs <= 0) controller.abort(new Error(`no answer within ${patienceMs} ms`));
  }, 1000);
  return { signal: controller.signal, end: () => clearInterval(timer) };
}

async function attack(server) {
  const name = grammar.pick(names);
  const body = makeBody(name);
  const { path, type } = kinds[name];
  counts.requests++;
  const startMs = performance.now();
  const patience = startPatience();
  try {
    const send = () =>
      fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": type },
        body,
        signal: patience.signal,
      });
    // A server may close a connection that was idle just when it is used again (RFC 9112, 9.3.1). One that has died
    // does not answer the second time, and its process is missed.
    const response = await send().catch((error) => {
      if (error.cause?.code !== "UND_ERR_SOCKET") throw error;
      return send();
    });
    const text = await response.text();
    judge({ name, body, status: response.status, text });
  } catch (error) {
    report({ why: `no answer: ${error.message} ${error.cause?.message ?? ""}`, name, body });
  } finally {
    patience.end();
  }
  const ms = Math.round(performance.now() - startMs);
  if (ms > slowest.ms) slowest = { ms, text: `${name} ${String(body)}` };
}

function makeBody(name) {
  if (grammar.chance(0.04)) return grammar.bytes();
  const text = grammar[name]();
  return grammar.chance(0.35) ? grammar.damage(text, grammar[grammar.pick(names)]()) : text;
}

function judge({ name, body, status, text }) {
  const told = inside.exec(text);
  if (told !== null && !String(body).includes(told[0])) {
    report({ why: `the answer tells of the inside: ${told[0]}`, name, body, text });
  }
  if (status >= 500 && status !== 503) report({ why: `status ${status}`, name, body, text });
  try {
    const answer = JSON.parse(text);
    if (answer.errors === undefined) counts.answered++;
    else counts.refused++;
  } catch {
    report({ why: "the answer is no JSON", name, body, text });
  }
}

function report(finding) {
  counts.findings++;
  const { why, name = "", body = "", text = "" } = finding;
  const file = join(out, `${String(counts.findings).padStart(4, "0")}-${name}.txt`);
  writeFileSync(file, `${why}\n---- ${name}\n${String(body)}\n---- answer\n${text}\n`);
  console.log(`found: ${why} (${file})`);
}

await main();
