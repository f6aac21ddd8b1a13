/** What befalls machines over one log. Each blow ends by itself, and leaves lines as they were. */
import type { Random } from "../../src/base/random.ts";
import { sleep } from "../e2e/server.ts";
import {
  findLeader,
  killMember,
  pidsOf,
  processOf,
  send,
  stopMember,
  type Fleet,
  type Member,
} from "./fleet.ts";
import type { Direction } from "./line.ts";
import { ownsPort } from "./socket-owner.ts";

/** One blow, with what it is called; `isOver` says that no more are wanted. */
export type Strike = (fleet: Fleet, random: Random) => Promise<void>;

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random.next() * list.length)]!;
}

/** The leader in half of all cases. */
async function pickMember({ members }: Fleet, random: Random): Promise<Member> {
  const leader = random.next() < 0.5 ? await findLeader(members) : undefined;
  return leader ?? pick(members, random);
}

const roles = ["node", "node", "both", "reader"];

async function killProcess(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  const pids = member.server?.childPids() ?? [];
  const pid = processOf(member, pick(roles, random)) ?? pids[0];
  if (pid !== undefined) send(pid, "SIGKILL");
}

async function stopProcess(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  const pid = processOf(member, pick(roles, random));
  if (pid === undefined) return;
  send(pid, "SIGSTOP");
  try {
    await sleep(200 + random.next() ** 2 * 5000);
  } finally {
    send(pid, "SIGCONT");
  }
}

/** The node process of whoever leads, while the others of its server go on. */
async function stopLeader(fleet: Fleet, random: Random): Promise<void> {
  const leader = await findLeader(fleet.members);
  const pid = leader === undefined ? undefined : processOf(leader, "node");
  if (pid === undefined) return;
  send(pid, "SIGSTOP");
  try {
    await sleep(2000 + random.next() * 3000);
  } finally {
    send(pid, "SIGCONT");
  }
}

/** Every process of a server stands still, as a machine that is suspended. */
async function stopServer(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  const pids = pidsOf(member);
  for (const one of pids) send(one, "SIGSTOP");
  try {
    await sleep(500 + random.next() * 4000);
  } finally {
    for (const one of pids) send(one, "SIGCONT");
  }
}

async function killSupervisor(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  const { server } = member;
  if (server === undefined) return;
  const ended = new Promise((resolve) => server.process.once("exit", resolve));
  server.process.kill("SIGKILL");
  await ended;
  member.past += server.output();
  member.server = undefined;
  await fleet.start(member);
}

async function killServer(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  await killMember(member);
  await sleep(random.next() * 3000);
  await fleet.start(member);
}

async function handOver(fleet: Fleet, random: Random): Promise<void> {
  const member = await pickMember(fleet, random);
  await stopMember(member);
  await fleet.start(member);
}

/** Nobody reaches it, while it reaches the log. */
async function partFromOthers(fleet: Fleet, random: Random): Promise<void> {
  const { peers } = await pickMember(fleet, random);
  peers.cut(false);
  await sleep(300 + random.next() * 4000);
  peers.heal();
}

async function hushPeers(fleet: Fleet, random: Random): Promise<void> {
  const { peers } = await pickMember(fleet, random);
  peers.hush(pick<Direction>(["out", "back"], random));
  await sleep(300 + random.next() * 6000);
  // What was under way arrives late, or never.
  if (random.next() < 0.5) peers.cut(true);
  peers.heal();
}

/** Two machines do not reach each other, while both reach the others, and the log. */
async function partPair(fleet: Fleet, random: Random): Promise<void> {
  const one = await pickMember(fleet, random);
  const other = pick(
    fleet.members.filter((member) => member !== one),
    random,
  );
  const isSilent = random.next() < 0.5;
  for (const [at, from] of [
    [one, other],
    [other, one],
  ] as const) {
    at.peers.part((port) => ownsPort(pidsOf(from), port), isSilent);
  }
  await sleep(500 + random.next() * 8000);
  for (const { peers } of [one, other]) {
    if (random.next() < 0.5) peers.cut(true);
    peers.heal();
  }
}

