/** Post-validation (reference/graphql 1.5 step 6): every rule of this API over valid GraphQL. Collects all problems. */
import { Kind } from "graphql";
import type { ConstValueNode } from "graphql";
import {
  baseName,
  directiveAt,
  findArgument,
  findDirective,
  hasDirective,
  positionOf,
  printRef,
  rawText,
  type SchemaDraft,
  type DraftField,
  type DraftType,
  type SdlPosition,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { checkCustom } from "./sdl-custom.ts";
import { checkInverse, checkMapping } from "./sdl-edges.ts";
import {
  builtinScalars,
  geoTypes,
  isCustomField,
  isReservedSdlName,
  isRootName,
} from "./sdl-names.ts";
import { checkPredicates } from "./sdl-predicates.ts";
import { checkSearch } from "./sdl-search.ts";

/** Definition by definition: the type's rules, then each field's, then its directives' in the order written. */
export function checkRules(draft: SchemaDraft): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const type of draft.user) {
    checkTypeRules(draft, type, problems);
    for (const field of type.fields) {
      checkFieldRules(type, field, problems);
      // @hasInverse gives fields a new list of directives while we look; this one stays as it was written.
      for (const directive of field.directives) {
        if (directive.name.value === "custom") problems.push(...checkCustom(type, field));
        const check = directiveRules.get(directive.name.value);
        const problem = check?.(draft, type, field);
        if (problem !== undefined) problems.push(problem);
      }
    }
  }
  problems.push(...checkPredicates(draft));
  return problems;
}

// ---------------------------------------------------------------------------------------------------------------
// Types

function checkTypeRules(draft: SchemaDraft, type: DraftType, problems: SchemaProblem[]): void {
  checkIdCount(type, problems);
  checkTypeMapping(type, problems);
  checkSecretDirective(type, problems);
  checkRemoteConflicts(type, problems);
  checkHasContent(type, problems);
  checkRemote(draft, type, problems);
  checkGenerate(type, problems);
}

function checkIdCount(type: DraftType, problems: SchemaProblem[]): void {
  const ids = type.fields.filter((field) => baseName(field.type) === "ID");
  if (ids.length < 2) return;
  const names = ids.map((field) => field.name);
  const list = `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
  problems.push({
    message:
      `Fields ${list} are listed as IDs for type ${type.name}, but a type can have only one ID field. ` +
      `Pick a single field as the ID for type ${type.name}.`,
    at: ids[0]?.at,
  });
}

function checkTypeMapping(type: DraftType, problems: SchemaProblem[]): void {
  const directive = findDirective(type, "dgraph");
  if (directive === undefined) return;
  const argument = findArgument(directive, "type");
  const written = rawText(argument);
  let text: string | undefined;
  if (written === "") text = "type argument for @dgraph directive should not be empty.";
  else if (argument?.kind !== Kind.STRING)
    text = "type argument for @dgraph directive should of type String.";
  else if (isReservedSdlName(written))
    text = `type argument '${written}' for @dgraph directive is a reserved keyword.`;
  if (text !== undefined)
    problems.push({ message: `Type ${type.name}; ${text}`, at: directiveAt(directive) });
}

function checkSecretDirective(type: DraftType, problems: SchemaProblem[]): void {
  const names: string[] = [];
  for (const directive of type.directives)
    if (directive.name.value === "secret") names.push(rawText(findArgument(directive, "field")));
  let text: string | undefined;
  if (names.includes("")) text = 'Argument "field" of secret directive is empty';
  else if (names.length > 1) text = `has more than one secret fields ${names.join(",")}`;
  else if (type.fields.some((field) => field.name === names[0]))
    text = `has a secret directive and field of the same name ${names[0] ?? ""}`;
  if (text !== undefined) problems.push({ message: `Type ${type.name}; ${text}`, at: type.at });
}

function checkRemoteConflicts(type: DraftType, problems: SchemaProblem[]): void {
  if (!hasDirective(type, "remote")) return;
  const other = ["auth", "withSubscription"].find((name) => hasDirective(type, name));
  if (other !== undefined)
    problems.push({
      message: `Type ${type.name}; cannot have both @${other} and @remote directive`,
      at: type.at,
    });
}

function checkHasContent(type: DraftType, problems: SchemaProblem[]): void {
  if (type.kind !== "object" || isRootName(type.name) || hasDirective(type, "remote")) return;
  if (type.fields.some((field) => baseName(field.type) !== "ID" && !isCustomField(field))) return;
  problems.push({
    message:
      `Type ${type.name}; is invalid, a type must have atleast one field that is not of ID! type ` +
      "and doesn't have @custom/@lambda directive.",
    at: type.at,
  });
}

function checkRemote(draft: SchemaDraft, type: DraftType, problems: SchemaProblem[]): void {
  if (isRootName(type.name)) return;
  const isRemote = hasDirective(type, "remote");
  const isRemoteName = (name: string): boolean => {
    const other = draft.types.get(name);
    return other !== undefined && hasDirective(other, "remote");
  };
  for (const field of type.fields) {
    if (isRemote && isCustomField(field)) {
      problems.push({
        message:
          `Type ${type.name}; field ${field.name}; can't have @custom/@lambda directive as a @remote ` +
          "type can't have fields with @custom/@lambda directive.",
        at: field.at,
      });
      return;
    }
    if (!isRemote && !isCustomField(field) && isRemoteName(baseName(field.type))) {
      problems.push({
        message:
          `Type ${type.name}; field ${field.name}; is of a type that has @remote directive. Those ` +
          "would need to be resolved by a @custom/@lambda directive.",
        at: field.at,
      });
      return;
    }
  }
  const odd = type.interfaces.find((name) => isRemoteName(name) !== isRemote);
  if (odd === undefined) return;
  const text = isRemote
    ? `with @remote directive implements interface ${odd}; which doesn't have @remote directive.`
    : `without @remote directive can't implement an interface ${odd}; with have @remote directive.`;
  problems.push({ message: `Type ${type.name}; ${text}`, at: type.at });
}

