/** Rows that were refused, in a file of the input's format: corrected, it can be imported itself. */
import { appendFileSync, existsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import type { RowFault } from "./read-row.ts";

export class RejectedRows {
  readonly path: string;
  #bytes: number;

  /** `bytes`: of an import that was ended; what it wrote behind them is written again. */
  constructor(path: string, bytes: number) {
    this.path = path;
    this.#bytes = bytes;
    if (!existsSync(path)) this.#bytes = 0;
    else if (bytes === 0) writeFileSync(path, "");
    else truncateSync(path, Math.min(bytes, statSync(path).size));
  }

  /** Of the file so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add(faults: readonly RowFault[]): void {
    if (faults.length === 0) return;
    let text = "";
    for (const { row, reason } of faults) {
      const { header, line } = row.printRejected(reason);
      if (this.#bytes === 0 && text === "" && header !== "") text = `${header}\n`;
      text += `${line}\n`;
    }
    appendFileSync(this.path, text, { mode: 0o600 });
    this.#bytes = statSync(this.path).size;
  }
}
