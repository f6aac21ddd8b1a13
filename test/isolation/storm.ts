/** Processes are killed and stopped while clients work, without calm in between. */
import type { Random } from "../../src/base/random.ts";
import { listChildren, roleOf, sleep, type TestServer, waitUntil } from "../e2e/server.ts";
import { query } from "./client.ts";
import type { Workload } from "./workloads.ts";

export interface StormOptions {
  readonly server: TestServer;
  /** What the clients talk to: the server, or somebody between. */
  readonly url: string;
  readonly workloads: readonly Workload[];
  readonly clients: number;
  readonly random: Random;
  readonly seconds: number;
  /** How long clients go on behind the last blow. */
  readonly calmSeconds: number;
  /** One blow after the other until the time is over; undefined for calm. */
  readonly strike: ((server: TestServer, random: Random) => Promise<void>) | undefined;
}

/** How long clients go on at most until each workload has something to judge. */
const calmMsMax = 60_000;

/** Sentences about what is wrong afterwards, none if nothing is. */
export async function playStorm(options: StormOptions): Promise<readonly string[]> {
  const { server, url, workloads, random, strike } = options;
  const untilMs = performance.now() + options.seconds * 1000;
  let isOver = false;
  const clients = Array.from({ length: options.clients }, async (_, i) => {
    const workload = workloads[i % workloads.length]!;
    while (!isOver) await workload.play(url, random);
  });
  while (strike !== undefined && performance.now() < untilMs) await strike(server, random);
  await sleep(Math.max(0, untilMs - performance.now()) + options.calmSeconds * 1000);
  // On a busy machine a process may take longer to come back than the calm lasts.
  const lateMs = performance.now() + calmMsMax;
  while (workloads.some((one) => one.count() === 0) && performance.now() < lateMs) await sleep(100);
  isOver = true;
  await Promise.all(clients);
  await waitUntil(() => isCalm(server), 60_000);
  const wrong: string[] = [];
  for (const workload of workloads) {
    for (const sentence of await workload.judge(url)) wrong.push(`${workload.name}: ${sentence}`);
    if (workload.count() === 0) wrong.push(`${workload.name}: nothing was acknowledged`);
  }
  return wrong;
}

async function isCalm({ url }: TestServer): Promise<boolean> {
  try {
    await query(url, "{ q(func: uid(0x1)) { uid } }");
    return true;
  } catch {
    return false;
  }
}

/** A process is killed, or stopped for a while: any, in any state. */
export async function strikeAny(server: TestServer, random: Random): Promise<void> {
  await sleep(100 + random.next() * 900);
  const children = listChildren(server.process.pid!);
  const pid = children[Math.floor(random.next() * children.length)];
  if (pid === undefined) return;
  if (random.next() < 0.6) {
    send(pid, "SIGKILL");
    return;
  }
  send(pid, "SIGSTOP");
  try {
    await sleep(100 + random.next() ** 4 * 7000);
  } finally {
    send(pid, "SIGCONT");
  }
}

/**
 * The writing process dies, later the other one, then the writing one again and again, each time before slots that
 * nobody came back for are freed.
 */
export async function strikeWriters(server: TestServer): Promise<void> {
  const kill = async (isWriting: boolean): Promise<void> => {
    let pid: number | undefined;
    await waitUntil(() => {
      const children = listChildren(server.process.pid!);
      pid = children.find((child) => (roleOf(child) === "both") === isWriting);
      return pid !== undefined;
    }, 20_000);
    await waitUntil(() => isCalm(server), 20_000);
    send(pid!, "SIGKILL");
  };
  await kill(true);
  await sleep(6500);
  await kill(false);
  for (let i = 0; i < 15; i++) await kill(true);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}
