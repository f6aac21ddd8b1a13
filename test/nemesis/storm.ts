/** Clients work at all machines while one blow after the other falls, and what they saw is judged at each of them. */
import { request } from "node:http";
import { systemClock } from "../../src/base/clock.ts";
import { makeSeededRandom, type Random } from "../../src/base/random.ts";
import { openLog } from "../../src/log/open.ts";
import { readIdentity } from "../../src/stores/place.ts";
import { runWeft, sleep, waitUntil } from "../e2e/server.ts";
import { allWorkloads } from "../isolation/all-workloads.ts";
import { prepareAll, type Workload } from "../isolation/workloads.ts";
import { closeMachines, digestRows, followAll, lead, openMachine } from "../support/machines.ts";
import { note, startFleet, type Engine, type Fleet, type FleetOptions } from "./fleet.ts";
import type { Strike } from "./strikes.ts";
import { additions, ownWrites } from "./workloads.ts";

export interface StormOptions extends Omit<FleetOptions, "random"> {
  readonly engine: Engine;
  readonly seed: number;
  readonly seconds: number;
  readonly strikes: Readonly<Record<string, Strike>>;
  /** Of all time: when it falls. */
  readonly midway?: Strike;
  readonly clients?: number;
}

const schema = "iso.once: string .\niso.own: int .\n";
/** Of each server, over the whole storm. */
const linesPerSecondMax = 20;
/** Nobody waits longer for an answer when all is well again. */
const answerMsMax = 20_000;

/** Sentences about what is wrong afterwards, none if nothing is. Ends the engine, too. */
export async function playStorm(options: StormOptions): Promise<readonly string[]> {
  const { engine, seed, seconds, strikes, midway, clients = 16 } = options;
  const random = makeSeededRandom(seed);
  const fleet = await startFleet(engine, { ...options, random: makeSeededRandom(seed + 1) });
  const workloads = [...allWorkloads(), additions(), ownWrites()];
  const done: string[] = [];
  try {
    await fleet.heal();
    await prepareAll(fleet.url, workloads);
    await alter(fleet.url, schema);
    const startMs = performance.now();
    const untilMs = startMs + seconds * 1000;
    const waiters = startWaiters(fleet);
    let isOver = false;
    const playing = Array.from({ length: clients }, async (_, i) => {
      const workload = workloads[i % workloads.length]!;
      while (!isOver) await workload.play(fleet.url, random);
    });
    let isMidwayDue = midway !== undefined;
    try {
      while (performance.now() < untilMs) {
        if (isMidwayDue && performance.now() > startMs + seconds * 500) {
          isMidwayDue = false;
          done.push("midway");
          await midway?.(fleet, random);
        }
        await strikeOne(fleet, strikes, { random, done });
        await sleep(random.next() * 700);
      }
      await fleet.heal();
      const calmUntilMs = performance.now() + 30_000;
      await sleep(1500);
      while (workloads.some((one) => one.count() === 0) && performance.now() < calmUntilMs) {
        await sleep(100);
      }
    } finally {
      isOver = true;
      await Promise.all(playing);
    }
    const wrong = [...(await waiters.end()), ...(await judge(fleet, workloads))];
    wrong.push(...findFloods(fleet, seconds));
    await fleet.stop();
    wrong.push(...(await findLeftovers(fleet)), ...(await checkRows(fleet)));
    if (process.env["WEFT_NEMESIS_VERBOSE"] !== undefined) {
      process.stdout.write(
        `${done.join(" ")}\n${workloads.map((one) => `${one.name} ${one.count()}`).join(", ")}\n`,
      );
      if (wrong.length > 0)
        for (const { name, past } of fleet.members) process.stdout.write(`--- ${name}\n${past}\n`);
    }
    return wrong.length === 0 ? wrong : [...wrong, `blows: ${done.join(" ")}`];
  } finally {
    await fleet.stop().catch(() => {});
    await closeMachines();
    await fleet.close();
  }
}

async function strikeOne(
  fleet: Fleet,
  strikes: Readonly<Record<string, Strike>>,
  { random, done }: { readonly random: Random; readonly done: string[] },
): Promise<void> {
  const names = Object.keys(strikes);
  const name = names[Math.floor(random.next() * names.length)];
  if (name === undefined) return;
  done.push(name);
  await strikes[name]!(fleet, random);
  for (const member of fleet.members) note(member);
}

