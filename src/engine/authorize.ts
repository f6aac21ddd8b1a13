/**
 * What the sender of a request may change (reference/graphql 11.3, reference/dql 1.10). Reading needs no check here: a
 * reader for its eyes knows no more than it may read (graph/restrict.ts).
 */
import { isReservedName, reservedNameSentence, reservedPredicates } from "../graph/reserved.ts";
import { Fault } from "../model/fault.ts";
import type { FaultCode } from "../model/fault.ts";
import type { Mutation } from "../model/nquad.ts";
import type { PredicateAccess, Principal } from "../model/principal.ts";
import { parseSchemaText } from "../graph/schema-parse.ts";
import type { Schema } from "../graph/schema.ts";
import type { AlterOperation } from "./engine.ts";

const denied = "rpc error: code = PermissionDenied desc = ";

/** What a sender is told that is not believed. */
export function strangerFault(principal: Principal, code: FaultCode = "E_PERMISSION"): Fault {
  return new Fault(code, `rpc error: code = Unauthenticated desc = ${principal.refusal ?? ""}`);
}

/** Every predicate that the facts name, conditions or not. `S * *` names none: it takes what may be taken. */
export function checkWrites(
  mutations: readonly Pick<Mutation, "set" | "delete">[],
  access: PredicateAccess | undefined,
): void {
  if (access === undefined) return;
  const refused = new Set<string>();
  for (const { set, delete: deletes } of mutations) {
    for (const facts of [set, deletes]) {
      for (const { predicate } of facts) {
        if (predicate === "*" || access.mayWrite(predicate)) continue;
        if (isReservedName(predicate) && !reservedNames.has(predicate)) {
          throw new Fault("E_MUTATION", reservedNameSentence("store", "predicate", predicate));
        }
        refused.add(predicate);
      }
    }
  }
  if (refused.size > 0) throw refuseWrites(refused);
}

/** What a sender is told that may not write them. */
export function refuseWrites(predicates: Iterable<string>): Fault {
  return refuse("E_PERMISSION", "mutate", new Set(predicates));
}

const reservedNames: ReadonlySet<string> = new Set(
  reservedPredicates({ acl: true }).map(({ definition }) => definition.name),
);

/** What a schema text or a drop is about. */
interface Alteration {
  readonly predicates: readonly { readonly name: string }[];
  readonly types: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

/**
 * Throws where the sender may not. A type is changed, or dropped, by whoever may modify each of its fields, as it is and
 * as it shall be. Dropping the data is for guardians, dropping everything for those of namespace 0.
 */
export function checkAlter(
  principal: Principal | undefined,
  operation: AlterOperation,
  alteration: Alteration,
  schema: Schema,
): void {
  if (principal === undefined) return;
  if (principal.refusal !== undefined) throw strangerFault(principal, "E_ALTER");
  const { access } = principal;
  if (operation.kind === "dropAll") checkDropAll(principal);
  if (operation.kind === "dropData" && !principal.isGuardian) {
    throw new Fault("E_ALTER", denied + onlyGuardians(principal));
  }
  if (access === undefined) return;
  const names = new Set(alteration.predicates.map(({ name }) => name));
  for (const { name, fields } of alteration.types) {
    for (const field of [...fields, ...(schema.type(name)?.fields ?? [])]) names.add(field);
  }
  const refused = new Set([...names].filter((name) => !access.mayModify(name)));
  if (refused.size > 0) throw refuse("E_ALTER", "alter", refused);
}

function checkDropAll(principal: Principal): void {
  if (principal.isGuardian && principal.namespace === 0) return;
  const reason = principal.isGuardian
    ? "Only superadmin is allowed to do this operation"
    : `AuthSuperAdmin: failed to authorize guardians. ${onlyGuardians(principal)}`;
  throw new Fault(
    "E_ALTER",
    `${denied}Drop all can only be called by the guardian of the galaxy. ${reason}`,
  );
}

/** The reference's words to a user who is no guardian. */
function onlyGuardians({ user }: Principal): string {
  return `Only guardians are allowed access. User '${user ?? ""}' is not a member of guardians group.`;
}

function refuse(code: FaultCode, verb: "mutate" | "alter", names: ReadonlySet<string>): Fault {
  const list = [...names].map((name) => `${name} `).join("");
  return new Fault(code, `${denied}unauthorized to ${verb} following predicates: ${list}\n`);
}

/** What an operation changes, by name. Throws E_SCHEMA_SYNTAX. */
export function describeAlter(operation: AlterOperation, namespace: number): Alteration {
  switch (operation.kind) {
    case "schema":
      return parseSchemaText(operation.text, namespace);
    case "dropPredicate":
      return { predicates: [{ name: operation.predicate }], types: [] };
    case "dropType":
      return { predicates: [], types: [{ name: operation.type, fields: [] }] };
    case "dropAll":
    case "dropData":
      return { predicates: [], types: [] };
  }
}
