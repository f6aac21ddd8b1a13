/**
 * The first process of `weft serve`: it holds the listening socket and the claim on the directory, and nothing else (no
 * store, no user code), so that nothing can bring it down. Its children do the work and are started again when they
 * die; while there is none, connections wait.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Server, Socket } from "node:net";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import { explainMove } from "../stores/place.ts";
import type { ServeConfig } from "./config.ts";
import { type Connection, Dispatcher } from "./dispatcher.ts";
import type { Address } from "./address.ts";
import { type GrpcListener, listenForGrpc } from "./grpc-listening.ts";
import { listen, listenBeside } from "./listening.ts";
import { setLogLevel } from "./log.ts";
import { heapMb } from "./memory.ts";
import {
  leadLostExit,
  storeFailedExit,
  type Role,
  type ScriptReport,
  type ToChild,
  type ToSupervisor,
} from "./messages.ts";
import { mainFile } from "./places.ts";
import { beatMs, Pulse } from "./pulse.ts";
import type { Question } from "./questions.ts";
import { refuseConnection } from "./refuse.ts";
import { answeringWriterMax, readsStore } from "./roles.ts";
import { ScriptDesk } from "./script-desk.ts";
import { StoreWatch } from "./store-watch.ts";
import { countRestart, answerOwn } from "./process-metrics.ts";
import { SurveyDesk } from "./survey-desk.ts";
import { SettingsBroadcast } from "./settings-broadcast.ts";
import { TlsFiles } from "./tls-files.ts";

/** Wait before a child is started again: it doubles with each death in a row, and begins anew after ten quiet seconds. */
const backoffMs = { first: 50, max: 5_000, forgottenAfter: 10_000 };

/** What a child finds in its environment where the operator has not set it. */
const childEnvironment = {
  // Threads of the pool: with Node's four, passwords that are compared leave none to the journal and the syncs.
  UV_THREADPOOL_SIZE: "8",
  // Of the C library of most Linux systems, in bytes. By itself it raises the first to 32 MiB once a large buffer was
  // freed, and puts all later ones among the small, where what is freed cannot be given back: after 200,000 requests
  // with texts of up to 10 MB a process held 260 MB for nothing. Setting one fixes the other as well, at 128 KiB.
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(32 * 1024 * 1024),
};

/** At the end: for how long connections that were let in are handed over. */
const handoverMsMax = 1_000;

/**
 * Who needs another ends before it: all answer through the resolvers, and write through the writer. What they have
 * written is archived at the end.
 */
const stopOrder: readonly Role[] = ["worker", "both", "writer", "node", "lambda", "backup"];

/** What a process that has ended may still have said is heard for so long. */
const lastWordsMs = 1_000;

/**
 * Twice the platform's own bound for each half of the young heap, in MiB: what a request makes is garbage when it is
 * answered, and with more room less of it is copied before. The collector's share of a write fell from 14 to 7 %. It
 * begins with 4: of what a start makes nearly all stays, and was copied seven times (decision 0164).
 */
const youngHeap = ["--max-semi-space-size=32", "--min-semi-space-size=4"];

export interface Supervisor {
  /** Whether the store was empty when it was opened. */
  readonly isEmpty: boolean;
  /** Host and port that it listens on. */
  readonly address: { readonly host: string; readonly port: number };
  /** The same as the system calls it: what was bound. */
  readonly bound: { readonly host: string; readonly port: number };
  /** Where it takes calls of gRPC, or in words why it does not; undefined: it shall not. */
  readonly grpc: Address | string | undefined;
  /** Resolves when an administrator asks for the end. */
  readonly whenShutDown: Promise<void>;
  /** Resolves, with a line for the operator, when the store turns out to be damaged: no child is started again then. */
  readonly whenRefused: Promise<string>;
  /** Lets /health say that all is ready. */
  open(): void;
  /** Settings from now on, of those that a running server takes. */
  reload(config: ServeConfig): void;
  /** For `weft dev`: another script of resolvers, or none. Resolves with what has become of it. */
  reloadScript(script: string | undefined): Promise<ScriptReport>;
  /** Drains and ends the children, at most `drainMs`; then the rest is killed. */
  stop(): Promise<void>;
  /** Ends them at once. */
  kill(): Promise<void>;
}

