/** `export`, and how far it is (`task`). */
import { fileURLToPath } from "node:url";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { FieldTable } from "./field.ts";

export interface ExportWish {
  readonly format: "rdf" | "json";
  readonly namespace: number | "all";
  /** A folder below the server's own for exports; "" for that itself. */
  readonly destination: string;
}

/** As `task` tells it. */
export interface TaskState {
  readonly kind: "Export";
  readonly status: "Running" | "Failed" | "Success";
  readonly updatedMs: number;
  /** Whose it is. */
  readonly namespace: number | "all";
}

/** Exports run beside the server's own processes. Every process knows of all. */
export interface ExportTasks {
  /** The task's id, as `0x1a`. Fault E_TASK for a destination that cannot be. */
  start(wish: ExportWish): Promise<string>;
  /** `id`: as `start` gave it, or the same number in decimal. */
  find(id: string): Promise<TaskState | undefined>;
}

interface ExportInput {
  readonly format?: string | null;
  readonly namespace?: number | null;
  readonly destination?: string | null;
}

export function makeExportFields(tasks: ExportTasks | undefined): FieldTable {
  return {
    "Query.task": async ({ input }: { input: { id: string } }, { principal }) => {
      checkTaskId(input.id);
      const task = await tasks?.find(input.id);
      if (task === undefined || !mayKnow(principal, task)) {
        throw new Fault("E_TASK", "the Alpha that served that task is not available");
      }
      const { kind, status, updatedMs } = task;
      return { kind, status, lastUpdated: new Date(updatedMs).toISOString() };
    },
    "Mutation.export": async ({ input }: { input: ExportInput }, { principal }) => {
      if (tasks === undefined) throw new Fault("E_NOT_YET", "export is not available yet");
      const format = readFormat(input.format);
      const destination = readDestination(input.destination);
      const namespace = chooseNamespace(principal, input.namespace);
      const taskId = await tasks.start({ format, namespace, destination });
      const message = `Export queued with ID ${taskId}`;
      return { response: { code: "Success", message }, taskId };
    },
  };
}

function mayKnow({ namespace }: Principal, task: TaskState): boolean {
  return namespace === 0 || namespace === task.namespace;
}

function checkTaskId(id: string): void {
  if (id === "") throw new Fault("E_TASK", "task ID is missing");
  if (!/^0[xX][\da-fA-F]{1,16}$/.test(id) && !/^\d{1,19}$/.test(id)) {
    const message = `invalid task ID: ${id}: strconv.ParseUint: parsing "${id}": invalid syntax`;
    throw new Fault("E_TASK", message);
  }
}

function readFormat(format: string | null | undefined): ExportWish["format"] {
  if (format === undefined || format === null || format === "") return "rdf";
  if (format === "rdf" || format === "json") return format;
  throw new Fault("E_TASK", `invalid export format: ${format}`);
}

function readDestination(destination: string | null | undefined): string {
  const text = destination ?? "";
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? [];
  if (scheme === undefined) return text;
  if (scheme.toLowerCase() === "file") return pathOfUrl(text);
  throw new Fault("E_NOT_YET", `an export to ${scheme} is not available yet: name a directory`);
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new Fault("E_TASK", `invalid destination: ${url}`);
  }
}

/** The own one; guardians of namespace 0 choose, and −1 are all. */
function chooseNamespace(
  { namespace }: Principal,
  wish: number | null | undefined,
): ExportWish["namespace"] {
  if (wish === undefined || wish === null || namespace !== 0) return namespace;
  return wish < 0 ? "all" : wish;
}
