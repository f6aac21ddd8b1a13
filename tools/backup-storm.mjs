// `npm run backup-storm [-- --seconds N]`: a server archives itself (`--backup`) while it is written to, its schema changes
// and its processes are killed, all of them at times. At the end the archive is restored: to the end, where all facts must
// be equal and `weft check` must find nothing, and to moments in between, where what was acknowledged before must be there
// and what was sent later must not. The seed is printed first.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, kill, LiveServer, makeRandom, sleep } from "./live-server.mjs";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const { seconds, seed, moments } = readOptions(
  "backup-storm",
  "Restores what a server has archived of itself in a storm of kills.",
  {
    seconds: [60, "of storm"],
    seed: [Date.now() % 1_000_000_007, "of what is written, and struck when"],
    moments: [5, "in between that are restored"],
  },
);
setup();
process.stdout.write(`weft: backup storm, ${seconds} s, --seed ${seed}\n`);

const random = makeRandom(seed);
const pick = (list) => list[Math.floor(random() * list.length)];
const folder = mkdtempSync(join(tmpdir(), "weft-backup-storm-"));
const [data, backups] = [join(folder, "data"), join(folder, "backups")];
const server = new LiveServer(data, await findFreePort(), pick([1, 2, 3]));
server.args.push(
  "--no-sample",
  "--no-grpc",
  "--backup",
  `to=dir:${backups}; every=200ms; full=20s`,
);

/** Undefined where it was not answered, or refused. */
async function send(path, body, type) {
  try {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": type },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    const answer = await response.json();
    return answer.errors === undefined ? answer : undefined;
  } catch {
    return undefined;
  }
}
const mutate = (body) => send("/mutate?commitNow=true", body, "application/rdf");
const alter = (body) => send("/alter", body, "application/dql");

let isOver = false;
/** Of one node's number: [value, when it was sent, when it was acknowledged]. */
const steps = [];

async function countUp() {
  for (let value = 1; !isOver; value++) {
    const sentMs = Date.now();
    let isKept = false;
    // Sent again until it is known to be there: the same value twice is one.
    while (!isKept && !isOver) {
      isKept = (await mutate(`{ set { <0x1> <step> "${value}" . } }`)) !== undefined;
      if (!isKept) await sleep(20);
    }
    if (isKept) steps.push([value, sentMs, Date.now()]);
    await sleep(5);
  }
}

async function scribble() {
  while (!isOver) {
    const uid = 2 + Math.floor(random() * 300);
    const word = pick(["red", "green", "blue"]);
    const lines = pick([
      [
        `<${uid}> <word> "${word} ${Math.floor(random() * 50)}" .`,
        `<${uid}> <link> <${uid + 1}> .`,
      ],
      [`_:new <word> "${word}" .`, `_:new <link> <${uid}> .`, `_:new <dgraph.type> "Thing" .`],
      [`<${uid}> <list> "${word}" .`, `<${uid}> <word> "${word}"@de (since=2020) .`],
    ]);
    const text = lines.map((line) =>
      line.replaceAll(/<(\d+)>/g, (_, n) => `<0x${(+n).toString(16)}>`),
    );
    const verb = random() < 0.15 ? "delete" : "set";
    const body = verb === "set" ? text : [`<0x${uid.toString(16)}> <link> * .`];
    if ((await mutate(`{ ${verb} {\n${body.join("\n")}\n} }`)) === undefined) await sleep(20);
  }
}

async function reshape() {
  const schemas = [
    "word: string @lang @index(term, hash) .",
    "word: string @lang @index(hash) @count .",
    "link: [uid] @reverse @count .",
    "link: [uid] .",
    "list: [string] @index(exact) .",
    "list: [string] .",
  ];
  while (!isOver) {
    await sleep(300 + random() * 1500);
    await alter(random() < 0.1 ? '{"drop_attr": "list"}' : pick(schemas));
  }
}

async function strike() {
  while (!isOver) {
    await sleep(500 + random() * 2500);
    if (isOver) return;
    if (random() < 0.75) {
      const children = server.children();
      if (children.length > 0) kill(pick(children));
      continue;
    }
    await server.killAll();
    await server.start();
  }
}

function run(...args) {
  const done = spawnSync(process.execPath, [join(root, "bin", "weft"), ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (done.status !== 0) throw new Error(`weft ${args.join(" ")}: ${done.stderr}${done.stdout}`);
  return done.stdout;
}

/** All facts of a store and its schema, in one order. */
function contentOf(dir) {
  const texts = ["data", "schema"].map((only) =>
    run("export", "--data", dir, "--to", "-", "--only", only),
  );
  return texts.flatMap((text) => text.split("\n")).toSorted();
}

function restore(...at) {
  const dir = join(folder, "restored");
  rmSync(dir, { recursive: true, force: true });
  run("restore", "--from", backups, "--data", dir, ...at);
  const check = run("check", "--data", dir);
  if (!check.includes("0 problems")) throw new Error(`the restored store has problems: ${check}`);
  return contentOf(dir);
}

function stepOf(content) {
  const line = content.find((one) => one.startsWith("<0x1> <step> "));
  return Number(/"(\d+)"/.exec(line ?? '"0"')[1]);
}

await server.start();
await alter("step: int .\nword: string @lang .\nlink: [uid] .\nlist: [string] .");
const work = [countUp(), scribble(), scribble(), reshape(), strike()];
await sleep(seconds * 1000);
isOver = true;
await Promise.all(work);
// Of a whole second, so that the clock of who wrote it is not closer than it can be.
await sleep(1000);
await server.stop();

const problems = [];
const [was, is] = [contentOf(data), restore()];
const missing = was.filter((line) => !is.includes(line));
const added = is.filter((line) => !was.includes(line));
if (missing.length + added.length > 0) {
  problems.push(
    `the end differs: missing ${missing.slice(0, 5).join(" | ")}; added ${added.slice(0, 5).join(" | ")}`,
  );
}
const begun = steps[Math.floor(steps.length / 10)]?.[2] ?? 0;
for (let i = 0; i < moments; i++) {
  const atMs = Math.floor(begun + random() * ((steps.at(-1)?.[2] ?? 0) - begun));
  const kept = steps.filter(([, , ackedMs]) => ackedMs < atMs).at(-1)?.[0] ?? 0;
  const sent = steps.filter(([, sentMs]) => sentMs <= atMs).at(-1)?.[0] ?? 0;
  const found = stepOf(restore("--at", new Date(atMs).toISOString()));
  if (found < kept || found > sent)
    problems.push(`at ${atMs}: ${found}, not from ${kept} to ${sent}`);
}
for (const problem of problems) process.stdout.write(`backup-storm: ${problem}\n`);
process.stdout.write(
  `backup-storm: ${steps.length} steps acknowledged, ${was.length} lines, ${moments} moments: ${problems.length} problems\n`,
);
if (problems.length === 0) rmSync(folder, { recursive: true, force: true });
else process.stdout.write(`backup-storm: kept in ${folder}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
