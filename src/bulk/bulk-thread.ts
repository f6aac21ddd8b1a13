/** A thread of a load: jobs in, results out, one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { Fault } from "../model/fault.ts";
import { makeJobRunner, type Job, type WorkPlan } from "./jobs.ts";
import { buffersOf, type ParsedChunk } from "./parsed-chunk.ts";

const run = makeJobRunner(workerData as WorkPlan);

parentPort?.on("message", (job: Job) => {
  run(job).then(
    (result) => {
      const isChunk = job.kind === "lines" || job.kind === "json";
      parentPort?.postMessage({ result }, isChunk ? buffersOf(result as ParsedChunk) : []);
    },
    (error: unknown) => {
      const isFault = error instanceof Fault;
      const message = error instanceof Error ? error.message : String(error);
      const stack = error instanceof Error ? error.stack : undefined;
      parentPort?.postMessage({ failure: { isFault, message, stack } });
    },
  );
});
