/**
 * The console of a script. Node's own leads to its streams, and from there to the network; this one makes a text of what
 * it is given and hands it to the server, which logs it. A script that prints without end is cut short.
 */
import type { FromResolver } from "../messages.ts";
import { withClassMarks } from "./class-marks.ts";

interface ConsolePorts {
  send(message: FromResolver): void;
  format(values: readonly unknown[]): string;
  /** Milliseconds on a scale of the process's own. */
  nowMs(): number;
}

type Print = (...values: unknown[]) => void;

const lineCharactersMax = 4_000;
/** Lines in a second; what is beyond is counted. */
const linesMax = 200;

/** `script`: of which name the places are told from where something is printed; undefined: they are not. */
export function openConsole(
  ports: ConsolePorts,
  script: string | undefined,
): Readonly<Record<string, unknown>> {
  const now = (): number => ports.nowMs();
  let second = 0;
  let lines = 0;
  let indent = "";
  const counts = new Map<string, number>();
  const times = new Map<string, number>();
  const print = (level: "info" | "warn", text: string): void => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      const left = lines - linesMax;
      second = current;
      lines = 0;
      if (left > 0) ports.send({ kind: "printed", level: "warn", line: `${left} more lines` });
    }
    if (++lines > linesMax) return;
    const at = script === undefined ? undefined : findCaller(script);
    ports.send({ kind: "printed", level, line: (indent + text).slice(0, lineCharactersMax), at });
  };
  const format = (values: readonly unknown[]): string =>
    withClassMarks(values, () => ports.format(values));
  const info: Print = (...values) => print("info", format(values));
  const warn: Print = (...values) => print("warn", format(values));
  const label = (value: unknown): string => (value === undefined ? "default" : format([value]));
  const elapsed = (name: string): string =>
    `${name}: ${(now() - (times.get(name) ?? now())).toFixed(3)}ms`;
  return {
    log: info,
    info,
    debug: info,
    dir: (value: unknown) => info(value),
    dirxml: info,
    table: (value: unknown) => info(value),
    warn,
    error: warn,
    trace: (...values: unknown[]) => warn("Trace:", ...values),
    assert: (condition: unknown, ...values: unknown[]) => {
      if (condition !== true && !condition) warn("Assertion failed", ...values);
    },
    group: (...values: unknown[]) => {
      if (values.length > 0) info(...values);
      if (indent.length < 40) indent += "  ";
    },
    groupCollapsed: (...values: unknown[]) => {
      if (values.length > 0) info(...values);
      if (indent.length < 40) indent += "  ";
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    count: (name?: unknown) => {
      const count = (counts.get(label(name)) ?? 0) + 1;
      if (counts.size < 1000) counts.set(label(name), count);
      info(`${label(name)}: ${count}`);
    },
    countReset: (name?: unknown) => void counts.delete(label(name)),
    time: (name?: unknown) => {
      if (times.size < 1000) times.set(label(name), now());
    },
    timeLog: (name?: unknown, ...values: unknown[]) => info(elapsed(label(name)), ...values),
    timeEnd: (name?: unknown) => {
      info(elapsed(label(name)));
      times.delete(label(name));
    },
  };
}

/** `LINE:COLUMN` of the innermost frame of the script. */
function findCaller(script: string): string | undefined {
  for (const line of new Error().stack?.split("\n") ?? []) {
    const at = line.lastIndexOf(`${script}:`);
    if (at >= 0) return line.slice(at + script.length + 1).replace(/\)$/, "");
  }
  return undefined;
}
