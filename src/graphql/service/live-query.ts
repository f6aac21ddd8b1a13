/** One distinct subscription of a process, with everybody who waits for its answers. */
import { decodeUtf8, encodeUtf8, equalBytes, startsWithBytes } from "../../base/bytes.ts";
import type { Reader } from "../../graph/reader.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import type { ResponseError } from "../operation/errors.ts";
import type { LiveAnswer } from "./handle.ts";
import type { LiveRequest } from "./handle-prepare.ts";
import type { GraphqlRequest } from "../operation/request.ts";
import type { Subscriber } from "./service.ts";

/** An answer as it is pushed. */
interface Answer {
  /** Without extensions: what decides whether anything has changed. */
  readonly body: Uint8Array;
  /** With them. */
  readonly bytes: Uint8Array;
}

/** One subscriber of a query. */
export interface SubscriberHandle {
  readonly subscriber: Subscriber;
  /** By which it is known. */
  readonly headers: GraphqlRequest["headers"];
  /** It is told nothing older: what was committed before it came. */
  readonly fromTs: number;
  readonly expiryMs: number;
  /** The answer that it has; undefined before the first. */
  sent: Answer | undefined;
  /** The first answer is there, or will not come: called once. */
  readonly settle: (outcome: "open" | readonly ResponseError[]) => void;
  timer: NodeJS.Timeout | undefined;
}

export class LiveQuery {
  readonly key: string;
  readonly work: LiveRequest;
  readonly handles = new Set<SubscriberHandle>();
  /** The newest schema that it is known to hold by; `work` stays as it was prepared. */
  schema: CompiledSchema;
  state: "idle" | "waiting" | "running" = "idle";
  /** What concerns it was committed since its run began. */
  isStale = false;
  /** The commit that the run under way reads at. */
  runTs = -1;
  /** Up to this commit its answer is right; −1 before the first. */
  rightTs = -1;
  answer: Answer | undefined = undefined;
  /** Of the schema that the last run was planned with. */
  #schemaVersion = -1;
  #storageId = -1;
  #reads: ReadonlySet<number> | undefined = undefined;

  constructor(key: string, work: LiveRequest) {
    this.key = key;
    this.work = work;
    this.schema = work.schema;
  }

  /** Whether a change of these predicates (undefined: of anything) up to `reader` may concern its answer. */
  isConcerned(reader: Reader, changed: ReadonlySet<number> | undefined): boolean {
    const { version, storageId } = reader.schema;
    if (version !== this.#schemaVersion || storageId !== this.#storageId) return true;
    const reads = this.#reads;
    if (changed === undefined || reads === undefined) return true;
    const [few, many] = changed.size < reads.size ? [changed, reads] : [reads, changed];
    for (const id of few) if (many.has(id)) return true;
    return false;
  }

  /** Keeps what a run over `reader` gave; an answer that is equal stays the one that it was. */
  take(reader: Reader, { body, extensions, reads }: LiveAnswer): void {
    this.#schemaVersion = reader.schema.version;
    this.#storageId = reader.schema.storageId;
    this.#reads = reads;
    this.rightTs = Math.max(this.rightTs, reader.ts);
    if (this.answer !== undefined && equalBytes(this.answer.body, body)) return;
    this.answer = { body, bytes: withExtensions(body, extensions) };
  }
}

/** `{"data":…}` → `{"data":…,"extensions":…}` */
function withExtensions(body: Uint8Array, extensions: string | undefined): Uint8Array {
  if (extensions === undefined) return body;
  const tail = encodeUtf8(`,"extensions":${extensions}}`);
  const bytes = new Uint8Array(body.length - 1 + tail.length);
  bytes.set(body.subarray(0, body.length - 1));
  bytes.set(tail, body.length - 1);
  return bytes;
}

const errorsHead = encodeUtf8('{"errors":');

/** The errors of an answer, which stand in front of its data; undefined for none. */
export function errorsOf({ body }: Answer): readonly ResponseError[] | undefined {
  if (!startsWithBytes(body, errorsHead)) return undefined;
  return (JSON.parse(decodeUtf8(body)) as { readonly errors: readonly ResponseError[] }).errors;
}
