/** Filters, order and pages of users and groups (reference/graphql 10.2): both have nothing but a name to go by. */
import type { StoredNode } from "../auth/directory.ts";

export interface NameFilter {
  readonly name?: { readonly eq?: string | null } | null;
  readonly and?: NameFilter | null;
  readonly or?: NameFilter | null;
  readonly not?: NameFilter | null;
}

interface NameOrder {
  readonly asc?: string | null;
  readonly desc?: string | null;
}

export interface ListArguments {
  readonly filter?: NameFilter | null;
  readonly order?: NameOrder | null;
  readonly first?: number | null;
  readonly offset?: number | null;
}

/** The conditions of one object hold together; `or` is another way to pass. One that says nothing lets all pass. */
export function matchesName(filter: NameFilter | null | undefined, name: string): boolean {
  if (filter === null || filter === undefined) return true;
  const { and, or, not } = filter;
  const conditions: boolean[] = [];
  const eq = filter.name?.eq;
  if (eq !== null && eq !== undefined) conditions.push(name === eq);
  if (and !== null && and !== undefined) conditions.push(matchesName(and, name));
  if (not !== null && not !== undefined && !isEmpty(not)) conditions.push(!matchesName(not, name));
  if (or === null || or === undefined || isEmpty(or)) return conditions.every(Boolean);
  return (conditions.length > 0 && conditions.every(Boolean)) || matchesName(or, name);
}

function isEmpty(filter: NameFilter): boolean {
  return Object.values(filter).every((value) => value === null || value === undefined);
}

export function listNodes(
  nodes: readonly StoredNode[],
  { filter, order, first, offset }: ListArguments,
): readonly StoredNode[] {
  const found = nodes.filter(({ name }) => matchesName(filter, name));
  const isDescending = typeof order?.desc === "string";
  if (isDescending || typeof order?.asc === "string") {
    found.sort((a, b) => (a.name < b.name ? -1 : 1) * (isDescending ? -1 : 1));
  }
  const from = Math.max(0, offset ?? 0);
  return typeof first === "number" && first >= 0
    ? found.slice(from, from + first)
    : found.slice(from);
}
