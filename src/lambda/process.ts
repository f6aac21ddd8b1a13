/**
 * One process of resolvers, seen from outside: an empty environment, no files, no processes, no network (what it asks
 * for is asked of `answerAsk`), a bounded heap. It runs one call at a time.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { LambdaCode } from "./bundle.ts";
import { firstLine } from "./first-line.ts";
import type { LambdaLimits } from "./limits.ts";
import type { AskAnswer, AskCall, FromResolver, ToResolver } from "./messages.ts";
import type { SourcePlace } from "./source-places.ts";
import type { ScriptOptions } from "./limits.ts";

interface ProcessParts {
  readonly code: LambdaCode;
  readonly limits: LambdaLimits;
  readonly options: ScriptOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly answerAsk: (call: AskCall, leftMs: number) => Promise<AskAnswer>;
  /** What the pool is told. Nothing is told any more after `ended`. */
  readonly tell: ProcessEvents;
}

interface ProcessCall {
  readonly id: number;
  readonly body: string;
  readonly isPartial: boolean;
  /** On the clock's tick scale. */
  readonly deadlineMs: number;
}

export interface ProcessEvents {
  ready(one: ResolverProcess, names: readonly string[]): void;
  done(one: ResolverProcess, status: number, body: string): void;
  /** Its requests begin or end: it computes, or it waits. */
  waits(one: ResolverProcess): void;
  /** With the reason, for people. */
  ended(one: ResolverProcess, reason: string): void;
}

/** Lines that a script prints, as they reach the log. */
const lineCharactersMax = 4_000;
const faultCharactersMax = 16_000;

export class ResolverProcess {
  /** undefined before the first call and between calls. */
  callId: number | undefined;
  /** The call has begun: it cannot be made again elsewhere. */
  hasBegun = false;
  callStartMs = 0;
  isReady = false;
  /** Where the script threw while it was loaded. */
  brokenAt: SourcePlace | undefined;
  /** Requests of its own that are not answered yet. */
  asks = 0;
  /** Did not answer the last ping yet; the time at which that was sent. */
  pingMs: number | undefined;
  readonly startMs: number;
  readonly #parts: ProcessParts;
  readonly #child: ChildProcess;
  /** Of the call under way, on the clock's tick scale. */
  #deadlineMs = Infinity;
  #reason: string | undefined;
  #hasEnded = false;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.startMs = parts.clock.tickMs();
    const heapMb = Math.ceil(parts.limits.memoryBytesMax / 2 ** 20);
    this.#child = spawn(
      process.execPath,
      [...permissionFlags(), `--max-old-space-size=${heapMb}`, "-e", firstLine],
      { env: {}, stdio: ["ignore", "pipe", "pipe", "ipc"], serialization: "json" },
    );
    const child = this.#child;
    child.on("message", (message: FromResolver) => this.#receive(message));
    child.once("error", (error) => this.#end(`it cannot be started: ${error.message}`));
    child.once("exit", (code, signal) => {
      this.#end(this.#reason ?? explainExit(code, signal));
    });
    this.#log(child.stdout, "info");
    this.#log(child.stderr, "warn");
    const { runner, script, name } = parts.code;
    const { bodyBytesMax } = parts.limits;
    const { shows, tracesConsole } = parts.options;
    this.#tell({ kind: "load", runner, script, name, bodyBytesMax, shows, tracesConsole });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  call({ id, body, isPartial, deadlineMs }: ProcessCall): void {
    this.#deadlineMs = deadlineMs;
    this.callId = id;
    this.hasBegun = false;
    this.callStartMs = this.#parts.clock.tickMs();
    this.#tell({ kind: "call", id, body, isPartial });
  }

  ping(): void {
    this.pingMs = this.#parts.clock.tickMs();
    this.#tell({ kind: "ping" });
  }

  /** Ends it; `ended` follows, with this reason. */
  kill(reason: string): void {
    this.#reason ??= reason;
    this.#child.kill("SIGKILL");
  }

  #tell(message: ToResolver): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromResolver): void {
    const { tell } = this.#parts;
    if (this.#hasEnded) return;
    switch (message.kind) {
      case "ready":
        this.isReady = true;
        tell.ready(this, message.names);
        return;
      case "broken": {
        const { text, first } = this.#parts.code.places.mapTrace(message.message);
        this.brokenAt = first;
        this.kill(`the script cannot be loaded: ${text}`);
        return;
      }
      case "begun":
        if (message.id === this.callId) this.hasBegun = true;
        return;
      case "done":
        if (message.id === this.callId) tell.done(this, message.status, message.body);
        return;
      case "printed":
        this.#logPrinted(message);
        return;
      case "fault":
        this.#logFault(message.message);
        return;
      case "pong":
        this.pingMs = undefined;
        if (this.callId === undefined) tell.waits(this);
        return;
      case "ask":
        void this.#ask(message.ask, message.call);
    }
  }

  async #ask(ask: number, call: AskCall): Promise<void> {
    const { answerAsk, clock, tell } = this.#parts;
    this.asks++;
    tell.waits(this);
    const answer = await answerAsk(call, this.#deadlineMs - clock.tickMs());
    this.asks--;
    this.#tell({ kind: "told", ask, answer });
    if (!this.#hasEnded) tell.waits(this);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#parts.tell.ended(this, reason);
  }

  #logPrinted({ level, line, at }: Extract<FromResolver, { kind: "printed" }>): void {
    const place = at === undefined ? undefined : this.#parts.code.places.parse(at);
    const where = place === undefined ? {} : { at: `${place.file}:${place.line}` };
    this.#parts.logger[level]("script", { ...where, line: line.slice(0, lineCharactersMax) });
  }

  #logFault(message: string): void {
    const { places } = this.#parts.code;
    const { text, first } = places.mapTrace(message);
    const source = first === undefined ? undefined : places.lineAt(first);
    this.#parts.logger.warn("script", {
      fault: text.slice(0, faultCharactersMax),
      // Who develops it sees the line; logs that are kept have its place.
      ...(this.#parts.options.tracesConsole && first !== undefined ? { ...first, source } : {}),
    });
  }

  /** What Node itself prints at a process's end; scripts have no streams. Without an end of line nothing is kept. */
  #log(stream: Readable | null, level: "info" | "warn"): void {
    let line = "";
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      for (const part of chunk.split(/(?<=\n)/)) {
        line = (line + part).slice(0, lineCharactersMax);
        if (!part.endsWith("\n")) continue;
        this.#parts.logger[level]("script", { line: line.trimEnd() });
        line = "";
      }
    });
  }
}

/** Node's permission model (before 22.13 an experiment): no files, processes, threads, addons. No code from texts. */
function permissionFlags(): string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isStable = major > 22 || (major === 22 && minor >= 13);
  return [
    isStable ? "--permission" : "--experimental-permission",
    "--no-warnings",
    "--disallow-code-generation-from-strings",
    // What one call changes of JSON, Promise and their like, another would run: nobody changes them.
    "--frozen-intrinsics",
  ];
}

function explainExit(code: number | null, signal: string | null): string {
  if (signal === "SIGABRT" || code === 134) return "it ran out of memory";
  return signal === null
    ? `its process exited with code ${code ?? 0}`
    : `its process got ${signal}`;
}
