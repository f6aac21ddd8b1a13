/** Threads that do the jobs of a load. Results come as they are done; who needs an order waits in it. */
import { Worker } from "node:worker_threads";
import { Fault } from "../model/fault.ts";
import { makeJobRunner, type Job, type JobResults, type WorkPlan } from "./jobs.ts";

interface Waiting {
  readonly job: Job;
  resolve(result: never): void;
  reject(error: unknown): void;
}

interface Reply {
  readonly result?: never;
  readonly failure?: {
    readonly isFault: boolean;
    readonly message: string;
    readonly stack: string | undefined;
  };
}

export interface JobPool {
  run<Kind extends Job["kind"]>(
    kind: Kind,
    job: Extract<Job, { kind: Kind }>["job"],
  ): Promise<JobResults[Kind]>;
  close(): Promise<void>;
}

/** `count` 0: the jobs are done by the caller's thread. */
export function openJobPool(plan: WorkPlan, count: number, threadBytes: number): JobPool {
  if (count === 0) {
    const run = makeJobRunner(plan);
    return {
      run: (kind, job) => run({ kind, job } as Job) as never,
      close: async () => {},
    };
  }
  return new ThreadPool(plan, count, threadBytes);
}

class ThreadPool implements JobPool {
  readonly #threads: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #queue: Waiting[] = [];
  readonly #busy = new Map<Worker, Waiting>();

  constructor(plan: WorkPlan, count: number, threadBytes: number) {
    for (let i = 0; i < count; i++) {
      const thread = new Worker(new URL("./bulk-thread.js", import.meta.url), {
        workerData: plan,
        resourceLimits: { maxOldGenerationSizeMb: Math.ceil(threadBytes / 1024 / 1024) },
      });
      thread.on("message", (reply: Reply) => this.#take(thread, reply));
      thread.on("error", (error) => this.#fail(thread, error));
      this.#threads.push(thread);
      this.#idle.push(thread);
    }
  }

  run(kind: Job["kind"], job: Job["job"]): Promise<never> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job: { kind, job } as Job, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    for (;;) {
      const thread = this.#idle.pop();
      const waiting = thread && this.#queue.shift();
      if (thread === undefined || waiting === undefined) {
        if (thread !== undefined) this.#idle.push(thread);
        return;
      }
      this.#busy.set(thread, waiting);
      thread.postMessage(waiting.job, buffersToGive(waiting.job));
    }
  }

  #take(thread: Worker, { result, failure }: Reply): void {
    const waiting = this.#busy.get(thread);
    this.#busy.delete(thread);
    this.#idle.push(thread);
    if (failure === undefined) waiting?.resolve(result as never);
    else waiting?.reject(toError(failure));
    this.#next();
  }

  #fail(thread: Worker, error: Error & { readonly code?: string }): void {
    const waiting = this.#busy.get(thread);
    this.#busy.delete(thread);
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    const text = "a thread of the load ran out of memory (--memory)";
    waiting?.reject(isMemory ? new Fault("E_STARTUP", text) : error);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}

function buffersToGive({ kind, job }: Job): ArrayBuffer[] {
  if (kind === "lines") return [job.bytes.buffer as ArrayBuffer];
  return kind === "bucket" ? [job.facts.buffer as ArrayBuffer] : [];
}

function toError({ isFault, message, stack }: NonNullable<Reply["failure"]>): Error {
  if (isFault) return new Fault("E_STARTUP", message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
