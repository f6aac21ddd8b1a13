/** One request to the GraphQL service, as it comes from a connection. */
import type { Cancellation } from "../../base/cancellation.ts";
import type { ExplainOptions } from "../../engine/explain-options.ts";
import type { Principal } from "../../model/principal.ts";
import type { RequestBudget } from "../../model/request-budget.ts";

export interface GraphqlRequest {
  /**
   * `json`: body is the JSON object of reference/graphql 4.1.1. `graphql`: the document itself. `get`: fields from the
   * URL, as JSON text.
   */
  readonly kind: "json" | "graphql";
  readonly body: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly remoteAddress: string;
  readonly timeoutMs: number;
  readonly signal?: Cancellation | undefined;
  /** Made where the request entered; undefined: one is made of the two above and the server's limits. */
  readonly budget?: RequestBudget | undefined;
  /** Why data is neither read nor written now, which each root field then tells; undefined: it is. */
  readonly closed?: string | undefined;
  /** Why mutations are refused, queries are not; undefined: neither is. */
  readonly refusesMutations?: MutationRefusal | undefined;
  /** Asks how the queries are run; for those who may see all nodes, because the numbers tell of hidden ones. */
  readonly plan?: ExplainOptions | undefined;
}

/** A request whose sender is known. */
export interface IdentifiedRequest extends GraphqlRequest {
  readonly namespace: number;
  /** undefined: a server without ACL, where everybody may do everything. */
  readonly principal: Principal | undefined;
}

export interface MutationRefusal {
  readonly message: string;
  /** Of the answer that tells it. */
  readonly status: number;
}