/** Resolves when every child is ready. Fault E_STARTUP with one line when the first start of a child fails. */
export async function startSupervisor(config: ServeConfig, logger: Logger): Promise<Supervisor> {
  const tls = config.tls === undefined ? undefined : new TlsFiles(config.tls, logger);
  const keeper = new Keeper(config, logger, tls);
  const server = await listen(config, (socket) => {
    keeper.accept(socket, socket.remoteAddress ?? "", tls !== undefined);
  });
  let own: Server | undefined;
  let grpc: GrpcListener | undefined;
  try {
    const address = server.address();
    const isTcp = address !== null && typeof address !== "string";
    const port = isTcp ? address.port : config.port;
    grpc = await listenForGrpc(config, port, (socket) => {
      keeper.accept(socket, socket.remoteAddress ?? "", tls !== undefined, true);
    });
    const isEmpty = await keeper.startAll(port);
    // In a store's directory alone: before, it may be none.
    if (tls !== undefined) {
      own = await listenBeside(config.dataDir, (socket) => {
        keeper.accept(socket, "127.0.0.1", false);
      });
    }
    return {
      isEmpty,
      address: { host: config.host, port },
      bound: { host: isTcp ? address.address : config.host, port },
      grpc: grpc?.where,
      whenShutDown: keeper.whenShutDown,
      whenRefused: keeper.whenRefused,
      open: () => keeper.open(),
      reload: (next) => keeper.reload(next),
      reloadScript: (script) => keeper.scripts.reload(script),
      stop: async () => {
        server.close();
        grpc?.close();
        await keeper.stop();
        own?.close();
      },
      kill: async () => {
        server.close();
        grpc?.close();
        await keeper.kill();
      },
    };
  } catch (error) {
    server.close();
    grpc?.close();
    own?.close();
    await keeper.kill();
    throw error;
  }
}

interface Child {
  readonly role: Role;
  readonly number: number;
  process: ChildProcess | undefined;
  isReady: boolean;
  deaths: number;
  lastDeathMs: number;
}

class Keeper {
  #config: ServeConfig;
  readonly #logger: Logger;
  readonly #children: Child[];
  readonly #dispatcher: Dispatcher<Child>;
  readonly #pulse: Pulse<Child>;
  readonly #watch: StoreWatch;
  #ticks: NodeJS.Timeout | undefined = undefined;
  #isOpen = false;
  #isReloaded = false;
  /** Why the last start of a child failed; undefined since one is ready. */
  #failure: string | undefined = undefined;
  #run: string = randomUUID();
  #isStopping = false;
  readonly #switchboard: SettingsBroadcast<Child>;
  readonly #surveys: SurveyDesk<Child>;
  readonly scripts: ScriptDesk;
  readonly whenShutDown: Promise<void>;
  #shutDown: () => void = () => {};
  readonly whenRefused: Promise<string>;
  #giveUp: (line: string) => void = () => {};

  readonly #tls: TlsFiles | undefined;