async function alter(url: string, body: string): Promise<void> {
  const answer = await fetch(`${url}/alter`, { method: "POST", body });
  if (!(await answer.text()).includes("Success")) throw new Error("the schema is not taken");
}

interface Waiters {
  /** What is wrong: who has no answer yet. */
  end(): Promise<readonly string[]>;
}

/** Clients without patience of their own: each request is answered, or its connection ends, at some time. */
function startWaiters({ members }: Fleet): Waiters {
  let isOver = false;
  const open = new Map<number, string>();
  let next = 0;
  const ask = (url: string, path: string, body: string): Promise<void> =>
    new Promise((resolve) => {
      const id = next++;
      open.set(id, `${path} at ${url}`);
      const end = (): void => {
        open.delete(id);
        resolve();
      };
      const headers = { "content-type": path === "/query" ? "application/dql" : "application/rdf" };
      const asked = request(url + path, { method: "POST", agent: false, headers }, (answer) => {
        answer.resume();
        answer.once("close", end);
      });
      asked.once("error", end);
      asked.end(body);
    });
  const asking = members.flatMap(({ url }) =>
    [
      ["/query", "{ q(func: has(iso.own), first: 1) { uid } }"],
      ["/mutate?commitNow=true", '{ set { _:n <iso.waits> "x" . } }'],
    ].map(async ([path, body]) => {
      while (!isOver) {
        await ask(url, path!, body!);
        await sleep(20);
      }
    }),
  );
  return {
    async end() {
      isOver = true;
      const all = Promise.all(asking).then(() => true);
      const isAnswered = await Promise.race([all, sleep(answerMsMax).then(() => false)]);
      return isAnswered ? [] : [...open.values()].map((one) => `never answered: ${one}`);
    },
  };
}

/** At each machine. */
async function judge(fleet: Fleet, workloads: readonly Workload[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const workload of workloads) {
    if (workload.count() === 0) wrong.push(`${workload.name}: nothing was acknowledged`);
    for (const { name, url } of fleet.members) {
      for (const sentence of await workload.judge(url)) {
        wrong.push(`${workload.name} at ${name}: ${sentence}`);
      }
    }
  }
  return wrong;
}

function findFloods({ members }: Fleet, seconds: number): readonly string[] {
  return members.flatMap(({ name, past, server }) => {
    const lines = (past + (server?.output() ?? "")).split("\n").length;
    const isFlood = lines > 100 + linesPerSecondMax * seconds;
    return isFlood ? [`machine ${name} wrote ${lines} lines to its log`] : [];
  });
}

async function findLeftovers({ members }: Fleet): Promise<readonly string[]> {
  const isThere = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  const left = (): readonly string[] =>
    members.flatMap(({ name, pids }) =>
      [...pids].filter(isThere).map((pid) => `machine ${name} leaves process ${pid} behind`),
    );
  await waitUntil(() => left().length === 0, 10_000).catch(() => {});
  return left();
}

/** `weft check`, and whether all hold the same rows once all of them have applied the whole log. */
async function checkRows({ members, engine }: Fleet): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { name, dir } of members) {
    const checked = await runWeft(["check", "--data", dir]);
    if (checked.code !== 0) wrong.push(`weft check at ${name}: ${checked.stdout}${checked.stderr}`);
  }
  const url = members[0]?.log === undefined ? engine.url() : engine.urlOf(members[0].log);
  const log = await openLog(
    { url, isSingle: true },
    { cell: 0, clock: systemClock, flag: "--log", isMade: true },
  );
  const machines = [];
  for (const { dir } of members) {
    machines.push(await openMachine(log, (await readIdentity(dir)).storeId, dir));
  }
  const [first, ...others] = machines;
  await lead(first!);
  await first!.replica.mark();
  await first!.replica.mark();
  const digest = digestRows(first!.node);
  for (const [i, other] of others.entries()) {
    await followAll(other);
    if (digestRows(other.node) !== digest) {
      wrong.push(`the rows of ${members[i + 1]!.name} are not those of ${members[0]!.name}`);
    }
  }
  await closeMachines();
  await log.close();
  return wrong;
}
