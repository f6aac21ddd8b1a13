// `npm run prometheus [-- --prometheus FILE]`: Debian's Prometheus scrapes a running server, and each query of the Grafana
// dashboard (`ops/grafana/weft.json`) must find numbers there. Status 75: there is no `prometheus` here, so that nothing
// was tried.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, LiveServer, sleep } from "./live-server.mjs";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const nothingTried = 75;
/** In place of Grafana's `$__rate_interval`. */
const rateInterval = "20s";
const loadMs = 12_000;
const foundMs = 20_000;
const bodyBytesMax = 1_000_000;

const { prometheus: program } = readOptions(
  "prometheus",
  "Asks a Prometheus that scrapes a server for all that the dashboard draws.",
  { prometheus: ["prometheus", "the program"] },
);
if (spawnSync(program, ["--version"]).status !== 0) {
  const why = `there is no ${program} here (of Debian's package of that name)`;
  process.stdout.write(`prometheus: ${why}: no query of the dashboard was tried\n`);
  process.exit(nothingTried);
}
setup();
const folder = mkdtempSync(join(tmpdir(), "weft-prometheus-"));
let child;
process.on("exit", () => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Title and query of each thing that is drawn. */
function readQueries() {
  const visit = ({ panels = [], targets = [], title }) => [
    ...targets.map(({ expr }) => ({ title, query: expr })),
    ...panels.flatMap(visit),
  ];
  return visit(JSON.parse(readFileSync(join(root, "ops", "grafana", "weft.json"), "utf8")));
}

async function startPrometheus(target) {
  const port = await findFreePort();
  const config = join(folder, "prometheus.yml");
  writeFileSync(
    config,
    `global:
  scrape_interval: 1s
scrape_configs:
  - job_name: weft
    static_configs:
      - targets: ["${target}"]
`,
  );
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, "tsdb")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk) => (output = (output + chunk).slice(-5000)));
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; !(await isReady(url)); waited += 100) {
    if (child.exitCode !== null || waited > 60_000) throw new Error(`prometheus: ${output}`);
    await sleep(100);
  }
  return url;
}

async function isReady(url) {
  try {
    return (await fetch(`${url}/-/ready`)).status === 200;
  } catch {
    return false;
  }
}

const server = new LiveServer(join(folder, "data"), await findFreePort(), 2);
// With the sample: it has resolvers.
server.args.push("--no-grpc", "--sample", "--limit", `body-bytes=${bodyBytesMax}`);
await server.start();

async function send(path, body, headers) {
  const answer = await fetch(server.url + path, { method: "POST", body, headers });
  return await answer.text();
}
const graphql = (query) => send("/graphql", query, { "content-type": "application/graphql" });
const dql = (query) => send("/query", query, { "content-type": "application/dql" });
const rdf = { "content-type": "application/rdf" };
const mutate = (facts, more = "commitNow=true") =>
  send(`/mutate?${more}`, `{ set { ${facts} } }`, rdf);

/** Two transactions of which one must lose. */
async function conflict() {
  const open = async () => JSON.parse(await mutate('<0x1> <prom.name> "x" .', "")).extensions.txn;
  const both = await Promise.all([open(), open()]);
  for (const { start_ts: startTs, keys, preds } of both) {
    await send(`/commit?startTs=${startTs}`, JSON.stringify({ keys, preds }));
  }
}

/** A bit of everything that the dashboard draws. */
async function work() {
  await graphql("{ queryPackage(first: 3) { name } }");
  await graphql('{ why(from: "fastify", to: "atomic-sleep") { name } }');
  await dql("{ q(func: has(prom.name)) { prom.name } }");
  await mutate('_:n <prom.name> "y" .');
  await conflict();
  // Refused by the limit below.
  await dql("#".padEnd(bodyBytesMax + 1, "x"));
  await sleep(50);
}

/** What is wrong with what a query finds; undefined: nothing. */
async function judge(url, query) {
  const text = query.replaceAll("$__rate_interval", rateInterval);
  const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: text })}`);
  const { status, error, data } = await answer.json();
  if (status !== "success") return error;
  const values = data.result.map(({ value }) => Number(value[1]));
  if (values.length === 0) return "it finds nothing";
  return values.some(Number.isFinite) ? undefined : `it finds no number, but ${values.join(", ")}`;
}

const queries = readQueries();
const url = await startPrometheus(new URL(server.url).host);
const ends = Date.now() + loadMs;
while (Date.now() < ends) await work();
// A process that is started again is drawn, too.
process.kill(server.children("worker").at(-1), "SIGKILL");
let problems = [];
const deadline = Date.now() + foundMs;
do {
  await work().catch(() => {});
  problems = [];
  for (const { title, query } of queries) {
    const problem = await judge(url, query);
    if (problem !== undefined) problems.push(`${title}: ${query}: ${problem}`);
  }
} while (problems.length > 0 && Date.now() < deadline);
await server.stop();
for (const problem of problems) process.stdout.write(`prometheus: ${problem}\n`);
const version = spawnSync(program, ["--version"], { encoding: "utf8" });
const [, name = "prometheus"] =
  /^(prometheus, version \S+)/.exec(version.stdout + version.stderr) ?? [];
process.stdout.write(
  `prometheus: ${name}: ${queries.length} queries of the dashboard, ${problems.length} problems\n`,
);
process.exitCode = queries.length > 0 && problems.length === 0 ? 0 : 1;
process.exit();