  constructor(config: ServeConfig, logger: Logger, tls: TlsFiles | undefined) {
    this.#tls = tls;
    this.#switchboard = new SettingsBroadcast(
      (child, message) => this.#tell(child, message),
      config.memory.cacheMb,
    );
    this.#surveys = new SurveyDesk({
      tell: (child, message) => this.#tell(child, message),
      nameOf: processName,
      own: async (question) => {
        if (question.kind === "cluster") return { nodeFailure: this.#failure };
        return await answerOwn(question);
      },
    });
    this.scripts = new ScriptDesk((message) => {
      for (const child of this.#children) if (child.role === "lambda") this.#tell(child, message);
    });
    this.#config = config;
    this.#logger = logger;
    this.#dispatcher = new Dispatcher({
      clock: systemClock,
      give: (child, connection) => give(child, connection),
      refuse: (socket, isTls) => this.#refuse(socket, isTls),
    });
    this.#pulse = new Pulse(config.hangMs);
    this.#watch = new StoreWatch(config.dataDir, systemClock, (move) => this.#noteMove(move));
    this.whenShutDown = new Promise((resolve) => (this.#shutDown = resolve));
    this.whenRefused = new Promise((resolve) => (this.#giveUp = resolve));
    const make = (role: Role, number: number): Child => ({
      role,
      number,
      process: undefined,
      isReady: false,
      deaths: 0,
      lastDeathMs: 0,
    });
    const workers = Array.from({ length: config.workers }, (_, i) => make("worker", i + 1));
    if (config.cluster !== undefined) this.#children = [make("node", 0), ...workers];
    else if (config.workers > answeringWriterMax) this.#children = [make("writer", 0), ...workers];
    else this.#children = [make("both", 1), ...workers.slice(1)];
    if (config.lambda.script !== undefined) this.#children.push(make("lambda", 0));
    if (config.backup !== undefined) this.#children.push(make("backup", 0));
  }

  /**
   * All are started at once; the others begin when the writer is ready: its directory is a store then, which they
   * connect to. `port`: the one that the server listens on.
   */
  async startAll(port: number): Promise<boolean> {
    this.#config = { ...this.#config, port };
    let isFirstReady: (() => void) | undefined;
    const firstReady = new Promise<void>((resolve) => (isFirstReady = resolve));
    const starts = this.#children.map(async (child, i) => {
      const isEmpty = await this.#start(child, i === 0 ? undefined : firstReady);
      if (i === 0) isFirstReady?.();
      return isEmpty;
    });
    const isEmpty = (await Promise.all(starts)).some((one) => one);
    this.#ticks = setInterval(() => this.#tick(), beatMs);
    this.#tls?.watch((material) => {
      for (const child of this.#children) this.#tell(child, { kind: "tls", material });
    });
    return isEmpty;
  }

  open(): void {
    this.#isOpen = true;
    for (const child of this.#children) this.#tell(child, { kind: "open" });
  }

  reload(config: ServeConfig): void {
    const before = this.#config;
    this.#config = { ...config, port: before.port };
    this.#isReloaded = true;
    setLogLevel(config.log.level);
    for (const child of this.#children) this.#tellSettings(child);
    const { cacheMb } = config.memory;
    if (cacheMb === before.memory.cacheMb) return;
    const answering = this.#children.filter((child) => child.isReady && isAnswering(child));
    this.#switchboard.set({ cacheMb }, answering);
  }

  #tellSettings(child: Child): void {
    if (readsStore(child.role)) this.#tell(child, { kind: "settings", config: this.#config });
  }

  /** To a process that answers. Without one it waits, unless none can be started. */
  accept(socket: Socket, from: string, isTls: boolean, isGrpc = false): void {
    const isLost = this.#watch.move !== undefined && !this.#dispatcher.hasTakers;
    if (isLost) this.#refuse(socket, isTls || isGrpc);
    else this.#dispatcher.accept(socket, from, isTls, isGrpc);
  }

  #refuse(socket: Socket, isMute: boolean): void {
    const { move } = this.#watch;
    const failure = this.#dispatcher.hasTakers ? undefined : this.#failure;
    const why = failure ?? "the server is busy, please try again";
    refuseConnection(socket, move === undefined ? why : explainMove(move), isMute);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#dispatcher.settled(Math.min(handoverMsMax, this.#config.drainMs));
    this.#dispatcher.close();
    this.#stopWatching();
    const deadline = setTimeout(() => void this.kill(), this.#config.drainMs);
    for (const role of stopOrder) {
      const children = this.#children.filter((child) => child.role === role);
      await Promise.all(children.map((child) => this.#drain(child)));
    }
    clearTimeout(deadline);
  }

  #stopWatching(): void {
    clearInterval(this.#ticks);
    this.#watch.stop();
    this.#tls?.stop();
  }

  async kill(): Promise<void> {
    this.#isStopping = true;
    this.#stopWatching();
    const living = this.#children.flatMap((child) => child.process ?? []);
    const ends = living.map((one) => new Promise((resolve) => one.once("exit", resolve)));
    for (const one of living) one.kill("SIGKILL");
    await Promise.all(ends);
  }

  #drain(child: Child): Promise<void> {
    const running = child.process;
    if (running === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      running.once("exit", () => resolve());
      this.#tell(child, { kind: "drain" });
    });
  }

  /** Resolves when the child says that it is ready, with whether its store was empty. */
  #start(child: Child, after?: Promise<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const running = fork(mainFile, ["__child", child.role], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
        execArgv: [...process.execArgv, ...youngHeap, ...oldHeap(this.#config, child.role)],
        env: { ...childEnvironment, ...process.env },
        // A group of its own: its resolvers are found when it is gone.
        detached: child.role === "lambda",
      });
      let reason: string | undefined;
      let isDamage = false;
      child.process = running;
      running.on("message", (message: ToSupervisor) => {
        if (message.kind === "failed") {
          reason = message.line;
          isDamage = message.isDamage;
        } else if (message.kind === "ready") {
          this.#admit(child).then(() => resolve(message.isEmpty), reject);
        } else this.#hear(child, message);
      });
      onceGone(running, (code, signal) => {
        const line = reason ?? explainDeath(child, code, signal);
        const wasReady = child.isReady;
        if (child.role === "lambda") endGroup(running.pid);
        child.process = undefined;
        child.isReady = false;
        this.#pulse.forget(child);
        if (isWriting(child)) {
          // The file that they read may not be the store's any more.
          if (this.#watch.isExchanging) this.#killReaders();
          this.#watch.noteWriterGone();
        }
        this.#switchboard.forget(child);
        this.#surveys.forget(child);
        this.#dispatcher.leave(child);
        if (this.#watch.move !== undefined && !this.#dispatcher.hasTakers) {
          this.#dispatcher.refuseWaiting();
        }
        if (code === storeFailedExit) this.#endReaders();
        isDamage ||= hasDiedOfStore(child, signal);
        if (!wasReady) reject(new Fault(isDamage ? "E_STORE_CORRUPT" : "E_STARTUP", line));
        else if (isDamage && !this.#isStopping) this.#giveUp(line);
        else this.#replace(child, line, code === leadLostExit ? "info" : "error");
      });
      running.on("error", (error) => {
        // Nothing was started, so nothing will end: the machine has no room for another process now.
        if (running.pid !== undefined) return;
        child.process = undefined;
        reject(new Fault("E_STARTUP", `the ${nameOf(child)} cannot be started: ${error.message}`));
      });
      const { number } = child;
      const start = (): void => {
        const identity = this.#watch.identity;
        const tls = this.#tls?.material;
        const shared = { config: this.#config, run: this.#run, identity, tls };
        this.#tell(child, { kind: "start", number, ...shared });
      };
      if (after === undefined) start();
      else void after.then(start);
    });
  }

  async #admit(child: Child): Promise<void> {
    if (isWriting(child)) await this.#watch.noteWriter();
    // It may have ended meanwhile.
    if (child.process === undefined) return;
    child.isReady = true;
    // What it was told before it listened it has not heard.
    if (this.#isStopping) this.#tell(child, { kind: "drain" });
    this.#failure = undefined;
    this.#pulse.note(child);
    if (this.#isReloaded) this.#tellSettings(child);
    if (isAnswering(child)) this.#switchboard.admit(child);
    if (this.#isOpen) this.#tell(child, { kind: "open" });
    if (child.role === "lambda") this.scripts.repeat();
    if (this.#watch.move !== undefined)
      this.#tell(child, { kind: "moved", move: this.#watch.move });
    if (isAnswering(child)) this.#dispatcher.join(child);
  }

  #noteMove(move: string | undefined): void {
    if (move === undefined) this.#logger.warn("the store is back as it was");
    else this.#logger.error("the store cannot be written", { dir: this.#config.dataDir, move });
    for (const child of this.#children) this.#tell(child, { kind: "moved", move });
  }

  /** Those that hang are ended; what they were answering ends with them. */
  #tick(): void {
    this.#dispatcher.sweep();
    for (const child of this.#pulse.turn()) {
      this.#logger.error("a child gives no sign of life and is killed", { role: child.role });
      child.process?.kill("SIGKILL");
    }
  }

  #hear(child: Child, message: Exclude<ToSupervisor, { kind: "ready" | "failed" }>): void {
    switch (message.kind) {
      case "turn": {
        const children = this.#children.filter((one) => one.isReady && isAnswering(one));
        this.#switchboard.turn(child, message.id, { switches: message.change, children });
        return;
      }
      case "took":
        this.#dispatcher.took(child, message.id);
        return;
      case "beat":
        this.#pulse.note(child);
        this.#dispatcher.beat(child);
        return;
      case "survey": {
        const { question } = message;
        const children = this.#children.filter((one) => one.isReady && isAsked(one, question));
        this.#surveys.open(child, message.id, question, children);
        return;
      }
      case "report":
        this.#surveys.hear(child, message.id, message.answer);
        return;
      case "heard":
        this.#switchboard.heard(child, message.turn);
        return;
      case "script":
        this.scripts.hear(message);
        return;
      case "exchanging":
        this.#watch.expectData(message.nextData);
        this.#tell(child, { kind: "exchangeKnown" });
        return;
      case "closing":
        this.#watch.noteWriterGone();
        this.#tell(child, { kind: "closingKnown" });
        return;
      case "exchanged":
        void this.#watch.noteWriter();
        return;
      case "shutdown":
        this.#shutDown();
    }
  }

  /** What the disk holds is not known: it is brought back from the journal, under nobody's eyes. */
  #endReaders(): void {
    this.#run = randomUUID();
    this.#killReaders();
  }

  #killReaders(): void {
    for (const child of this.#children) if (isAnswering(child)) child.process?.kill("SIGKILL");
  }

  /** Only after its exit was seen: two writers must never meet. */
  #replace(child: Child, line: string, level: "info" | "error"): void {
    if (this.#isStopping) return;
    countRestart(child.role);
    this.#logger[level]("a child ended and is started again", { role: child.role, line });
    const writer = this.#children.find(isWriting);
    if (writer !== undefined && writer !== child) this.#tell(writer, { kind: "childEnded" });
    this.#startLater(child);
  }

  #startLater(child: Child): void {
    const nowMs = systemClock.nowMs();
    if (nowMs - child.lastDeathMs > backoffMs.forgottenAfter) child.deaths = 0;
    child.lastDeathMs = nowMs;
    const waitMs = Math.min(backoffMs.first * 2 ** child.deaths++, backoffMs.max);
    this.#startIn(child, waitMs);
  }

  /** Who reads the store begins behind its writer, which may have to bring it back. */
  #startIn(child: Child, waitMs: number): void {
    setTimeout(() => {
      if (this.#isStopping) return;
      const writer = this.#children.find(isWriting);
      const isBehind = child !== writer && isAnswering(child) && writer?.isReady !== true;
      if (isBehind || (this.#watch.move !== undefined && readsStore(child.role))) {
        this.#startIn(child, backoffMs.first);
        return;
      }
      this.#start(child).catch((error: unknown) => {
        this.#logger.error("a child cannot start", { role: child.role, line: String(error) });
        if (isAnswering(child) || isWriting(child)) this.#failure = messageOf(error);
        // The next start would find it as it is.
        if (error instanceof Fault && error.code === "E_STORE_CORRUPT") {
          this.#giveUp(error.message);
          return;
        }
        if (!this.#isStopping) this.#startLater(child);
      });
    }, waitMs);
  }

  #tell(child: Child, message: ToChild): void {
    const running = child.process;
    if (running?.connected === true) running.send(message, () => {});
  }
}

