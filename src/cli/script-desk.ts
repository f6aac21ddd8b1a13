/** The supervisor's side of `weft dev`'s resolvers: what the lambda server is to run, and what has become of it. */
import type { ScriptReport, ToChild, ToSupervisor } from "./messages.ts";

export class ScriptDesk {
  readonly #tell: (message: ToChild) => void;
  readonly #waiting = new Map<number, (report: ScriptReport) => void>();
  #last: Extract<ToChild, { kind: "reloadScript" }> | undefined;
  #lastId = 0;

  /** `tell`: the lambda server, where there is one. */
  constructor(tell: (message: ToChild) => void) {
    this.#tell = tell;
  }

  reload(script: string | undefined): Promise<ScriptReport> {
    const id = ++this.#lastId;
    this.#last = { kind: "reloadScript", id, script };
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      if (this.#last !== undefined) this.#tell(this.#last);
    });
  }

  /** A lambda server that was started anew has none yet. */
  repeat(): void {
    if (this.#last !== undefined) this.#tell(this.#last);
  }

  hear({ id, report }: Extract<ToSupervisor, { kind: "script" }>): void {
    this.#waiting.get(id)?.(report);
    this.#waiting.delete(id);
  }
}
