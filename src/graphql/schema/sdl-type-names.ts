/**
 * Pre-validation (reference/graphql 1.5 step 3): definition kinds, reserved names, directives on types. Collects all.
 */
import { specOf } from "./directives/table.ts";
import { directiveAt, kindTexts, type DraftType, type SchemaProblem } from "./sdl-draft.ts";
import { isCustomField, isReservedSdlName, isRootName } from "./sdl-names.ts";

/** All pre-validation problems, definition by definition, then those of names that collide. */
export function checkSdlNames(types: readonly DraftType[]): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const type of types) {
    if (type.kind === "scalar")
      problems.push({
        message:
          "You can't add scalar definitions. Only type, interface, union, input and enums are " +
          "allowed in initial schema.",
        at: type.at,
      });
    else checkTypeName(type, problems);
    checkTypeDirectives(type, problems);
  }
  checkGeneratedTypeNames(types, problems);
  checkRootFieldNames(types, "Query", problems);
  checkRootFieldNames(types, "Mutation", problems);
  return problems;
}

function checkTypeName(type: DraftType, problems: SchemaProblem[]): void {
  if (!isReservedSdlName(type.name)) return;
  if (type.kind === "object" && isRootName(type.name)) {
    const plain = type.fields.find((field) => !isCustomField(field));
    if (plain === undefined) return;
    problems.push({
      message:
        "GraphQL Query and Mutation types are only allowed to have fields with @custom/@lambda " +
        "directive. Other fields are built automatically for you. " +
        `Found ${type.name} ${plain.name} without @custom/@lambda.`,
      at: type.at,
    });
    return;
  }
  problems.push({
    message:
      `${type.name} is a reserved word, so you can't declare a type with this name. ` +
      "Pick a different name for the type.",
    at: type.at,
  });
}

function checkTypeDirectives(type: DraftType, problems: SchemaProblem[]): void {
  for (const directive of type.written) {
    const kinds = specOf(directive.name.value)?.onTypes;
    if (kinds === undefined || kinds.includes(type.kind)) continue;
    const where = kinds.length === 0 ? "at type level" : `on types of ${kindTexts[type.kind]} kind`;
    problems.push({
      message: `Type ${type.name}; has the @${directive.name.value} directive, but it is not applicable ${where}.`,
      at: directiveAt(directive),
    });
  }
}

/** Names of the prelude that a user may not define again. */
const staticNames = [
  "Int64",
  "DateTime",
  "DgraphIndex",
  "AuthRule",
  "HTTPMethod",
  "Mode",
  "CustomHTTP",
  "IntFilter",
  "Int64Filter",
  "FloatFilter",
  "DateTimeFilter",
  "StringTermFilter",
  "StringRegExpFilter",
  "StringFullTextFilter",
  "StringExactFilter",
  "StringHashFilter",
  "PointGeoFilter",
  "PointRef",
  "NearFilter",
];

/** The names that generation would take for a type. */
function derivedNames(type: DraftType): string[] {
  const name = type.name;
  if (type.kind === "union") return [`${name}Ref`, `${name}Filter`, `${name}Type`];
  if (type.kind !== "object" && type.kind !== "interface") return [];
  const names = [
    `${name}Ref`,
    `${name}Patch`,
    `Update${name}Input`,
    `Update${name}Payload`,
    `Delete${name}Input`,
    `Delete${name}Payload`,
    `${name}AggregateResult`,
    `${name}Filter`,
    `${name}HasFilter`,
    `${name}Order`,
    `${name}Orderable`,
  ];
  if (type.kind === "object") names.push(`Add${name}Input`, `Add${name}Payload`);
  return names;
}

function checkGeneratedTypeNames(types: readonly DraftType[], problems: SchemaProblem[]): void {
  const taken = new Set(staticNames);
  for (const type of types)
    if (!isRootName(type.name) && type.directives.remote === undefined)
      for (const name of derivedNames(type)) taken.add(name);
  for (const type of types) {
    if (!taken.has(type.name)) continue;
    const kind = kindTexts[type.kind];
    problems.push({
      message:
        `${type.name} is a reserved word, so you can't declare a ${kind} with this name. ` +
        `Pick a different name for the ${kind}.`,
      at: type.at,
    });
  }
}

/** Custom queries and mutations named like generated ones. */
function checkRootFieldNames(
  types: readonly DraftType[],
  root: "Query" | "Mutation",
  problems: SchemaProblem[],
): void {
  const isQuery = root === "Query";
  const taken = new Set<string>();
  for (const type of types) {
    if (type.kind !== "object" && type.kind !== "interface") continue;
    if (isRootName(type.name) || type.directives.remote !== undefined) continue;
    const name = type.name;
    const names = isQuery
      ? [`get${name}`, `check${name}Password`, `query${name}`, `aggregate${name}`]
      : [`add${name}`, `update${name}`, `delete${name}`];
    for (const each of names) taken.add(each);
  }
  const word = isQuery ? "query" : "mutation";
  for (const type of types) {
    if (type.name !== root) continue;
    for (const field of type.fields)
      if (taken.has(field.name))
        problems.push({
          message:
            `${field.name} is a reserved word, so you can't declare a ${word} with this name. ` +
            `Pick a different name for the ${word}.`,
          at: field.at,
        });
  }
}
