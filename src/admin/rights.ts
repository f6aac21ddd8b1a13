/**
 * THE TABLE OF RIGHTS, second part: who may use each field of /admin (reference/graphql 10.3), asked before the field's
 * work. The route has let the sender in already (`http/rights.ts`); these rows say what a login is needed for where ACL
 * is on. A field of the schema without a row is refused.
 */
import { noToken } from "../auth/acl.ts";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";

/**
 * anyone: no login. user: the field itself shows a user what is theirs, a guardian everything of the namespace.
 * guardian: of the principal's namespace. superadmin: a guardian of namespace 0, to whom the server belongs. Where ACL is
 * off nobody logs in, and everyone whom the route lets in is the superadmin. namespaceAdmin: the superadmin, and only
 * where ACL is on.
 */
type FieldRight = "anyone" | "user" | "guardian" | "superadmin" | "namespaceAdmin";

export const fieldRights: Readonly<Record<string, FieldRight>> = {
  "Query.getGQLSchema": "guardian",
  "Query.schemaProblems": "guardian",
  "Query.schemaPlan": "guardian",
  "Query.migrations": "guardian",
  "Query.health": "guardian",
  "Query.state": "guardian",
  "Query.config": "superadmin",
  "Query.task": "guardian",
  "Query.getUser": "user",
  "Query.getGroup": "user",
  "Query.getCurrentUser": "user",
  "Query.queryUser": "user",
  "Query.queryGroup": "user",
  "Query.listBackups": "superadmin",
  "Query.listKeys": "superadmin",
  "Query.runningRequests": "superadmin",
  "Query.cluster": "superadmin",
  "Query.namespaces": "namespaceAdmin",
  "Query.currentNamespace": "guardian",
  "Mutation.updateGQLSchema": "guardian",
  "Mutation.reportMigration": "guardian",
  "Mutation.applyGQLSchema": "guardian",
  "Mutation.export": "guardian",
  "Mutation.draining": "superadmin",
  "Mutation.shutdown": "superadmin",
  "Mutation.config": "superadmin",
  "Mutation.removeNode": "superadmin",
  "Mutation.moveTablet": "superadmin",
  "Mutation.assign": "superadmin",
  "Mutation.backup": "superadmin",
  "Mutation.compact": "superadmin",
  "Mutation.restore": "superadmin",
  "Mutation.restoreTenant": "superadmin",
  "Mutation.resignLead": "superadmin",
  "Mutation.finalizeCluster": "superadmin",
  "Mutation.evictMachine": "superadmin",
  "Mutation.login": "anyone",
  "Mutation.addUser": "user",
  "Mutation.addGroup": "user",
  "Mutation.updateUser": "user",
  "Mutation.updateGroup": "user",
  "Mutation.deleteGroup": "user",
  "Mutation.deleteUser": "user",
  "Mutation.addNamespace": "namespaceAdmin",
  "Mutation.deleteNamespace": "namespaceAdmin",
  "Mutation.setNamespaceQuota": "namespaceAdmin",
  "Mutation.dropNamespaceData": "namespaceAdmin",
  "Mutation.resetPassword": "namespaceAdmin",
  "Mutation.revokeTokens": "guardian",
  "Mutation.createKey": "superadmin",
  "Mutation.revokeKey": "superadmin",
  "Mutation.cancelRequests": "superadmin",
};

/** Fields whose refusals the reference tells with another word in front. */
const wrapped = new Set(["Query.health", "Query.state"]);

interface FieldAsking {
  readonly principal: Principal;
  /** Whether users log in. */
  readonly acl: boolean;
}

/** Undefined when the principal may use the field, as `Query.health`; else what to answer. */
export function findFieldRefusal(field: string, asking: FieldAsking): Fault | undefined {
  const right = fieldRights[field];
  if (right === undefined) return refuse(`${field} is not open to anyone`);
  const message = explainRefusal(right, asking);
  if (message === undefined) return undefined;
  return refuse(wrapped.has(field) ? `Error: ${message}` : message);
}

/** For what stands outside of /admin and needs the same: /state, /admin/schema, … */
export function explainRefusal(right: FieldRight, asking: FieldAsking): string | undefined {
  const { principal, acl } = asking;
  switch (right) {
    case "anyone":
    case "user":
      return undefined;
    case "guardian":
      return acl ? explainGuardian(principal) : undefined;
    case "superadmin":
      return acl ? explainSuperadmin(principal) : undefined;
    case "namespaceAdmin":
      return acl ? explainSuperadmin(principal) : "Enable ACL to use this mutation";
  }
}

const denied = "rpc error: code = PermissionDenied desc = ";

function explainGuardian(principal: Principal): string | undefined {
  if (principal.refusal === noToken) return denied + noToken;
  if (principal.refusal !== undefined) {
    return `rpc error: code = Unauthenticated desc = ${principal.refusal}`;
  }
  return principal.isGuardian ? undefined : denied + noGuardian(principal);
}

function explainSuperadmin(principal: Principal): string | undefined {
  const { namespace, isGuardian } = principal;
  if (principal.refusal !== undefined) {
    return `Authorize guardian of the galaxy, extracting jwt token, error:: ${explainNamespaceRefusal(principal)}`;
  }
  if (namespace !== 0) return `${denied}Only superadmin is allowed to do this operation`;
  if (isGuardian) return undefined;
  return `${denied}AuthSuperAdmin: failed to authorize guardians. ${noGuardian(principal)}`;
}

/** What who is not believed is told where only the namespace of the token counts. */
export function explainNamespaceRefusal({ refusal = "" }: Principal): string {
  return `extracting namespace from JWT${refusal === noToken ? " " : ": "}${refusal}`;
}

function noGuardian({ user }: Principal): string {
  return `Only guardians are allowed access. User '${user ?? ""}' is not a member of guardians group.`;
}

function refuse(message: string): Fault {
  return new Fault("E_UNAUTHORIZED", message);
}
