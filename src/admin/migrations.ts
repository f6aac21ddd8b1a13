/**
 * Which migrations of a namespace were applied, in one row of the server's own: every change of it replaces the row that
 * was read, so that of two runners at once one is refused. A runner that is gone lets go of its migration after a while;
 * whoever continues it begins at the step that was not done yet.
 */
import type { Clock } from "../base/clock.ts";
import type { OpenEngine } from "../engine/open.ts";
import { Fault } from "../model/fault.ts";
import type { SystemRows } from "../engine/system-rows.ts";

interface AppliedMigration {
  readonly name: string;
  /** Of its files, as the runner made it. */
  readonly hash: string;
  /** ISO 8601. */
  readonly appliedAt: string;
}

interface RunningMigration {
  readonly name: string;
  readonly hash: string;
  readonly direction: "up" | "down";
  /** Steps that are done. */
  readonly step: number;
  readonly runner: string;
  /** Milliseconds since 1970: from then on another runner may go on with it. */
  readonly untilMs: number;
}

export interface MigrationJournal {
  readonly applied: readonly AppliedMigration[];
  readonly running: RunningMigration | undefined;
}

/** What a runner says of the migration that it is about to do, has done a step of, or has done. */
export interface MigrationReport {
  readonly name: string;
  readonly hash: string;
  readonly direction: "up" | "down";
  readonly runner: string;
  readonly step: number;
  /** stopped: it failed there; whoever goes on need not wait. */
  readonly state: "running" | "stopped" | "done";
}

/** A runner reports more often. */
const leaseMs = 60_000;

/** Of all namespaces of an engine. */
export function openMigrations(
  engine: Pick<OpenEngine, "systemRows" | "schema">,
  clock: Clock,
): Migrations {
  return new Migrations({
    rows: engine.systemRows,
    storageIdOf: async (namespace) => (await engine.schema(namespace)).storageId,
    nowMs: () => clock.nowMs(),
  });
}

interface MigrationParts {
  readonly rows: SystemRows;
  /** A namespace of which all was dropped has another one than before. */
  readonly storageIdOf: (namespace: number) => Promise<number>;
  readonly nowMs: () => number;
}

export class Migrations {
  readonly #parts: MigrationParts;

  constructor(parts: MigrationParts) {
    this.#parts = parts;
  }

  async read(namespace: number): Promise<MigrationJournal> {
    const storageId = await this.#parts.storageIdOf(namespace);
    return decode(await this.#parts.rows.read(rowOf(namespace)), storageId);
  }

  /** Returns the journal as it is then. Fault E_MIGRATION where the report does not follow what is there. */
  async report(namespace: number, report: MigrationReport): Promise<MigrationJournal> {
    const { rows, nowMs } = this.#parts;
    const storageId = await this.#parts.storageIdOf(namespace);
    const row = await rows.read(rowOf(namespace));
    const next = follow(decode(row, storageId), report, nowMs());
    const bytes = new TextEncoder().encode(JSON.stringify({ storageId, ...next }));
    if (await rows.write(rowOf(namespace), bytes, row)) return next;
    throw refuse("another runner has begun a migration meanwhile");
  }
}

function rowOf(namespace: number): string {
  return `migrations/${namespace.toString(16)}`;
}

interface StoredJournal extends MigrationJournal {
  readonly storageId: number;
}

/** What was applied to data that was dropped counts no more. */
function decode(row: Uint8Array | undefined, storageId: number): MigrationJournal {
  const nothing = { applied: [], running: undefined };
  if (row === undefined) return nothing;
  const stored = JSON.parse(new TextDecoder().decode(row)) as StoredJournal;
  return stored.storageId === storageId
    ? { applied: stored.applied, running: stored.running }
    : nothing;
}

function refuse(message: string): Fault {
  return new Fault("E_MIGRATION", message);
}

function follow(
  { applied, running }: MigrationJournal,
  report: MigrationReport,
  nowMs: number,
): MigrationJournal {
  const { name, hash, direction, runner, step, state } = report;
  if (running === undefined) checkBegin(applied, name, direction);
  else checkContinued(running, report, nowMs);
  if (state !== "done") {
    const untilMs = state === "running" ? nowMs + leaseMs : nowMs;
    return { applied, running: { name, hash, direction, step, runner, untilMs } };
  }
  const others = applied.filter((one) => one.name !== name);
  const appliedAt = new Date(nowMs).toISOString();
  return {
    applied: direction === "up" ? [...others, { name, hash, appliedAt }] : others,
    running: undefined,
  };
}

/** The same runner goes forward; another one may begin anew, also the other way. */
function checkContinued(
  running: RunningMigration,
  { name, runner, step }: MigrationReport,
  nowMs: number,
): void {
  if (running.name !== name) {
    throw refuse(`migration ${running.name} was begun (${running.direction}) and must end first`);
  }
  if (running.runner !== runner && running.untilMs > nowMs) {
    throw refuse(`migration ${name} is being run by another runner`);
  }
  if (running.runner === runner && step < running.step) {
    throw refuse(`step ${step} of migration ${name} was done before`);
  }
}

function checkBegin(
  applied: readonly AppliedMigration[],
  name: string,
  direction: "up" | "down",
): void {
  const isApplied = applied.some((one) => one.name === name);
  if (direction === "up" && isApplied) throw refuse(`migration ${name} is applied already`);
  const last = applied.at(-1);
  if (direction === "down" && last?.name !== name) {
    throw refuse(`migration ${name} is not the one that was applied last`);
  }
}
