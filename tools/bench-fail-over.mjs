// `npm run bench -- fail-over [--rounds N] [--log URL] [--lease 3s] [--ways kill,stop,hand-over]`: how long three machines
// acknowledge nothing when the one that leads is killed, stands still, or gives the lead up, and whether a reader at a
// machine that follows meets an error. The gap is the longest time between two acknowledgements that follow each other, as
// writers at both followers see them. `--log`: an empty PostgreSQL of one's own; else a directory.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, LiveServer, sleep } from "./live-server.mjs";
import { readOptions, refuseOption } from "./options.mjs";
import { root } from "./setup.mjs";

const options = readOptions("fail-over", "How long nobody leads, and what readers see of it.", {
  rounds: [10, "of each way"],
  log: ["", "postgres://USER@HOST:PORT/DATABASE; a directory of its own without it"],
  lease: ["3s", "of --cluster"],
  settings: ["", "of --cluster, besides"],
  ways: ["kill,stop,hand-over", "what befalls the machine that leads"],
});

/** In each: resolves when it has befallen; gives what has to be done behind it. */
const ways = {
  kill: async (leader) => {
    await leader.killAll();
    return () => leader.start();
  },
  stop: async (leader) => {
    const pids = leader.pids();
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    };
  },
  "hand-over": async (leader) => {
    await leader.post(
      "/admin",
      "application/graphql",
      "mutation { resignLead { response { code } } }",
    );
    return () => {};
  },
};

const chosen = options.ways.split(",");
for (const way of chosen) {
  if (ways[way] === undefined)
    refuseOption("fail-over", `--ways takes ${Object.keys(ways).join(", ")}, not "${way}"`);
}

const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
const machines = [];
try {
  await startMachines();
  for (const way of chosen) await report(way);
} finally {
  await Promise.all(machines.map((machine) => machine.killAll().catch(() => {})));
  rmSync(folder, { recursive: true, force: true });
}

async function startMachines() {
  const log = options.log === "" ? `dir:${join(folder, "log")}` : options.log;
  execFileSync(process.execPath, [
    join(root, "bin", "weft"),
    "cluster",
    "init",
    "--log",
    log,
    "--unsafe-single",
  ]);
  const pem = (name) => join(root, "test", "certificates", `cluster-${name}`);
  const tls = `ca=${pem("authority.pem")}; cert=${pem("node.pem")}; key=${pem("node.key")}`;
  for (const name of ["a", "b", "c"]) {
    const machine = new LiveServer(join(folder, name), await findFreePort(), 1);
    const here = `node=${name}; address=127.0.0.1:${await findFreePort()}`;
    const cluster = `log=${log}; ${here}; ${tls}; lease=${options.lease}; ${options.settings}`;
    machine.args.push("--no-grpc", "--no-sample", "--cluster", cluster);
    machines.push(machine);
  }
  await Promise.all(machines.map((machine) => machine.start()));
}

async function roleOf(machine) {
  try {
    const { data } = await machine.post(
      "/admin",
      "application/graphql",
      "{ cluster { role members { node } } }",
    );
    return data.cluster.members.length === machines.length ? data.cluster.role : "alone";
  } catch {
    return "away";
  }
}

/** The one that leads, when all are there and know each other. */
async function whenWhole() {
  for (let waitedMs = 0; ; waitedMs += 100) {
    const roles = await Promise.all(machines.map(roleOf));
    const following = roles.filter((role) => role === "following").length;
    const leader = roles.indexOf("leading");
    if (leader >= 0 && following === machines.length - 1) return machines[leader];
    if (waitedMs > 60_000) throw new Error(`the machines are ${roles.join(", ")}`);
    await sleep(100);
  }
}

/** One after another, until it is ended: when each was answered, how long the longest took, and what failed. */
function loop(ask) {
  const told = { atMs: [], longestMs: 0, failures: [] };
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      try {
        await ask();
        told.atMs.push(performance.now());
      } catch (error) {
        told.failures.push(error.message);
      }
      told.longestMs = Math.max(told.longestMs, performance.now() - startMs);
    }
  })();
  return async () => {
    isOver = true;
    await asking;
    return told;
  };
}

async function play(way) {
  const leader = await whenWhole();
  const followers = machines.filter((machine) => machine !== leader);
  await sleep(1000);
  const read = (machine) => () => machine.query("{ q(func: uid(0x1)) { count } }");
  const write = (machine) => () => machine.mutate('<0x1> <count> "1" .');
  const ends = followers.flatMap((machine) => [loop(write(machine)), loop(read(machine))]);
  // It lives, and goes on answering.
  const own = way === "hand-over" ? [loop(write(leader)), loop(read(leader))] : [];
  await sleep(1000);
  const goOn = await ways[way](leader);
  await sleep(8000);
  const [write1, read1, write2, read2] = await Promise.all(ends.map((end) => end()));
  const [ownWrite, ownRead] = await Promise.all(own.map((end) => end()));
  await goOn();
  const atMs = [...write1.atMs, ...write2.atMs].toSorted((a, b) => a - b);
  const gaps = atMs.map((ms, i) => ms - (atMs[i - 1] ?? ms));
  return {
    gapMs: Math.max(...gaps),
    readMs: Math.max(read1.longestMs, read2.longestMs),
    reads: read1.atMs.length + read2.atMs.length,
    failedReads: [...read1.failures, ...read2.failures, ...(ownRead?.failures ?? [])],
    failedWrites: [...write1.failures, ...write2.failures, ...(ownWrite?.failures ?? [])],
    ownWriteMs: ownWrite?.longestMs ?? 0,
    ownReadMs: ownRead?.longestMs ?? 0,
  };
}

async function report(way) {
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) rounds.push(await play(way));
  const median = (of) =>
    (rounds.map(of).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] / 1000).toFixed(2);
  const longest = (of) => (Math.max(...rounds.map(of)) / 1000).toFixed(2);
  const all = (of) => rounds.flatMap(of);
  const reads = rounds.reduce((sum, one) => sum + one.reads, 0);
  process.stdout.write(
    `${way.padEnd(10)} nothing acknowledged: median ${median((one) => one.gapMs)} s, longest ${longest((one) => one.gapMs)} s; ` +
      `longest read: median ${median((one) => one.readMs)} s; reads failed: ${all((one) => one.failedReads).length} of ${reads}; ` +
      `writes failed: ${all((one) => one.failedWrites).length}\n`,
  );
  if (way === "hand-over") {
    process.stdout.write(
      `           at the machine itself: longest write: median ${median((one) => one.ownWriteMs)} s; longest read: median ${median((one) => one.ownReadMs)} s\n`,
    );
  }
  const words = new Set(all((one) => [...one.failedReads, ...one.failedWrites]));
  for (const one of words) process.stdout.write(`           ${one}\n`);
}
