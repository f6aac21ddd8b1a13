/**
 * Schemas are checked for whoever may use data (`/admin/schema/validate` asks for no more), and a large one takes seconds
 * that cannot be cut into slices: those are checked in a thread that lives for one of them, one after the other.
 */
import { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../model/fault.ts";
import { nameLimit } from "../../model/limits.ts";
import type { Outgoing } from "../resolve/request-call.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import { findRemoteProblems } from "./remote-check.ts";
import { printProblem } from "./schema-compile.ts";
import type { SchemaCheckOptions, SchemaVerdict } from "./schema-verdict.ts";
import { judgeSchema } from "./schema-verdict.ts";

/** Characters of a schema that is checked at once, in some milliseconds; a thread takes 100 ms to begin. */
const smallSchema = 4 * 1024;
/** Megabytes that a check may take. */
const threadMemoryMax = 512;

interface SchemaChecksOptions extends SchemaCheckOptions {
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  /** Milliseconds from the request to its answer; 0 for no limit. */
  readonly timeoutMs: number;
}

export class SchemaChecks {
  readonly #options: SchemaChecksOptions;
  /** When the checks so far are over. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(options: SchemaChecksOptions) {
    this.#options = options;
  }

  /**
   * `asksOthers`: the GraphQL services that it names are asked for theirs. Throws Fault E_DEADLINE, and E_LIMIT for one
   * that takes too much memory.
   */
  async check(sdl: string, asksOthers: boolean): Promise<SchemaVerdict> {
    const verdict = await this.#judge(sdl);
    const { remote, warnings } = verdict;
    if (remote === undefined) return verdict;
    if (!asksOthers) return { ...verdict, warnings: [...warnings, notAsked] };
    const problems = await findRemoteProblems(remote, this.#options.outgoing);
    if (problems.length === 0) return verdict;
    return { problems: problems.map(printProblem), warnings: [] };
  }

  /** All that is wrong, with places; nobody else is asked. Throws as `check`. */
  async findProblems(sdl: string): Promise<readonly SchemaProblem[]> {
    const { placed = [], problems } = await this.#judge(sdl, true);
    if (placed.length > 0) return placed;
    return problems.map((message) => ({ message: message.trim(), at: undefined }));
  }

  #judge(sdl: string, withPlaces = false): Promise<SchemaVerdict> {
    const { clock, timeoutMs, hasLambda, allowsRuleGaps } = this.#options;
    const options = { hasLambda, allowsRuleGaps, withPlaces };
    if (sdl.length <= smallSchema) return Promise.resolve(judgeSchema(sdl, options));
    const endMs = timeoutMs === 0 ? Infinity : clock.tickMs() + timeoutMs;
    const checked = this.#before.then(() =>
      checkInThread(sdl, options, Math.max(0, endMs - clock.tickMs())),
    );
    this.#before = checked.catch(() => undefined);
    return checked;
  }
}

const notAsked =
  "the GraphQL services that @custom(http:) names were not asked for their schemas: whoever may administer has them asked";

function checkInThread(
  sdl: string,
  options: SchemaCheckOptions,
  leftMs: number,
): Promise<SchemaVerdict> {
  return new Promise((resolve, reject) => {
    if (leftMs === 0) return reject(overdue());
    const thread = new Worker(new URL("./schema-check-thread.js", import.meta.url), {
      workerData: { sdl, options },
      resourceLimits: { maxOldGenerationSizeMb: threadMemoryMax },
    });
    const timer =
      leftMs === Infinity
        ? undefined
        : setTimeout(() => {
            reject(overdue());
            void thread.terminate();
          }, leftMs);
    thread.once("message", resolve);
    thread.once("error", (error: Error & { readonly code?: string }) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      const text = `the check of the schema takes more than ${threadMemoryMax} MB`;
      reject(isMemory ? new Fault("E_LIMIT", text) : error);
    });
    thread.once("exit", () => {
      clearTimeout(timer);
      // Without effect where there was an answer.
      reject(new Error("the check of a schema has ended without an answer"));
    });
  });
}

function overdue(): Fault {
  return new Fault("E_DEADLINE", nameLimit("query-timeout", "context deadline exceeded"));
}