/** What `@custom` on a field asks of it; of `@lambda` the same is asked in these words (reference/graphql 7.1). */
function checkLambda(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const directive = findDirective(field, "lambda");
  if (directive === undefined) return undefined;
  const at = directiveAt(directive);
  if (!draft.hasLambda)
    return {
      message:
        `Type ${type.name}; Field ${field.name}: has the @lambda directive, but the ` +
        '`--graphql "lambda-url=...;"` flag wasn\'t specified during alpha startup.',
      at,
    };
  const refuse = (text: string): SchemaProblem => ({
    message: `While building @custom for @lambda: Type ${type.name}; Field ${field.name}; ${text}`,
    at,
  });
  for (const other of ["search", "dgraph"])
    if (hasDirective(field, other))
      return refuse(`custom directive not allowed along with @${other} directive.`);
  if (isRootName(type.name)) return undefined;
  if (baseName(field.type) === "ID" || hasDirective(field, "id"))
    return refuse("custom directive not allowed on field of type ID! or field with @id directive.");
  const isKnown = type.fields.some((one) => baseName(one.type) === "ID" || hasDirective(one, "id"));
  if (isKnown) return undefined;
  return refuse(
    "@custom directive is only allowed on fields where the type definition has a field with " +
      "type ID! or a field with @id directive.",
  );
}

const generateParts: Readonly<Record<"query" | "mutation", readonly string[]>> = {
  query: ["get", "query", "password", "aggregate"],
  mutation: ["add", "update", "delete"],
};

function checkGenerate(type: DraftType, problems: SchemaProblem[]): void {
  const directive = findDirective(type, "generate");
  if (directive === undefined) return;
  for (const part of ["query", "mutation"] as const) {
    const argument = findArgument(directive, part);
    if (argument === undefined) continue;
    if (argument.kind !== Kind.OBJECT) {
      problems.push({
        message: `Type ${type.name}; ${part} argument for @generate directive should be of type Object.`,
        at: positionOf(argument),
      });
      continue;
    }
    for (const name of generateParts[part]) {
      const value = argument.fields.find((field) => field.name.value === name)?.value;
      if (value === undefined || value.kind === Kind.BOOLEAN) continue;
      problems.push({
        message:
          `Type ${type.name}; ${name} field inside ${part} argument of @generate directive can only be ` +
          `true/false, found: \`${rawText(value)}`,
        at: positionOf(value),
      });
    }
  }
  const subscription = findArgument(directive, "subscription");
  if (subscription === undefined || subscription.kind === Kind.BOOLEAN) return;
  problems.push({
    message: `Type ${type.name}; subscription argument in @generate directive can only be true/false, found: \`${rawText(subscription)}\`.`,
    at: directiveAt(directive),
  });
}

// ---------------------------------------------------------------------------------------------------------------
// Fields

const reservedArguments: ReadonlySet<string> = new Set(["first", "offset", "filter", "order"]);

function checkFieldRules(type: DraftType, field: DraftField, problems: SchemaProblem[]): void {
  const refuse = (text: string): void => {
    problems.push({ message: `Type ${type.name}; Field ${field.name}: ${text}`, at: field.at });
  };
  const ref = field.type;
  if (ref.kind === "list" && ref.element.kind === "list") refuse("Nested lists are invalid.");
  if (!isRootName(type.name) && !hasDirective(type, "remote")) {
    const argument = field.arguments.find((each) => reservedArguments.has(each.name));
    if (argument !== undefined)
      refuse(`can't have ${argument.name} as an argument because it is a reserved argument.`);
  }
  if (isReservedSdlName(field.name))
    refuse(`${field.name} is a reserved keyword and you cannot declare a field with this name.`);
  else if (field.name.endsWith("Aggregate"))
    refuse(
      "Aggregate is a reserved keyword and you cannot declare a field with Aggregate as suffix.",
    );
  const name = baseName(ref);
  if (ref.kind === "list" && (name === "ID" || name === "Boolean"))
    refuse(`${name} lists are invalid.`);
  if (!hasDirective(field, "withSubscription")) return;
  const custom = findDirective(field, "custom");
  if (type.name !== "Query")
    refuse("@withSubscription directive is applicable only on types and custom dql queries");
  else if (custom !== undefined && findArgument(custom, "dql") === undefined)
    refuse("custom query should have dql argument if @withSubscription directive is set");
}

