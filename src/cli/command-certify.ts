/** `weft certify`: whether an engine keeps what the log asks of it. */
import { readFileSync } from "node:fs";
import { systemClock } from "../base/clock.ts";
import { certify, type LoadReport } from "../log/certify.ts";
import { openScratchLog } from "../log/open.ts";
import { Fault } from "../model/fault.ts";
import type { CertifyFlags } from "./certify-command.ts";
import { parseDurationMs } from "./duration.ts";
import { complain } from "./log.ts";

interface Part {
  readonly part: string;
  readonly fault: string | null;
}

export async function runCertify(options: CertifyFlags): Promise<void> {
  const place = { url: readUrl(options.log), isSingle: options.unsafeSingle };
  const forMs = parseDurationMs("--for", options.for);
  const parts: Part[] = [];
  const load = await certify({
    open: () => openScratchLog(place, systemClock),
    clock: systemClock,
    forMs,
    onPart(part, fault) {
      parts.push({ part, fault: fault ?? null });
      if (options.json) return;
      print(fault === undefined ? `ok      ${part}` : `BROKEN  ${part}: ${fault}`);
    },
  });
  const broken = parts.filter(({ fault }) => fault !== null).length;
  if (options.json) print(JSON.stringify({ parts, load: load ?? null }));
  else if (load !== undefined) printLoad(load, forMs);
  if (broken > 0) throw new Fault("E_STARTUP", `${broken} of ${parts.length} promises are broken`);
  if (!options.json) print(`all ${parts.length} promises were kept`);
}

function printLoad(load: LoadReport, forMs: number): void {
  const { acknowledged, leaders, unknown, p50Ms, p99Ms, gapMs } = load;
  const count = (number: number): string => number.toLocaleString("en-US");
  print(
    `        ${count(acknowledged)} writes acknowledged in ${count(forMs / 1000)} s under ${count(leaders)} leaders, ${count(unknown)} of unknown outcome`,
  );
  print(
    `        a write took ${p50Ms.toFixed(1)} ms at the median, ${p99Ms.toFixed(1)} ms at most in 99 of 100; the longest time without one: ${count(Math.round(gapMs))} ms`,
  );
}

function readUrl(text: string): string {
  if (!text.startsWith("@")) {
    if (/:[^:@/]+@/.test(text)) complain(shownPassword);
    return text;
  }
  try {
    return readFileSync(text.slice(1), "utf8").trim();
  } catch (error) {
    throw new Fault("E_USAGE", `--log: ${text.slice(1)} cannot be read`, { cause: error });
  }
}

const shownPassword =
  "warning: the password in --log shows in the list of processes; give it as @FILE, or in PGPASSWORD";

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
