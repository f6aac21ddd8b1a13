// `npm run crash -- [--rounds N] [--encrypted N] [--workers N] [--seed N] [--starts N]`: SIGKILL of a worker, of the writer, of the supervisor, of all,
// under write load, and of a worker in the middle of transactions. After each round every acknowledged write is there,
// nothing is torn and the store checks clean; a killed child is back by itself, after the rest the next start recovers.
// Then two servers are started on one directory at the same instant, --starts times: exactly one serves.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, kill, LiveServer, makeRandom, sleep, waitGone } from "./live-server.mjs";
import { readOptions } from "./options.mjs";

const values = readOptions(
  "crash",
  "Kills processes of a server under write load, and looks for what was acknowledged.",
  {
    rounds: [200, "kills"],
    encrypted: [20, "more kills, of a server whose store is encrypted"],
    workers: [2, "processes that answer"],
    seed: [1, "of what is killed when"],
    starts: [50, "pairs of servers that are started on one directory"],
  },
);
const random = makeRandom(values.seed);
const clientCount = 8;

const schema = `
crash.key: string @index(exact) @upsert .
crash.twin: string .
crash.round: int @index(int) .
crash.text: string @index(term) .
crash.hub: [uid] @reverse @count .
`;

/** What the clients know: keys whose write was acknowledged, and transactions that were acknowledged whole. */
const acknowledged = new Set();
let unknownCount = 0;
let abortedCount = 0;

