/** Two fields may share a predicate only where they agree on it (reference/graphql 2.4). */
import { baseName, type SchemaDraft, type DraftType, type SchemaProblem } from "./sdl-draft.ts";
import type { SdlPosition } from "./sdl-position.ts";
import { predicateOf, secretInterface, secretOf } from "./graph-names.ts";

interface Use {
  readonly field: string;
  readonly type: string;
  /** Without nullability: `[String]`. */
  readonly valueType: string;
  readonly at: SdlPosition;
  readonly isXid: boolean;
  readonly isSecret: boolean;
}

/** Interfaces first, so that a type can be compared with what it implements. */
export function checkPredicates(draft: SchemaDraft): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const uses = new Map<string, Use>();
  const byInterface = new Map<string, Set<string>>();
  const interfaces = draft.user.filter((type) => type.kind === "interface");
  const objects = draft.user.filter((type) => type.kind === "object");
  for (const type of [...interfaces, ...objects]) {
    const own = new Set<string>();
    if (type.kind === "interface") byInterface.set(type.name, own);
    else checkInterfaces(type, byInterface, problems);
    for (const field of type.fields) {
      if (baseName(field.type) === "ID" || field.inheritedFrom !== undefined) continue;
      const predicate = predicateOf(draft, type, field);
      if (predicate.isReverse) continue;
      const key = [predicate.name, ...predicate.languages].join("@");
      own.add(key);
      const name = baseName(field.type);
      const use: Use = {
        field: field.name,
        type: type.name,
        valueType: field.type.kind === "list" ? `[${name}]` : name,
        at: field.at,
        isXid: field.directives.id !== undefined,
        isSecret: false,
      };
      const earlier = uses.get(key);
      if (earlier === undefined) uses.set(key, use);
      else problems.push(...compareUses(earlier, use), ...compareParents(type, earlier, use));
    }
    checkSecret(draft, type, uses, problems);
  }
  return problems;
}

function compareUses(earlier: Use, use: Use): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  if (earlier.isSecret) problems.push(refuseSecret(earlier, use));
  else if (earlier.valueType !== use.valueType)
    problems.push({
      message:
        `Type ${use.type}; Field ${use.field}: has type ${use.valueType}, which is different to ` +
        `type ${earlier.type}; field ${earlier.field}, which has the same @dgraph directive but type ` +
        `${earlier.valueType}. These fields must have either the same GraphQL types, or use different Dgraph predicates.`,
      at: use.at,
    });
  if (earlier.isXid !== use.isXid) {
    const [with_, without] = earlier.isXid ? [earlier, use] : [use, earlier];
    problems.push({
      message:
        `Type ${without.type}; Field ${without.field}: doesn't have @id directive, which conflicts with ` +
        `type ${with_.type}; field ${with_.field}, which has the same @dgraph directive along with @id ` +
        "directive. Both these fields must either use @id directive, or use different Dgraph predicates.",
      at: without.at,
    });
  }
  return problems;
}

function compareParents(type: DraftType, earlier: Use, use: Use): SchemaProblem[] {
  if (type.kind !== "object" || !type.interfaces.includes(earlier.type)) return [];
  return [
    {
      message:
        `Type ${use.type}; Field ${use.field}: has the @dgraph directive, which conflicts with interface ` +
        `${earlier.type}; field ${earlier.field}, that this type implements. These fields must use different Dgraph predicates.`,
      at: use.at,
    },
  ];
}

function refuseSecret(secret: Use, use: Use): SchemaProblem {
  return {
    message:
      `Type ${use.type}; Field ${use.field}: has the @dgraph predicate, but that conflicts with type ` +
      `${secret.type} @secret directive on the same predicate. @secret predicates are stored encrypted ` +
      `and so the same predicate can't be used as a ${use.valueType}.`,
    at: use.at,
  };
}

/** No predicate in two of a type's interfaces. */
function checkInterfaces(
  type: DraftType,
  byInterface: ReadonlyMap<string, ReadonlySet<string>>,
  problems: SchemaProblem[],
): void {
  const holders = new Map<string, string[]>();
  for (const name of type.interfaces)
    for (const predicate of byInterface.get(name) ?? []) {
      const names = holders.get(predicate);
      if (names === undefined) holders.set(predicate, [name]);
      else if (!names.includes(name)) names.push(name);
    }
  for (const [predicate, names] of holders)
    if (names.length > 1)
      problems.push({
        message:
          `Type ${type.name}; implements interfaces [${names.join(" ")}], all of which have fields with ` +
          `@dgraph predicate: ${predicate}. These fields must use different Dgraph predicates.`,
        at: type.at,
      });
}

/** A mapped password must have its predicate for itself, or share it with passwords. */
function checkSecret(
  draft: SchemaDraft,
  type: DraftType,
  uses: Map<string, Use>,
  problems: SchemaProblem[],
): void {
  const secret = secretOf(draft, type);
  if (secret === undefined || type.directives.secret?.pred === "") return;
  if (secretInterface(draft, type, secret.name) !== undefined) return;
  const use: Use = {
    field: secret.name,
    type: type.name,
    valueType: "String",
    at: type.at,
    isXid: false,
    isSecret: true,
  };
  const earlier = uses.get(secret.predicate);
  if (earlier === undefined) uses.set(secret.predicate, use);
  else if (!earlier.isSecret) problems.push(refuseSecret(use, earlier));
}
