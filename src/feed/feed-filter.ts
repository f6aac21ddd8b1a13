/** What of the commits a follower is told. */

export interface FeedFilter {
  /** Those that the follower has a right to, and asked for. */
  readonly namespaces: ReadonlySet<number> | "all";
  /** Names; empty: every predicate. */
  readonly predicates: ReadonlySet<string>;
  /** Names of types: facts of nodes that have one of them before or after the commit. Empty: all nodes. */
  readonly types: ReadonlySet<string>;
}

export function seesNamespace({ namespaces }: FeedFilter, namespace: number): boolean {
  return namespaces === "all" || namespaces.has(namespace);
}

export function seesPredicate({ predicates }: FeedFilter, name: string): boolean {
  return predicates.size === 0 || predicates.has(name);
}