async function slowPeers(fleet: Fleet, random: Random): Promise<void> {
  for (const { peers } of fleet.members) peers.delayMs = random.next() * 60;
  await sleep(1000 + random.next() * 2000);
  for (const { peers } of fleet.members) peers.delayMs = 0;
}

async function partFromLog(fleet: Fleet, random: Random): Promise<void> {
  const { log } = await pickMember(fleet, random);
  if (log === undefined) return;
  if (random.next() < 0.5) log.cut(false);
  else log.hush(pick<Direction>(["out", "back"], random));
  await sleep(300 + random.next() * 5000);
  if (random.next() < 0.5) log.cut(true);
  log.heal();
}

/** The machine that leads, for longer than it sends what it appends again: it gives the lead up by itself. */
async function partLeaderFromLog(fleet: Fleet, random: Random): Promise<void> {
  const { log } = (await findLeader(fleet.members)) ?? pick(fleet.members, random);
  if (log === undefined) return;
  if (random.next() < 0.5) log.cut(false);
  else for (const direction of ["out", "back"] as const) log.hush(direction);
  await sleep(8000 + random.next() * 10_000);
  log.heal();
}

/** Of all machines, also in the middle of a statement. */
async function endSessions(fleet: Fleet, random: Random): Promise<void> {
  const { serving } = fleet.engine;
  for (let i = 0; i < 1 + random.next() * 5; i++) {
    const own = "application_name = 'weft' AND random() < 0.8";
    await serving
      ?.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${own}`)
      .catch(() => {});
    await sleep(random.next() * 600);
  }
}

/** Ends, or ends the waiting of, statements that the standby has not acknowledged. */
async function endWaiting(fleet: Fleet, random: Random): Promise<void> {
  const { pair, serving } = fleet.engine;
  // One that has taken over has no standby.
  if (pair === undefined || serving !== pair.primary) return;
  const way = pick(["pg_terminate_backend", "pg_cancel_backend"], random);
  await pair.standby.kill("SIGKILL");
  try {
    for (let i = 0; i < 3; i++) {
      await sleep(100 + random.next() * 400);
      await pair.primary
        .run(`SELECT ${way}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
        .catch(() => {});
    }
  } finally {
    await pair.standby.start();
  }
}

/** In order, or as when its machine fails; connections wait, and are refused, until it is there again. */
async function restartPostgres(fleet: Fleet, random: Random): Promise<void> {
  const { serving } = fleet.engine;
  if (serving === undefined) return;
  await serving.kill(pick<NodeJS.Signals>(["SIGQUIT", "SIGINT"], random));
  await sleep(random.next() ** 2 * 12_000);
  await serving.start();
}

async function cutLog(fleet: Fleet): Promise<void> {
  for (const { log } of fleet.members) log?.cut(true);
}

/** The standby takes over; what was the primary is gone for good. Once in the life of a fleet. */
export async function failOver(fleet: Fleet): Promise<void> {
  const { pair } = fleet.engine;
  if (pair === undefined) return;
  await pair.primary.kill("SIGQUIT");
  await pair.standby.run("SELECT pg_promote()");
  fleet.engine.serving = pair.standby;
  for (const { log } of fleet.members) {
    if (log === undefined) continue;
    log.target = pair.standby.port;
    log.cut(true);
  }
}

export const machineStrikes: Record<string, Strike> = {
  killProcess,
  stopProcess,
  stopLeader,
  stopServer,
  killSupervisor,
  killServer,
  handOver,
  partFromOthers,
  partPair,
  hushPeers,
  slowPeers,
};

export const postgresStrikes: Record<string, Strike> = {
  ...machineStrikes,
  partFromLog,
  partLeaderFromLog,
  endSessions,
  endWaiting,
  restartPostgres,
  cutLog,
};
