/** The fields about requests that run. They are this server's own: the reference has none. */
import { Fault } from "../model/fault.ts";
import { succeed, type FieldTable } from "./field.ts";

/** Requests of all processes. */
export interface RequestParts {
  running(): Promise<readonly { readonly tag: string | undefined; readonly ms: number }[]>;
  /** Ends those with this id, or this tag, and gives their number. */
  cancel(id: string | undefined, tag: string | undefined): Promise<number>;
}

interface CancelInput {
  readonly id?: string | null;
  readonly tag?: string | null;
}

export function makeRequestFields(requests: RequestParts): FieldTable {
  return {
    "Query.runningRequests": async ({ tag }: { tag?: string | null }) => {
      const running = await requests.running();
      const meant = running.filter((one) => (tag ?? "") === "" || one.tag === tag);
      return meant.sort((a, b) => b.ms - a.ms);
    },
    "Mutation.cancelRequests": async ({ input }: { input: CancelInput }) => {
      const id = input.id ?? undefined;
      const tag = input.tag ?? undefined;
      if (id === undefined && tag === undefined) {
        throw new Fault("E_REQUEST_UNKNOWN", "which requests: name an id or a tag");
      }
      const count = await requests.cancel(id, tag);
      if (count === 0) {
        throw new Fault("E_REQUEST_UNKNOWN", `no request with ${describe(id, tag)} is running`);
      }
      return { ...succeed(`${count} ${count === 1 ? "request is" : "requests are"} ended`), count };
    },
  };
}

function describe(id: string | undefined, tag: string | undefined): string {
  return id === undefined ? `the tag ${tag ?? ""}` : `the id ${id}`;
}
