/** Servers over one log, with lines between them, to the log, and in front of them all. */
import { join } from "node:path";
import { must } from "../../src/base/assert.ts";
import type { Random } from "../../src/base/random.ts";
import {
  listChildren,
  makeFolder,
  roleOf,
  root,
  runWeft,
  sleep,
  startServer,
  waitUntil,
  type TestServer,
} from "../e2e/server.ts";
import { findFreePort } from "../support/free-port.ts";
import {
  hasPostgres,
  startPostgresPair,
  type PostgresPair,
  type PostgresServer,
} from "../support/postgres.ts";
import { openLine, type Line } from "./line.ts";

const certificates = join(root, "test", "certificates");
const tls = `ca=${join(certificates, "cluster-authority.pem")}; cert=${join(certificates, "cluster-node.pem")}; key=${join(certificates, "cluster-node.key")}`;

export interface Engine {
  /** Of the log, as the tests reach it themselves. */
  url(): string;
  /** As a machine reaches it, through a line of its own. */
  urlOf(line: Line | undefined): string;
  readonly pair: PostgresPair | undefined;
  /** The one that takes writes now; another one when the standby has taken over. */
  serving: PostgresServer | undefined;
  close(): Promise<void>;
}

export interface Member {
  readonly name: string;
  readonly dir: string;
  readonly url: string;
  /** In front of its address for the others; and between it and the log, where that is reached over TCP. */
  readonly peers: Line;
  readonly log: Line | undefined;
  /** undefined: it is down. */
  server: TestServer | undefined;
  /** What servers of it that have ended had written. */
  past: string;
  /** Processes that it ever had, as far as they were seen. */
  readonly pids: Set<number>;
}

