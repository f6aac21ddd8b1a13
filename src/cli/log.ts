/** Where a process tells its operator what happens: lines on stderr, JSON for machines, words for people. */
import { pino } from "pino";
import type { Logger } from "../base/log.ts";
import type { LogConfig } from "./log-config.ts";
import { printDevLine } from "./log-dev.ts";
import { printLine } from "./log-text.ts";

const levelled: { level: string }[] = [];

/** Of all loggers that this process has made. */
export function setLogLevel(level: string): void {
  for (const log of levelled) log.level = level;
}

/** `name` is the process: supervisor, writer, worker 1. */
export function makeLogger(
  name: string,
  { level, format }: Pick<LogConfig, "level" | "format">,
): Logger {
  const destination = pino.destination({ fd: 2, sync: true });
  // A log that cannot be written, its disk being full, ends nothing: the lines are lost.
  destination.on("error", () => {});
  const print = { json: undefined, text: printLine, dev: printDevLine }[format];
  const target =
    print === undefined ? destination : { write: (line: string) => destination.write(print(line)) };
  const log = pino({ level, base: { pid: process.pid, name } }, target);
  levelled.push(log);
  return {
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, fields) => log.error(fields ?? {}, message),
  };
}

/** Nor do lines for people end anything. To be called when a process begins. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeListener("error", endWithReader);
    stream.on("error", () => {});
  }
}

/** For commands that end by themselves: whoever read has read enough (`weft help serve | head`). */
export function endWithLostOutput(): void {
  process.stdout.on("error", endWithReader);
}

/** As a shell tells of a process that SIGPIPE ended. */
function endWithReader(): void {
  process.exit(141);
}

/** For a person: one line, with the program's name. */
export function say(line: string): void {
  process.stdout.write(`weft: ${line}\n`);
}

/** One line of what went wrong. */
export function complain(line: string): void {
  process.stderr.write(`weft: ${line}\n`);
}
