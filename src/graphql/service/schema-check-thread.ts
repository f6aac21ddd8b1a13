/** The thread that checks one large schema (`schema-check.ts`), and ends. */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { judgeSchema, type SchemaCheckOptions } from "./schema-verdict.ts";

// On Linux 0 is the thread that asks: requests come first. On other systems it would be the whole process.
if (process.platform === "linux") setPriority(0, 10);

const { sdl, options } = workerData as {
  readonly sdl: string;
  readonly options: SchemaCheckOptions;
};
parentPort?.postMessage(judgeSchema(sdl, options));
