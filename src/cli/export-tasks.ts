/**
 * Exports that `/admin` asks for. Each is a `weft export` of its own beside the server, so that no request waits for it;
 * how far it is stands in a row of the store, where every process finds it.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join, resolve, sep } from "node:path";
import type { ExportTasks, ExportWish, TaskState } from "../admin/export-fields.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { SystemRows } from "../engine/system-rows.ts";
import { Fault } from "../model/fault.ts";
import { mainFile } from "./places.ts";

interface ExportTaskParts {
  readonly rows: SystemRows;
  readonly dataDir: string;
  /** Of an encrypted store. */
  readonly keyFile: string | undefined;
  /** Below it all exports lie; undefined: there are none. */
  readonly exportDir: string | undefined;
  /** The newest commit, for the name of the folder. */
  readonly commitTs: () => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface RunningExports extends ExportTasks {
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** A running task says so this often; one that was silent for some times as long has ended with its process. */
const beatMs = 10_000;
const silenceMs = 60_000;
const rowPrefix = "task/";
/** Rows of tasks that are older go when a new one begins. */
const keptMs = 30 * 24 * 3_600_000;

export function openExportTasks(parts: ExportTaskParts): RunningExports {
  const running = new Set<RunningExport>();
  return {
    async start(wish) {
      await forgetOld(parts);
      const { exportDir, clock, commitTs } = parts;
      if (exportDir === undefined) {
        const why = "the store is encrypted, and exports are not";
        throw new Fault(
          "E_TASK",
          `${why}: start the server with --export DIR to say where they go`,
        );
      }
      const parent = findPlace(exportDir, wish.destination);
      const dir = join(parent, nameFolder(await commitTs(), clock.nowMs()));
      mkdirSync(parent, { recursive: true, mode: 0o700 });
      const id = randomBytes(6).toString("hex").replace(/^0+/, "") || "1";
      const one = new RunningExport(parts, { id, dir, wish });
      await one.note("Running");
      running.add(one);
      void one.run().finally(() => running.delete(one));
      return `0x${id}`;
    },
    find: async (text) => {
      const row = await parts.rows.read(rowPrefix + BigInt(text).toString(16));
      return row === undefined ? undefined : readTask(row, parts.clock.nowMs());
    },
    close: async () => {
      await Promise.all([...running].map((one) => one.end()));
    },
  };
}

function readTask(row: Uint8Array, nowMs: number): TaskState {
  const task = JSON.parse(new TextDecoder().decode(row)) as TaskState;
  const isLost = task.status === "Running" && nowMs - task.updatedMs > silenceMs;
  return isLost ? { ...task, status: "Failed" } : task;
}

async function forgetOld({ rows, clock }: ExportTaskParts): Promise<void> {
  for (const [name, row] of await rows.list(rowPrefix)) {
    const { updatedMs } = readTask(row, clock.nowMs());
    if (clock.nowMs() - updatedMs > keptMs) await rows.write(name, undefined, "any");
  }
}

/** Who may export may not write anywhere. */
function findPlace(exportDir: string, destination: string): string {
  const root = resolve(exportDir);
  const place = resolve(root, destination);
  if (place === root || place.startsWith(root + sep)) return place;
  throw new Fault(
    "E_TASK",
    `the destination ${destination} does not lie within ${root} (--export)`,
  );
}

/** As the reference names them: commit, month, day and time. */
function nameFolder(commitTs: number, nowMs: number): string {
  const [date, time] = new Date(nowMs).toISOString().split("T") as [string, string];
  const day = date.slice(5).replace("-", "");
  return `dgraph.r${commitTs}.u${day}.${time.slice(0, 5).replace(":", "")}`;
}

class RunningExport {
  readonly #parts: ExportTaskParts;
  readonly #task: { readonly id: string; readonly dir: string; readonly wish: ExportWish };
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined = undefined;

  constructor(parts: ExportTaskParts, task: { id: string; dir: string; wish: ExportWish }) {
    this.#parts = parts;
    this.#task = task;
  }

  async note(status: TaskState["status"]): Promise<void> {
    const { rows, clock } = this.#parts;
    const { id, wish } = this.#task;
    const { namespace } = wish;
    const task: TaskState = { kind: "Export", status, updatedMs: clock.nowMs(), namespace };
    await rows.write(rowPrefix + id, new TextEncoder().encode(JSON.stringify(task)), "any");
  }

  run(): Promise<void> {
    return (this.#running ??= this.#run());
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { logger } = this.#parts;
    const beat = setInterval(() => void this.#try("Running"), beatMs);
    const problem = await this.#export();
    clearInterval(beat);
    const fields = { task: `0x${this.#task.id}`, dir: this.#task.dir };
    if (problem === undefined) logger.info("an export is done", fields);
    else logger.error("an export failed", { ...fields, problem });
    await this.#try(problem === undefined ? "Success" : "Failed");
  }

  async #try(status: TaskState["status"]): Promise<void> {
    try {
      await this.note(status);
    } catch (error) {
      this.#parts.logger.warn("the state of an export is not stored", { error: String(error) });
    }
  }

  /** What went wrong, in words. */
  #export(): Promise<string | undefined> {
    const { dataDir, keyFile } = this.#parts;
    const { dir, wish } = this.#task;
    const { format, namespace } = wish;
    const key = keyFile === undefined ? [] : ["--encryption", `key-file=${keyFile}`];
    const wishes = ["--format", format, "--namespace", String(namespace), ...key];
    return new Promise((settle) => {
      const child = spawn(
        process.execPath,
        [mainFile, "export", "--data", dataDir, "--to", dir, ...wishes],
        { stdio: ["ignore", "ignore", "pipe"], env: plainEnv(), signal: this.#ended.signal },
      );
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
      child.once("error", (error) => settle(String(error)));
      child.once("close", (code) => settle(code === 0 ? undefined : said.trim() || `exit ${code}`));
      if (child.pid !== undefined) yieldToRequests(child.pid);
    });
  }
}

function yieldToRequests(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system knows no priorities.
  }
}

/** Settings of the server are not those of the command. */
function plainEnv(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("WEFT_"));
  return Object.fromEntries(entries);
}
