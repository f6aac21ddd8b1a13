/**
 * Who sends a request, as the interfaces have established it (reference/graphql 11): the namespace, and what of the
 * database the sender may reach. The rules of `@auth` are another thing: they judge nodes, by the token of the
 * application.
 */

/** What an ACL user may do with each predicate (reference/graphql 11.3). */
export interface PredicateAccess {
  /** Equal exactly for equal rights: a part of the key of cached plans and of shared subscriptions. */
  readonly key: string;
  mayRead(predicate: string): boolean;
  mayWrite(predicate: string): boolean;
  /** Changes of its definition, and dropping it. */
  mayModify(predicate: string): boolean;
}

/**
 * The predicate of the GraphQL schema's text, which may hold a secret: the key that an application's tokens are signed
 * with. No right to everything includes it.
 */
export const secretPredicate = "dgraph.graphql.schema";

export interface Principal {
  readonly namespace: number;
  /** The user that has logged in; undefined where ACL is off. */
  readonly user: string | undefined;
  /** Names of the user's groups, as they were when it logged in. */
  readonly groups?: readonly string[];
  /** Whether the user is a guardian of the namespace; true where ACL is off. */
  readonly isGuardian: boolean;
  /** Undefined: everything. */
  readonly access: PredicateAccess | undefined;
  /** Why the sender is not believed, in the words of the answer: nothing of the database is for such a one. */
  readonly refusal?: string | undefined;
  /** When the right ends, in milliseconds since 1970; Infinity for never. */
  readonly expiryMs: number;
}

/** Of servers without ACL. */
export const anyPrincipal: Principal = {
  namespace: 0,
  user: undefined,
  isGuardian: true,
  access: undefined,
  expiryMs: Infinity,
};

/** Everything but the secret: for senders that may not administer, on servers without ACL. */
const withoutSecret: PredicateAccess = {
  key: "without secret",
  mayRead: (predicate) => predicate !== secretPredicate,
  mayWrite: () => true,
  mayModify: () => true,
};

/** Of servers without ACL, for a sender that may not administer. */
export const clientPrincipal: Principal = { ...anyPrincipal, access: withoutSecret };

const noAccess: PredicateAccess = {
  key: "nothing",
  mayRead: () => false,
  mayWrite: () => false,
  mayModify: () => false,
};

/** Who has shown nothing, or something that is not believed, where ACL is on. */
export function makeStranger(refusal: string): Principal {
  return {
    namespace: 0,
    user: undefined,
    isGuardian: false,
    access: noAccess,
    refusal,
    expiryMs: Infinity,
  };
}