type DirectiveRule = (
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
) => SchemaProblem | undefined;

const directiveRules: ReadonlyMap<string, DirectiveRule> = new Map<string, DirectiveRule>([
  ["hasInverse", checkInverse],
  ["search", checkSearch],
  ["dgraph", checkMapping],
  ["embedding", checkEmbedding],
  ["id", checkXid],
  ["default", checkDefault],
  ["lambda", checkLambda],
  ["remoteResponse", checkRemoteResponse],
]);

function refuseAt(
  type: DraftType,
  field: DraftField,
  text: string,
  at: SdlPosition | undefined,
): SchemaProblem {
  return { message: `Type ${type.name}; Field ${field.name}: ${text}`, at };
}

function checkEmbedding(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const ref = field.type;
  if (ref.kind === "list" && ref.element.kind === "named")
    if (ref.element.name === "Float" && ref.element.nonNull) return undefined;
  const name = baseName(ref);
  const shown = ref.kind === "list" ? `[${name}]` : name;
  const text = `The field with @embedding directive is of type ${shown}, but @embedding directive only applies to fields of type [Float!].`;
  return refuseAt(type, field, text, field.at);
}

function checkXid(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const directive = findDirective(field, "id");
  const at = directive === undefined ? field.at : directiveAt(directive);
  const ref = field.type;
  const isKey = ref.kind === "named" && ["String", "Int", "Int64"].includes(ref.name);
  if (!isKey)
    return refuseAt(
      type,
      field,
      `with @id directive must be of type String, Int or Int64, not ${printRef(ref)}`,
      at,
    );
  if (type.kind === "interface" || field.inheritedFrom !== undefined) return undefined;
  if (rawText(findArgument(directive, "interface")) !== "true") return undefined;
  return refuseAt(
    type,
    field,
    "@id field with interface argument can only be defined in interface,not in Type",
    at,
  );
}

function checkRemoteResponse(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  if (hasDirective(type, "remote")) return undefined;
  const directive = findDirective(field, "remoteResponse");
  return {
    message: `Type ${type.name}: Field ${field.name}: @remoteResponse directive can only be defined on fields of @remote type.`,
    at: directive === undefined ? field.at : directiveAt(directive),
  };
}

function checkDefault(
  draft: SchemaDraft,
  type: DraftType,
  field: DraftField,
): SchemaProblem | undefined {
  const directive = findDirective(field, "default");
  if (directive === undefined) return undefined;
  const at = directiveAt(directive);
  const refuse = (text: string): SchemaProblem => refuseAt(type, field, text, at);
  const name = baseName(field.type);
  if (hasDirective(type, "remote"))
    return refuse("cannot use @default directive on a @remote type");
  if (!isScalarName(name) && draft.types.get(name)?.kind !== "enum")
    return refuse(`cannot use @default directive on field with non-scalar type ${name}`);
  if (field.type.kind === "list")
    return refuse(`cannot use @default directive on field with list type [${name}]`);
  if (hasDirective(field, "id"))
    return refuse("cannot use @default directive on field with @id directive");
  if (name === "ID") return refuse("cannot use @default directive on field with type ID");
  for (const other of ["custom", "lambda"])
    if (hasDirective(field, other))
      return refuse(`cannot use @default directive on field with @${other} directive`);
  for (const argument of directive.arguments ?? []) {
    const value = declaredDefaultOf(argument.value);
    if (value !== undefined && !isUsableDefault(value, name))
      return refuse(
        `@default directive provides value "${value}" which cannot be used with ${name}`,
      );
  }
  return undefined;
}

function isScalarName(name: string): boolean {
  return builtinScalars.has(name) || geoTypes.has(name);
}

/** The `value` of `{value: …}`; undefined where it has none. */
export function declaredDefaultOf(argument: ConstValueNode | undefined): string | undefined {
  if (argument?.kind !== Kind.OBJECT) return undefined;
  const value = argument.fields.find((field) => field.name.value === "value")?.value;
  if (value === undefined || value.kind === Kind.NULL) return undefined;
  return rawText(value);
}

function isUsableDefault(value: string, typeName: string): boolean {
  if (value === "$now" && typeName !== "DateTime") return false;
  switch (typeName) {
    case "Int":
      return isInteger(value, 2n ** 31n);
    case "Int64":
      return isInteger(value, 2n ** 63n);
    case "Float":
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value);
    case "Boolean":
      return value === "true" || value === "false";
    default:
      return true;
  }
}

/** −limit … limit − 1. */
function isInteger(value: string, limit: bigint): boolean {
  if (!/^[+-]?\d+$/.test(value)) return false;
  const number = BigInt(value.replace("+", ""));
  return number >= -limit && number < limit;
}
