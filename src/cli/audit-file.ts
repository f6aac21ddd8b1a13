/**
 * A file of audit records, one JSON object a line, that all processes of the server append to. Each append is one write
 * at the file's end, so lines of different processes never mix. The process that finds the file full puts it aside, as
 * FILE.1, FILE.2, …; the others notice by the file's number, and what they wrote meanwhile is in the one put aside.
 */
import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { AuditSink } from "../http/audit-sink.ts";
import { Fault } from "../model/fault.ts";
import type { AuditConfig } from "./audit-config.ts";

/** A lock that is older was left by a process that died while it held it: putting files aside takes milliseconds. */
const lockMsMax = 10_000;
/** How often a fault is told to the log. */
const tellMs = 10_000;

/** Throws Fault E_STARTUP where the file cannot be written. */
export function openAuditFile(config: AuditConfig, logger: Logger, clock: Clock): AuditFile {
  try {
    return new AuditFile(config, logger, clock);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Fault("E_STARTUP", `--audit: ${config.file} cannot be written (${why})`, {
      cause: error,
    });
  }
}

export class AuditFile implements AuditSink {
  readonly queries: boolean;
  readonly isRequired: boolean;
  fault: string | undefined = undefined;
  readonly #config: AuditConfig;
  readonly #logger: Logger;
  readonly #clock: Clock;
  #fd: number;
  #lines: string[] = [];
  #lostCount = 0;
  #toldMs = -Infinity;
  /** A write broke off inside a line. */
  #isTorn = false;

  constructor(config: AuditConfig, logger: Logger, clock: Clock) {
    this.#config = config;
    this.#logger = logger;
    this.#clock = clock;
    this.queries = config.queries;
    this.isRequired = config.isRequired;
    this.#fd = openForAppend(config.file);
  }

  /** Records of one turn of the event loop are written together at its end. */
  write(line: string): void {
    if (this.#lines.push(line) === 1) setImmediate(() => this.flush());
  }

  flush(): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    try {
      this.#follow();
      this.#append(lines);
      if (this.fault !== undefined) this.#logger.warn("audit records are written again");
      this.fault = undefined;
    } catch (error) {
      this.#lose(lines.length, error);
    }
  }

  close(): void {
    this.flush();
    closeSync(this.#fd);
  }

  #append(lines: readonly string[]): void {
    const lost = this.#lostCount;
    const time = new Date(this.#clock.nowMs()).toISOString();
    const first = lost === 0 ? [] : [JSON.stringify({ time, kind: "lost", records: lost })];
    const text = `${this.#isTorn ? "\n" : ""}${[...first, ...lines].join("\n")}\n`;
    const bytes = Buffer.from(text);
    const written = writeSync(this.#fd, bytes);
    this.#isTorn = written < bytes.length && written > 0;
    if (written < bytes.length) throw new Error("the disk took a part of it");
    this.#lostCount = 0;
  }

  #lose(count: number, error: unknown): void {
    this.#lostCount += count;
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    this.fault = `audit records cannot be written (${why})`;
    const nowMs = this.#clock.tickMs();
    if (nowMs - this.#toldMs < tellMs) return;
    this.#toldMs = nowMs;
    this.#logger.error("audit records cannot be written", { why, lost: this.#lostCount });
  }

  /** Writes to the file of the configured name from now on, and puts it aside where it is full. */
  #follow(): void {
    const { file, bytesMax } = this.#config;
    if (this.#isMoved()) this.#reopen();
    if (fstatSync(this.#fd).size < bytesMax || !this.#lock()) return;
    try {
      // Another process may have done it just before.
      if (!this.#isMoved()) this.#putAside();
    } finally {
      rmSync(`${file}.lock`, { force: true });
    }
    this.#reopen();
  }

  #isMoved(): boolean {
    const named = statSync(this.#config.file, { throwIfNoEntry: false });
    const own = fstatSync(this.#fd);
    return named === undefined || named.ino !== own.ino || named.dev !== own.dev;
  }

  #reopen(): void {
    const next = openForAppend(this.#config.file);
    closeSync(this.#fd);
    this.#fd = next;
  }

  #putAside(): void {
    const { file, filesMax } = this.#config;
    rmSync(`${file}.${filesMax}`, { force: true });
    for (let i = filesMax - 1; i > 0; i--) {
      if (statSync(`${file}.${i}`, { throwIfNoEntry: false }) !== undefined) {
        renameSync(`${file}.${i}`, `${file}.${i + 1}`);
      }
    }
    renameSync(file, `${file}.1`);
  }

  /** False where another process holds it: the file grows a little over its size meanwhile. */
  #lock(): boolean {
    const lock = `${this.#config.file}.lock`;
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const held = statSync(lock, { throwIfNoEntry: false });
      if (held !== undefined && this.#clock.nowMs() - held.mtimeMs > lockMsMax) {
        rmSync(lock, { force: true });
      }
      return false;
    }
  }
}

function openForAppend(file: string): number {
  return openSync(file, "a", 0o600);
}
