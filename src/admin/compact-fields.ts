/** The field that gives space back. It is this server's own: the reference has none. */
import { Fault } from "../model/fault.ts";
import type { FieldTable } from "./field.ts";

/** The store is compacted beside the server's own processes. */
export interface Compactions {
  /** The task's id, as `0x1a`. */
  start(): Promise<string>;
}

/** `compactions` undefined: there is no file to compact. */
export function makeCompactFields(compactions: Compactions | undefined): FieldTable {
  return {
    "Mutation.compact": async () => {
      if (compactions === undefined) throw new Fault("E_TASK", "this store has no data file");
      const taskId = await compactions.start();
      const message = `Compaction queued with ID ${taskId}`;
      return { response: { code: "Success", message }, taskId };
    },
  };
}