/**
 * V8's own default does not know what the machine gives to this server, nor how many share it. Collections are asked for
 * by `idle-memory.ts`.
 */
function oldHeap({ memory }: ServeConfig, role: Role): string[] {
  const megabytes = heapMb(memory, role);
  return megabytes === undefined ? [] : [`--max-old-space-size=${megabytes}`, "--expose-gc"];
}

/** The process has a hold of the connection before this one lets go of its own. */
function give({ process }: Child, { id, from, isTls, isGrpc, socket }: Connection): void {
  const message: ToChild = { kind: "connection", id, from, isTls, isGrpc };
  process?.send(message, socket, { keepOpen: true }, () => {});
}

/** Behind its end and its last words. */
function onceGone(
  process: ChildProcess,
  then: (code: number | null, signal: string | null) => void,
): void {
  process.once("exit", (code, signal) => {
    if (!process.connected) {
      then(code, signal);
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      process.off("disconnect", finish);
      then(code, signal);
    };
    const timer = setTimeout(finish, lastWordsMs);
    process.once("disconnect", finish);
  });
}

function isAnswering(child: Child): boolean {
  return child.role === "worker" || child.role === "both";
}

const nodeQuestions: ReadonlySet<Question["kind"]> = new Set([
  "cluster",
  "resign",
  "finalize",
  "evict",
]);

