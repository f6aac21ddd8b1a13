/**
 * HTTP ⇄ the modules below. In: sockets. Out: calls of the engine and of GraphQL and administration, and their
 * bytes in the reference's envelopes (reference/messages 1, 2). Never here: parsing of a query, or JSON of an answer
 * taken apart and put together again.
 */
import type { Controls, AdminService } from "../admin/interface.ts";
import type { Acl } from "../auth/acl.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Engine } from "../engine/engine.ts";
import type { ChangeFeed } from "../feed/change-feed.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import type { Limits } from "../model/limits.ts";
import type { ProcessMemory } from "../model/process-memory.ts";
import type { Processes } from "./processes.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RequestQuotas } from "./request-quotas.ts";
import type { SeenState } from "./seen-state.ts";
import type { RequestWatch } from "./request-watch.ts";
import type { Security } from "./access.ts";
import type { AuditSink } from "./audit-sink.ts";
import type { ConsoleFiles } from "./console.ts";
import type { NodeFacts } from "./node-facts.ts";

/** Everything that a request may need; composed once per process. */
export interface ServerContext {
  readonly engine: Engine;
  readonly graphql: GraphqlService;
  readonly admin: AdminService;
  /** What was committed, for those who follow. */
  readonly changes: ChangeFeed;
  readonly limits: Limits;
  /** What all requests of this process hold together. */
  readonly memory: ProcessMemory;
  readonly rules: WriteRules;
  readonly security: Security;
  readonly keys: KeyRing;
  /** How many requests a second senders may send; undefined: any number. */
  readonly rates?: RateLimits | undefined;
  /** How many requests a second users of a namespace may send. */
  readonly requestQuotas?: RequestQuotas | undefined;
  /** Where it is written down who did what; undefined: nowhere. */
  readonly audit?: AuditSink | undefined;
  /** Users, groups and rules; undefined: off. */
  readonly acl?: Acl | undefined;
  /** GraphQL operations that one request may have as a list; undefined or 0: one request is one operation. */
  readonly graphqlBatchMax?: number | undefined;
  /** `--graphql error-details`: a refused schema is told with all its faults. */
  readonly graphqlErrorDetails?: boolean | undefined;
  readonly controls: Controls;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly transactions: TransactionOwners;
  readonly streamOwners: StreamOwners;
  readonly about: NodeFacts;
  /** Who may read the metrics: administrators, everybody, or nobody, and nothing is counted. */
  readonly metrics: "admin" | "open" | "off";
  /** The page for a browser at `/` and `/graphql`; undefined: there is none. */
  readonly console?: ConsoleFiles | undefined;
  readonly watch: RequestWatch;
  /** What the processes of this server say together. */
  readonly processes: Processes;
  /** False while the sample is being loaded: /health says so. */
  readonly isReady: () => boolean;
  /** Of one of several machines. */
  readonly seen?: SeenState | undefined;
  /** Why nothing can be written; undefined for nothing. */
  readonly storeFault?: () => string | undefined;
}

/** What of `--limit` stands before every write. */
export interface WriteRules {
  /** `mutations=disallow`: neither data nor schema changes. */
  readonly disallowMutations: boolean;
  /** `disallow-drop`: dropping everything is refused. */
  readonly disallowDrop: boolean;
}

/** Which process keeps a reserved event stream. */
interface StreamOwners {
  /** This process's own. */
  readonly slot: number;
  /** The unix socket of the process of a slot; undefined when it is this one, or there is none. */
  findProcess(slot: number): Promise<string | undefined>;
}

/** Which process holds the facts of a transaction (reference/transactions 5). */
export interface TransactionOwners {
  /**
   * The unix socket of the process that owns a start time; undefined when it is this one, when nothing is held (serial
   * 0), or when no living process owns it (the engine then answers `aborted`).
   */
  findOwner(startTs: number): Promise<string | undefined> | string | undefined;
}
