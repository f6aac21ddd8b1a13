/** The three kinds of work of a load, each for a part of it: done by threads, or one after the other without any. */
import { decodeSchemaState, makeSchema } from "../graph/schema-state.ts";
import { buildBucket, type BucketJob, type BucketResult } from "./bucket-rows.ts";
import { FactParser } from "./fact-parser.ts";
import { buildLists, type ListJob, type ListResult } from "./list-rows.ts";
import type { ParsedChunk } from "./parsed-chunk.ts";

/** The same for a whole phase. */
export interface WorkPlan {
  /** The schema's row. */
  readonly schema: Uint8Array;
  readonly newUids: boolean;
}

export interface LinesJob {
  readonly bytes: Uint8Array;
  readonly file: string;
  readonly line: number;
}

export interface JsonJob {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

export type Job =
  | { readonly kind: "lines"; readonly job: LinesJob }
  | { readonly kind: "json"; readonly job: JsonJob }
  | { readonly kind: "bucket"; readonly job: BucketJob }
  | { readonly kind: "lists"; readonly job: ListJob };

export interface JobResults {
  readonly lines: ParsedChunk;
  readonly json: ParsedChunk;
  readonly bucket: BucketResult;
  readonly lists: ListResult;
}

export function makeJobRunner({
  schema: row,
  newUids,
}: WorkPlan): (job: Job) => Promise<JobResults[Job["kind"]]> {
  const state = decodeSchemaState(row);
  const schema = makeSchema(state, { acl: true });
  const parser = new FactParser({ schema, namespace: state.namespace, newUids });
  return async ({ kind, job }) => {
    switch (kind) {
      case "lines":
        return await parser.parseLines(job.bytes, job.file, job.line);
      case "json":
        return await parser.parseJson(job.text, job.file, job.line);
      case "bucket":
        return buildBucket(schema, job);
      case "lists":
        return buildLists(schema, job);
    }
  };
}