/** Who knows nothing of it is not waited for. */
function isAsked({ role }: Child, { kind }: Question): boolean {
  if (nodeQuestions.has(kind)) return role === "node";
  return kind !== "archive" || role === "backup";
}

function isWriting(child: Child): boolean {
  return child.role === "writer" || child.role === "node" || child.role === "both";
}

/** Resolvers that a killed lambda server has left behind. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // None is left.
  }
}

/** LMDB's pages are read where the file is mapped: damage to them ends the process that follows them. */
function hasDiedOfStore(child: Child, signal: string | null): boolean {
  return readsStore(child.role) && (signal === "SIGBUS" || signal === "SIGSEGV");
}

function explainDeath(child: Child, code: number | null, signal: string | null): string {
  const how = signal === null ? `exit code ${code ?? "unknown"}` : signal;
  if (hasDiedOfStore(child, signal)) {
    return `the store cannot be read: its ${nameOf(child)} died of ${how}; the data directory is damaged, see "weft check"`;
  }
  return `the ${nameOf(child)} ended with ${how}`;
}

function nameOf({ role }: Child): string {
  return role === "both" ? "worker that writes" : role;
}

/** As the log calls it. */
function processName({ role, number }: Child): string {
  return role === "both" || role === "worker" ? `worker ${number}` : role;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