export interface Fleet {
  readonly engine: Engine;
  readonly members: readonly Member[];
  /** In front of all of them: each connection goes to any. */
  readonly url: string;
  start(member: Member): Promise<void>;
  /** All lines as they were, all servers up, all of them reading. */
  heal(): Promise<void>;
  /** Ends the servers as a service manager does. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface FleetOptions {
  readonly count?: number;
  readonly workers?: number;
  readonly settings?: string;
  readonly random: Random;
  readonly program?: string;
}

export function directoryEngine(): Engine {
  const url = `dir:${join(makeFolder(), "log")}`;
  return {
    url: () => url,
    urlOf: () => url,
    pair: undefined,
    serving: undefined,
    close: async () => {},
  };
}

/** A primary and a synchronous standby; undefined where there is no PostgreSQL for this machine. */
export async function postgresEngine(): Promise<Engine | undefined> {
  if (!(await hasPostgres())) return undefined;
  const pair = await startPostgresPair();
  return {
    url: () => pair.primary.url,
    urlOf: (line) =>
      pair.primary.url.replace(`:${pair.primary.port}/`, `:${must(line, "over TCP").port}/`),
    pair,
    serving: pair.primary,
    close: () => pair.close(),
  };
}

const healMs = 60_000;

export async function startFleet(engine: Engine, options: FleetOptions): Promise<Fleet> {
  const { count = 3, workers = 1, settings = "", random, program } = options;
  const begun = await runWeft(["cluster", "init", "--log", engine.url()]);
  if (begun.code !== 0) throw new Error(begun.stderr);
  const members: Member[] = [];
  const flags = new Map<Member, { readonly port: number; readonly flags: readonly string[] }>();
  const front = await openLine(0, () => {
    const ports = [...flags.values()].map(({ port }) => port);
    const first = Math.floor(random.next() * ports.length);
    return [...ports.slice(first), ...ports.slice(0, first)];
  });
  for (const name of ["a", "b", "c", "d", "e"].slice(0, count)) {
    const [port, own] = [await findFreePort(), await findFreePort()];
    const peers = await openLine(own);
    const { serving } = engine;
    const log = serving === undefined ? undefined : await openLine(serving.port);
    const dir = join(makeFolder(), name);
    const url = `http://127.0.0.1:${port}`;
    const member: Member = {
      name,
      dir,
      url,
      peers,
      log,
      server: undefined,
      past: "",
      pids: new Set(),
    };
    const cluster = `log=${engine.urlOf(log)}; node=${name}; address=127.0.0.1:${peers.port}; bind=127.0.0.1:${own}; ${tls}; ${settings}`;
    flags.set(member, {
      port,
      flags: ["--workers", String(workers), "--no-sample", "--cluster", cluster],
    });
    members.push(member);
  }
  const start = async (member: Member): Promise<void> => {
    const { port, flags: own } = must(flags.get(member), "each has its own");
    const server = await startServer({
      dataDir: member.dir,
      port,
      flags: own,
      ...(program === undefined ? {} : { program }),
    });
    member.server = server;
    note(member);
  };
  await Promise.all(members.map(start));
  return {
    engine,
    members,
    url: `http://127.0.0.1:${front.port}`,
    start,
    async heal() {
      for (const { peers, log } of members) for (const line of [peers, log]) line?.heal();
      for (const member of members) if (member.server === undefined) await start(member);
      for (const member of members) {
        await waitUntil(async () => (await whyNotReading(member)) === undefined, healMs).catch(
          async () => {
            const told = await Promise.all(members.map(describe));
            const why = `machine ${member.name} does not come back by itself`;
            throw new Error([why, ...told].join("\n"));
          },
        );
        note(member);
      }
    },
    async stop() {
      for (const member of members) await stopMember(member);
    },
    async close() {
      await front.close();
      for (const { peers, log } of members) for (const line of [peers, log]) await line?.close();
      await engine.close();
    },
  };
}

/** undefined: it answers reads. */
async function whyNotReading({ url }: Member): Promise<string | undefined> {
  try {
    const body = "{ q(func: uid(0x1)) { uid } }";
    const headers = { "content-type": "application/dql" };
    const signal = AbortSignal.timeout(5000);
    const answer = await fetch(`${url}/query`, { method: "POST", headers, body, signal });
    const text = await answer.text();
    return text.includes('"errors"') ? text : undefined;
  } catch (error) {
    return String(error);
  }
}

/** How a machine stands, for whoever has to find out why it does not come back. */
async function describe(member: Member): Promise<string> {
  const { name, url, server, log, peers } = member;
  if (server === undefined) return `${name} is down`;
  const signal = AbortSignal.timeout(2000);
  const health = await fetch(`${url}/health`, { signal }).then((answer) => answer.text(), String);
  const roles = server.childPids().map((pid) => `${roleOf(pid)} ${pid}`);
  return [
    `--- ${name}: ${(await whyNotReading(member)) ?? "reads are answered"}`,
    `health: ${health}`,
    `processes: ${roles.join(", ")}; connections: ${peers.count} of peers, ${log?.count ?? 0} of the log`,
    server.output().slice(-3000),
  ].join("\n");
}

/** Remembers its processes. */
export function note({ server, pids }: Member): void {
  const pid = server?.process.pid;
  if (pid === undefined) return;
  for (const one of [pid, ...listChildren(pid)]) pids.add(one);
}

/** As a service manager does. */
export async function stopMember(member: Member): Promise<void> {
  const { server } = member;
  if (server === undefined) return;
  note(member);
  // First, so that nobody else stops it meanwhile.
  member.server = undefined;
  await server.stop();
  member.past += server.output();
}

/** All of it at once, as when the power goes. */
export async function killMember(member: Member): Promise<void> {
  const { server } = member;
  if (server === undefined) return;
  note(member);
  member.server = undefined;
  const ended = new Promise((resolve) => server.process.once("exit", resolve));
  const children = server.childPids();
  server.process.kill("SIGKILL");
  for (const pid of children) send(pid, "SIGKILL");
  await ended;
  member.past += server.output();
  await sleep(50);
}

/** Of its server, as they are now. */
export function pidsOf({ server }: Member): readonly number[] {
  const pid = server?.process.pid;
  return pid === undefined ? [] : [pid, ...listChildren(pid)];
}

export function processOf(member: Member, role: string): number | undefined {
  return member.server?.childPids().find((pid) => roleOf(pid) === role);
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

/** Who says that it leads; undefined: nobody does. */
export async function findLeader(members: readonly Member[]): Promise<Member | undefined> {
  for (const member of members) {
    if (member.server === undefined) continue;
    try {
      const signal = AbortSignal.timeout(1000);
      const answer = await fetch(`${member.url}/health`, { signal });
      const text = await answer.text();
      if (text.includes('"role":"leading"')) return member;
    } catch {
      // It is down, or stands still.
    }
  }
  return undefined;
}
