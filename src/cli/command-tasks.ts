/**
 * Long work that `/admin` asks for. Each task is a command of its own beside the server, so that no request waits for
 * it; how far it is stands in a row of the store, where every process finds it.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { TaskState } from "../admin/tasks.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { SystemRows } from "../engine/system-rows.ts";
import { mainFile } from "./places.ts";
import { yieldToRequests } from "./yield-to-requests.ts";

interface TaskParts {
  readonly rows: SystemRows;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is to be run. */
interface CommandTask {
  readonly kind: TaskState["kind"];
  /** Whose it is. */
  readonly namespace: number | "all";
  /** Of `weft`. */
  readonly args: readonly string[];
  /** In its environment, beside the server's own. Never logged. */
  readonly env?: Readonly<Record<string, string>>;
  /** For the log: where the result lies, or what it is made of. */
  readonly place: string;
  /** Called when it is done, before that is told. */
  readonly onDone?: () => Promise<void>;
}

/** A running task says so this often; one that was silent for some times as long has ended with its process. */
const beatMs = 10_000;
const silenceMs = 60_000;
const rowPrefix = "task/";
/** In the environment of a task's command: its id. Its input ends with the process that began it. */
const idVariable = "WEFT_TASK_ID";
/** Rows of tasks that are older go when a new one begins. */
const keptMs = 30 * 24 * 3_600_000;

export class CommandTasks {
  readonly #parts: TaskParts;
  readonly #running = new Set<RunningTask>();

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  /** Its id, as `0x1a`, when it is known to all processes. */
  async start(task: CommandTask): Promise<string> {
    await this.#forgetOld();
    const id = randomBytes(6).toString("hex").replace(/^0+/, "") || "1";
    const one = new RunningTask(this.#parts, id, task);
    await one.note("Running");
    this.#running.add(one);
    void one.run().finally(() => this.#running.delete(one));
    return `0x${id}`;
  }

  /** `id`: as `start` gave it, or the same number in decimal. */
  async find(id: string): Promise<TaskState | undefined> {
    const row = await this.#parts.rows.read(rowPrefix + BigInt(id).toString(16));
    return row === undefined ? undefined : readTask(row, this.#parts.clock.nowMs());
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.end()));
  }

  async #forgetOld(): Promise<void> {
    const { rows, clock } = this.#parts;
    for (const [name, row] of await rows.list(rowPrefix)) {
      const { updatedMs } = readTask(row, clock.nowMs());
      if (clock.nowMs() - updatedMs > keptMs) await rows.write(name, undefined, "any");
    }
  }
}

function encodeTask(task: TaskState): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(task));
}

/** In a task's command: the row that says that it is done, for whoever writes it with its result. */
export function noteOfOwnTask(
  task: Pick<TaskState, "kind" | "namespace">,
  nowMs: number,
): ReadonlyMap<string, Uint8Array> {
  const id = process.env[idVariable];
  if (id === undefined) return new Map();
  return new Map([[rowPrefix + id, encodeTask({ ...task, status: "Success", updatedMs: nowMs })]]);
}

/** In a task's command: it ends with the process that began it, wherever it is. */
export function endWithTask(): void {
  if (process.env[idVariable] === undefined) return;
  process.stdin.once("close", () => process.exit(1));
  process.stdin.resume();
  process.stdin.unref();
}

function readTask(row: Uint8Array, nowMs: number): TaskState {
  const task = JSON.parse(new TextDecoder().decode(row)) as TaskState;
  const isLost = task.status === "Running" && nowMs - task.updatedMs > silenceMs;
  return isLost ? { ...task, status: "Failed" } : task;
}

class RunningTask {
  readonly #parts: TaskParts;
  readonly #id: string;
  readonly #task: CommandTask;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined = undefined;

  constructor(parts: TaskParts, id: string, task: CommandTask) {
    this.#parts = parts;
    this.#id = id;
    this.#task = task;
  }

  async note(status: TaskState["status"], message?: string): Promise<void> {
    const { rows, clock } = this.#parts;
    const { kind, namespace } = this.#task;
    const row = encodeTask({ kind, status, updatedMs: clock.nowMs(), namespace, message });
    await rows.write(rowPrefix + this.#id, row, "any");
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
    const { kind, place } = this.#task;
    const beat = setInterval(() => void this.#try("Running"), beatMs);
    let problem = await this.#command();
    clearInterval(beat);
    // A command that notes its success with its result may have been ended behind that.
    if (problem !== undefined && (await this.#hasSucceeded())) problem = undefined;
    if (problem === undefined) await this.#finish();
    const fields = { kind, task: `0x${this.#id}`, place };
    if (problem === undefined) logger.info("a task is done", fields);
    else logger.error("a task failed", { ...fields, problem });
    await this.#try(problem === undefined ? "Success" : "Failed", problem);
  }

  async #hasSucceeded(): Promise<boolean> {
    try {
      const row = await this.#parts.rows.read(rowPrefix + this.#id);
      return row !== undefined && readTask(row, 0).status === "Success";
    } catch {
      return false;
    }
  }

  async #finish(): Promise<void> {
    try {
      await this.#task.onDone?.();
    } catch (error) {
      this.#parts.logger.error("what follows a task failed", { error: String(error) });
    }
  }

  async #try(status: TaskState["status"], message?: string): Promise<void> {
    try {
      await this.note(status, message);
    } catch (error) {
      this.#parts.logger.warn("the state of a task is not stored", { error: String(error) });
    }
  }

  /** What went wrong, in words. */
  #command(): Promise<string | undefined> {
    const { args, env } = this.#task;
    return new Promise((settle) => {
      const child = spawn(process.execPath, [mainFile, ...args], {
        stdio: ["pipe", "ignore", "pipe"],
        env: { ...plainEnv(), ...env, [idVariable]: this.#id },
        signal: this.#ended.signal,
      });
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
      child.stdin.on("error", () => {});
      child.once("error", (error) => settle(String(error)));
      child.once("close", (code) => settle(code === 0 ? undefined : said.trim() || `exit ${code}`));
      if (child.pid !== undefined) yieldToRequests(child.pid);
    });
  }
}

/** Settings of the server are not those of the command. */
function plainEnv(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("WEFT_"));
  return Object.fromEntries(entries);
}
