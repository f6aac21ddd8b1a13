/** A log by what users call it: `dir:PATH`, or `postgres://…`. */
import { randomInt, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { findDirectoryLog, openDirectoryLog } from "./directory.ts";
import { readLogUrl } from "./log-url.ts";
import { openPostgresLog } from "./postgres.ts";
import type { ReplicatedLog } from "./replicated-log.ts";

/** Which log it is. */
interface LogPlace {
  readonly url: string;
  /** Whether a server without a synchronous standby will do. */
  readonly isSingle: boolean;
}

/**
 * The log of a store. `cell`: which of several in one database. `isMade`: whether a directory is made where there is none;
 * without that nothing is said of it before it is read. Fault E_STARTUP for what is no log, or cannot be reached.
 */
export async function openLog(
  { url, isSingle }: LogPlace,
  { cell, clock, flag, isMade }: OpenOptions,
): Promise<ReplicatedLog> {
  const { kind, rest } = readLogUrl(url, flag);
  if (kind === "dir") return isMade ? openDirectoryLog(rest, clock) : findDirectoryLog(rest);
  return openPostgresLog({ url, isSingle, cell, clock });
}

interface OpenOptions {
  readonly cell: number;
  readonly clock: Clock;
  readonly flag: string;
  readonly isMade: boolean;
}

/** An empty log beside those that are there, which goes away again. */
export interface ScratchLog {
  connect(): Promise<ReplicatedLog>;
  remove(): Promise<void>;
}

/** Fault E_STARTUP for what is no log, or cannot be reached. */
export function openScratchLog({ url, isSingle }: LogPlace, clock: Clock): ScratchLog {
  const { kind, rest } = readLogUrl(url, "--log");
  if (kind === "dir") return scratchDirectory(rest, clock);
  return scratchCell({ url, isSingle }, clock);
}

function scratchDirectory(root: string, clock: Clock): ScratchLog {
  const place = join(root, `certify-${randomUUID()}`);
  return {
    connect: () => openDirectoryLog(place, clock),
    remove: () => rm(place, { recursive: true, force: true }),
  };
}

/** A number below 0, which no store's log has. */
function scratchCell(place: LogPlace, clock: Clock): ScratchLog {
  const cell = -randomInt(1, 2 ** 31);
  const connect = (): ReturnType<typeof openPostgresLog> =>
    openPostgresLog({ ...place, cell, clock });
  return {
    connect,
    async remove() {
      const log = await connect();
      try {
        await log.removeAll();
      } finally {
        await log.close();
      }
    },
  };
}