/** `isEncrypted`: the store. */
async function playRounds(rounds, isEncrypted) {
  if (rounds === 0) return;
  acknowledged.clear();
  const folder = mkdtempSync(join(tmpdir(), "weft-crash-"));
  const keyFile = isEncrypted ? join(folder, "key") : undefined;
  if (keyFile !== undefined) writeFileSync(keyFile, randomBytes(32));
  const port = await findFreePort();
  const server = new LiveServer(join(folder, "data"), port, values.workers, keyFile);
  try {
    await server.start();
    await server.post("/alter", "text/plain", schema);
    for (let round = 1; round <= rounds; round++) await playRound(server, round, round === rounds);
    await server.stop();
    server.check();
    console.log(
      `crash: ${rounds} rounds${isEncrypted ? ", encrypted" : ""}, ${acknowledged.size} acknowledged, ${unknownCount} unknown, ${abortedCount} aborted: all there, nothing torn`,
    );
  } finally {
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two starts at once: one serves, the other says why not. */
async function playStarts(count) {
  for (let i = 0; i < count; i++) {
    const folder = mkdtempSync(join(tmpdir(), "weft-starts-"));
    const ports = [await findFreePort(), await findFreePort()];
    const servers = ports.map((port) => new LiveServer(folder, port, values.workers));
    try {
      const starts = await Promise.allSettled(servers.map((server) => server.start()));
      const served = starts.filter(({ status }) => status === "fulfilled").length;
      if (served !== 1) throw new Error(`${served} of two starts serve`);
      for (const [at, { status, reason }] of starts.entries()) {
        if (status === "fulfilled") await servers[at].stop();
        else if (!/another server/.test(reason.message)) throw reason;
      }
    } finally {
      await Promise.all(servers.map((server) => server.killAll().catch(() => {})));
      rmSync(folder, { recursive: true, force: true });
    }
  }
  console.log(`crash: of two starts at once exactly one served, ${count} times`);
}

/** Where the writer is a worker, too, it is the first child. */
const targets = ["worker", "writer", "supervisor", "all"];

async function playRound(server, round, isLast) {
  const target = targets[round % targets.length];
  let isOver = false;
  const clients = Array.from({ length: clientCount }, (_, number) =>
    number % 4 === 3
      ? writeTransactions(server, `r${round}t${number}`, () => isOver)
      : writeRecords(server, `r${round}c${number}`, () => isOver),
  );
  await sleep(100 + random() * 400);
  await strike(server, target);
  await sleep(100);
  isOver = true;
  await Promise.all(clients);
  const isWhole = round % 10 === 0 || isLast;
  await verify(server, round, isWhole);
  if (isWhole || round % 4 === 0) server.check();
  console.log(
    `crash: round ${round}, ${target} killed, ${acknowledged.size} acknowledged writes there`,
  );
}

async function strike(server, target) {
  const children = server.children();
  if (target === "supervisor") {
    kill(server.process.pid);
    await server.exit;
    await waitGone(children);
  } else if (target === "all") await server.killAll();
  else kill(pick(server.children(target)) ?? children[0]);
  if (target === "supervisor" || target === "all") await server.start();
  else await waitBack(server);
}

function pick(list) {
  return list[Math.floor(random() * list.length)];
}

/** A killed child comes back by itself: a write goes through again. */
async function waitBack(server) {
  for (let waited = 0; ; waited += 50) {
    try {
      await server.mutate(`_:a <crash.text> "back" .`);
      return;
    } catch (error) {
      if (waited > 20_000)
        throw new Error(`not back after 20 s: ${error.message}`, { cause: error });
      await sleep(50);
    }
  }
}

/** One record a request: two values, a text, an edge; all or nothing. */
async function writeRecords(server, name, isOver) {
  for (let i = 0; !isOver(); i++) {
    const key = `${name}-${i}`;
    try {
      await server.mutate(recordOf(key));
      acknowledged.add(key);
    } catch {
      unknownCount++;
      await sleep(20);
    }
  }
}

/** A transaction of two mutations and a commit: acknowledged means both are there. */
async function writeTransactions(server, name, isOver) {
  for (let i = 0; !isOver(); i++) {
    const key = `${name}-${i}`;
    try {
      const first = await server.mutate(recordOf(`${key}a`), "");
      const { start_ts: startTs, keys, preds } = first.extensions.txn;
      const second = await server.mutate(recordOf(`${key}b`), `startTs=${startTs}`);
      const all = {
        keys: [...(keys ?? []), ...(second.extensions.txn.keys ?? [])],
        preds: [...preds, ...second.extensions.txn.preds],
      };
      await server.post(`/commit?startTs=${startTs}`, "application/json", JSON.stringify(all));
      acknowledged.add(`${key}a`).add(`${key}b`);
    } catch (error) {
      if (/aborted/i.test(error.message)) abortedCount++;
      else unknownCount++;
      await sleep(20);
    }
  }
}

function recordOf(key) {
  return [
    `_:n <crash.key> "${key}" .`,
    `_:n <crash.twin> "${key}" .`,
    `_:n <crash.round> "${/\d+/.exec(key)[0]}" .`,
    `_:n <crash.text> "record ${key.replaceAll("-", " ")}" .`,
    `_:n <crash.hub> <0xfff1> .`,
    `_:n <crash.hub> <0xfff2> .`,
  ].join("\n");
}

/**
 * Every acknowledged key is there once, and every record that is there is whole. Each time the records of one round are
 * looked at; now and then all of them, with index, reverse and count lists.
 */
async function verify(server, round, isWhole) {
  const root = isWhole ? "has(crash.key)" : `eq(crash.round, ${round})`;
  const { data } = await server.query(`{
    all(func: ${root}) { uid crash.key crash.twin crash.text edges: count(crash.hub) }
    pairs(func: eq(count(crash.hub), 2)) { count(uid) }
    hub(func: uid(0xfff1)) { back: count(~crash.hub) }
  }`);
  const found = collect(data.all);
  const expected = [...acknowledged].filter((key) => isWhole || key.startsWith(`r${round}`));
  for (const key of expected) {
    if (isWhole || /\d+/.exec(key)[0] === String(round)) {
      if (!found.has(key)) throw new Error(`${key} was acknowledged and is lost`);
    }
  }
  for (const key of found.keys()) {
    const other = key.replace(/[ab]$/, (end) => (end === "a" ? "b" : "a"));
    if (/t\d+-\d+[ab]$/.test(key) && !found.has(other)) {
      throw new Error(`${key} is there without ${other}`);
    }
  }
  const pairs = data.pairs[0].count;
  const back = data.hub[0]?.back ?? 0;
  if (pairs !== back || (isWhole && back !== found.size)) {
    throw new Error(
      `${found.size} records, ${pairs} in the count index, ${back} in the reverse list`,
    );
  }
  const sample = expected[Math.floor(random() * expected.length)];
  if (sample === undefined) return;
  const hit = await server.query(`{ q(func: eq(crash.key, "${sample}")) { uid } }`);
  if (hit.data.q[0]?.uid !== found.get(sample))
    throw new Error(`the index does not find ${sample}`);
}

function collect(nodes) {
  const found = new Map();
  for (const node of nodes) {
    const key = node["crash.key"];
    if (found.has(key)) throw new Error(`${key} is there twice`);
    if (node["crash.twin"] !== key || node["crash.text"] === undefined || node.edges !== 2) {
      throw new Error(`${key} is torn: ${JSON.stringify(node)}`);
    }
    found.set(key, node.uid);
  }
  return found;
}

await playRounds(values.rounds, false);
await playRounds(values.encrypted, true);
await playStarts(values.starts);
