/** Up to where a sink was told, in a file that is exchanged as a whole. */
import { open, readFile, rename } from "node:fs/promises";
import { Fault } from "../model/fault.ts";

export interface SinkState {
  /** undefined: nothing was told yet. */
  readonly position?: string | undefined;
  /** Of the sink, at that position (`Sink.mark`). */
  readonly mark?: number | undefined;
}

/** undefined where there is no such file. Fault E_STARTUP for one that is something else. */
export async function readState(file: string): Promise<SinkState | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Fault("E_STARTUP", `--state: ${file} cannot be read`, { cause: error });
  }
  try {
    const { position, mark } = (JSON.parse(text) ?? {}) as Partial<SinkState>;
    const isPosition = position === undefined || typeof position === "string";
    const isMark = mark === undefined || typeof mark === "number";
    const hasOne = position !== undefined || mark !== undefined;
    if (isPosition && isMark && hasOne) return { position, mark };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Fault(
    "E_STARTUP",
    `--state: ${file} is no state of weft changes; remove it to begin anew`,
  );
}

/** Durable when it resolves; a stop on the way leaves the state of before. */
export async function writeState(file: string, state: SinkState): Promise<void> {
  const handle = await open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(state)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}
