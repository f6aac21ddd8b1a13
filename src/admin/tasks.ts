/** Long work that an operation begins, and how far it is (`task`). */
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { FieldTable } from "./field.ts";

/** As `task` tells it. */
export interface TaskState {
  readonly kind: "Export" | "Backup" | "Compact" | "Restore";
  readonly status: "Running" | "Failed" | "Success";
  readonly updatedMs: number;
  /** Whose it is. */
  readonly namespace: number | "all";
  /** Why it failed, as its command said it. */
  readonly message?: string | undefined;
}

/** `id`: as the operation gave it, or the same number in decimal. */
export type FindTask = (id: string) => Promise<TaskState | undefined>;

export function makeTaskFields(find: FindTask | undefined): FieldTable {
  return {
    "Query.task": async ({ input }: { input: { id: string } }, { principal }) => {
      checkTaskId(input.id);
      const task = await find?.(input.id);
      if (task === undefined || !mayKnow(principal, task)) {
        throw new Fault("E_TASK", "the Alpha that served that task is not available");
      }
      const { kind, status, updatedMs, message } = task;
      return { kind, status, message, lastUpdated: new Date(updatedMs).toISOString() };
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
