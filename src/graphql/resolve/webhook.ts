/**
 * `@lambdaOnMutate` (reference/graphql 7.3): when a root mutation has committed, the lambda server is told. Nobody waits for
 * it, and nothing is repeated: what does not arrive is in the log.
 */
import type { LambdaClient } from "../../lambda/client.ts";
import { webhookBody } from "../../lambda/wire.ts";
import type { ResolverCaller } from "../../lambda/wire.ts";
import { printUid } from "../../model/uid.ts";
import type { NodeType, RootField } from "../schema/compiled-schema.ts";
import type { RequestValues } from "../operation/arguments.ts";
import { isJsonObject } from "../operation/json.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { argumentVariables, printSorted } from "./request-body.ts";

/** Of a process; one for all its mutations. */
interface WebhookOptions {
  readonly client: LambdaClient;
  /** Told of a call that failed, or was not made. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What a mutation did. */
interface MutationEvent {
  readonly namespace: number;
  readonly caller: ResolverCaller;
  /** The schema has an Authorization line. */
  readonly hasAuthorization: boolean;
  readonly root: RootField;
  readonly field: SelectedField;
  readonly values: RequestValues;
  readonly commitTs: number;
  /** The nodes of the root's type. */
  readonly uids: readonly number[];
}

/** More would pile up behind a lambda server that does not answer. */
const pendingMax = 1000;
const pendingBytesMax = 64 * 1024 * 1024;
const timeoutMs = 60_000;

export class Webhooks {
  readonly #options: WebhookOptions;
  #pending = 0;
  #bytes = 0;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** Returns at once. */
  tell(event: MutationEvent): void {
    const { root, namespace } = event;
    const type = root.of;
    if (type === undefined || !isWatched(type, root)) return;
    const { client, warn } = this.#options;
    const fields = { namespace, type: type.name, operation: root.kind };
    const body = printEvent(type, event);
    if (this.#pending >= pendingMax || this.#bytes + body.length > pendingBytesMax) {
      warn("a webhook was not called: too many are waiting", fields);
      return;
    }
    this.#pending++;
    this.#bytes += body.length;
    const done = client.call(namespace, body, timeoutMs).then((reply) => {
      this.#pending--;
      this.#bytes -= body.length;
      if ("unreachable" in reply) {
        warn("a webhook could not be called", { ...fields, why: reply.unreachable });
      } else if (reply.status < 200 || reply.status > 299) {
        warn("a webhook answered with an error", { ...fields, status: reply.status });
      }
    });
    void done;
  }
}

function isWatched({ node }: NodeType, { kind }: RootField): boolean {
  const isWrite = kind === "add" || kind === "update" || kind === "delete";
  return isWrite && node.watched?.has(kind) === true;
}

function printEvent(
  type: NodeType,
  { caller, hasAuthorization, root, field, values, commitTs, uids }: MutationEvent,
): string {
  const input = argumentVariables(field.node, root.arguments, values).get("input") ?? null;
  const patches = isJsonObject(input) ? input : {};
  // The reference tells of no nodes by null.
  const nodes = uids.length === 0 ? "null" : JSON.stringify(uids.map(printUid));
  const details = {
    add: `,"input":${printSorted(input)}`,
    update: `,"setPatch":${printSorted(patches["set"] ?? null)},"removePatch":${printSorted(patches["remove"] ?? null)}`,
  };
  const detail = root.kind === "add" || root.kind === "update" ? details[root.kind] : "";
  const event = `{"__typename":${JSON.stringify(type.name)},"operation":"${root.kind}","commitTs":${commitTs},"${root.kind}":{"rootUIDs":${nodes}${detail}}}`;
  return webhookBody(event, caller, hasAuthorization);
}
