/** Where a process tells its operator what happens: lines of JSON on stderr. */
import { pino } from "pino";
import type { Logger } from "../base/log.ts";

const levelled: { level: string }[] = [];

/** Of all loggers that this process has made. */
export function setLogLevel(level: string): void {
  for (const log of levelled) log.level = level;
}

/** `name` is the process: supervisor, writer, worker 1. */
export function makeLogger(name: string, level: string): Logger {
  const destination = pino.destination({ fd: 2, sync: true });
  // A log that cannot be written, its disk being full, ends nothing: the lines are lost.
  destination.on("error", () => {});
  const log = pino({ level, base: { pid: process.pid, name } }, destination);
  levelled.push(log);
  return {
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, fields) => log.error(fields ?? {}, message),
  };
}

/** Nor do lines for people end anything. To be called when a process begins. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** For a person: one line, with the program's name. */
export function say(line: string): void {
  process.stdout.write(`weft: ${line}\n`);
}

/** One line of what went wrong. */
export function complain(line: string): void {
  process.stderr.write(`weft: ${line}\n`);
}
