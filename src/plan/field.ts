/** The fields of a level (reference/dql 4.4, 4.7 – 4.12, 4.18, 4.19). */
import type { AggregateFunction, Field, Page, PredicateField, PredicateName } from "../dql/ast.ts";
import { noPage } from "../dql/ast.ts";
import {
  addSlot,
  isHidden,
  refusal,
  refuseTree,
  resolvePredicate,
  variableIndex,
  type Builder,
} from "./builder.ts";
import { languageRefusal } from "./call.ts";
import { defineVariable } from "./define.ts";
import { buildFacetFilter, buildFacets } from "./facets.ts";
import { buildFilter } from "./filter.ts";
import { buildGroup } from "./group.ts";
import { buildMath, mathVariables } from "./math.ts";
import { buildOrder, buildPage } from "./order.ts";
import type {
  CascadePlan,
  ExpandFieldPlan,
  FieldPlan,
  GroupPlan,
  Level,
  PredicateUse,
} from "./plan.ts";

/** Where a level stands while it is built. */
interface LevelPlace {
  readonly path: readonly number[];
  /** @cascade as it reaches this level: undefined for none, empty for all fields. */
  readonly cascade: readonly string[] | undefined;
  /** @recurse: fields lead back to this same level. */
  readonly isRecurse: boolean;
  readonly isShortest: boolean;
}

export function buildLevel(builder: Builder, children: readonly Field[], place: LevelPlace): Level {
  const id = builder.levelCount++;
  checkKeys(children, place.isShortest);
  const fields: FieldPlan[] = [];
  // A recursion leads back to this level, so the level exists before its fields do.
  const level = {
    id,
    block: builder.block,
    path: place.path,
    fields,
    cascade: undefined as CascadePlan | undefined,
  };
  for (const child of children) {
    fields.push(buildField(builder, child, { place, level, siblings: children }));
  }
  if (place.cascade !== undefined) {
    // What the sender may not read is not missed in a node.
    const isExempt = (child: Field): boolean =>
      child.kind === "predicate" && (child.isExempt === true || isHidden(builder, child.predicate));
    level.cascade = buildCascade(fields, children, { names: place.cascade, isExempt });
  }
  return level;
}

interface FieldPlace {
  readonly place: LevelPlace;
  readonly level: Level;
  readonly siblings: readonly Field[];
}

function checkKeys(children: readonly Field[], isShortest: boolean): void {
  const seen = new Set<string>();
  for (const child of children) {
    if (isShortest && child.kind === "expand") refuseTree("expand() not allowed inside shortest");
    const key = uniqueKey(child);
    if (seen.has(key)) refuseTree(`${key} not allowed multiple times in same sub-query.`);
    seen.add(key);
  }
}

/** What may stand only once on a level, written as the reference writes it. */
function uniqueKey(field: Field): string {
  if (field.kind !== "expand" && field.alias !== undefined) return field.alias;
  switch (field.kind) {
    case "predicate": {
      const key = writtenName(field.predicate) + languageKey(field.predicate);
      return field.directives.groupBy === undefined ? key : `${key}groupby`;
    }
    case "uid":
      return "uid";
    case "countUid":
      return "uidcount";
    case "count":
      return `${writtenName(field.predicate)}count${languageKey(field.predicate)}`;
    case "val":
      return `val(${field.variable})`;
    case "aggregate":
      return field.of.kind === "val"
        ? `val(${field.of.variable})${field.function}`
        : `${field.of.name}${field.function}`;
    case "math":
      return `val(${field.variable ?? ""})`;
    case "expand":
      return "expand";
    case "checkpwd":
      return `checkpwd(${field.predicate.name})`;
  }
}

function languageKey(name: PredicateName): string {
  return name.languages.length === 0 ? "" : `[${name.languages.join(" ")}]`;
}

function writtenName(name: PredicateName): string {
  return (name.reverse ? "~" : "") + name.name;
}

function buildField(builder: Builder, field: Field, at: FieldPlace): FieldPlan {
  const id = at.level.id;
  switch (field.kind) {
    case "predicate":
      return buildPredicateField(builder, field, at);
    case "uid":
      return {
        kind: "uid",
        ...baseOf(field.alias, "uid"),
        variable: defineVariable(builder, field.variable, "uid", id),
      };
    case "countUid":
      return {
        kind: "countUid",
        ...baseOf(field.alias, "count"),
        variable: defineVariable(builder, field.variable, "value", id),
      };
    case "count":
      return buildCount(builder, field, at);
    case "val":
      return {
        kind: "val",
        ...baseOf(field.alias, `val(${field.variable})`),
        variable: undefined,
        of: variableIndex(builder, field.variable),
      };
    case "aggregate":
      return buildAggregate(builder, field, at);
    case "math": {
      const variable = defineVariable(builder, field.variable, "value", id);
      return {
        kind: "math",
        ...baseOf(field.alias, `val(${field.variable ?? ""})`),
        variable,
        expression: buildMath(builder, field.expression),
        variables: mathVariables(builder, field.expression),
      };
    }
    case "expand":
      return buildExpand(builder, field, at);
    case "checkpwd":
      return buildCheckPassword(builder, field, at);
  }
}

function baseOf(
  alias: string | undefined,
  key: string,
): { readonly key: string; readonly aliased: boolean } {
  return { key: alias ?? key, aliased: alias !== undefined };
}

function buildPredicateField(builder: Builder, field: PredicateField, at: FieldPlace): FieldPlan {
  const use = resolvePredicate(builder, field.predicate);
  const page = buildPage(builder, field.page, "edge");
  if (field.order.length > 0 && (field.facets?.order.length ?? 0) > 0) {
    refuseTree("Cannot specify order at both args and facets");
  }
  const predicate = use.predicate;
  const isEdge = predicate?.definition.kind === "uid";
  // Children are built even where nothing can be found, so that their variables are defined.
  const child = buildChild(builder, field, at);
  const childId = child.level?.id ?? -1;
  const variable = defineVariable(
    builder,
    field.variable,
    isEdge ? "uid" : "value",
    isEdge ? childId : at.level.id,
  );
  for (const facet of field.facets?.fields ?? []) {
    defineVariable(builder, facet.variable, "value", childId);
  }
  const base = { ...baseOf(field.alias, printKey(field.predicate)), variable };
  if (predicate === undefined) return { kind: "absent", ...base, use };
  const wrong = checkField(use);
  if (wrong !== undefined) return { kind: "refused", ...base, use, refusal: wrong };
  const facets = buildFacets(builder, field.facets);
  const facetFilter = buildFacetFilter(builder, field.facetFilter);
  if (isEdge) {
    return {
      kind: "edge",
      ...base,
      use,
      predicate,
      single: isSingle(field, use) && groupsBeside(field, at.siblings) === undefined,
      filter: field.filter === undefined ? undefined : buildFilter(builder, field.filter),
      order: buildOrder(builder, field.order),
      page,
      facets,
      facetFilter,
      level: child.level,
      groupBy: child.groupBy,
      groupsOf: groupsBeside(field, at.siblings),
      normalize: field.directives.normalize,
    };
  }
  if (predicate.definition.kind === "password") return { kind: "absent", ...base, use };
  return { kind: "value", ...base, use, predicate, form: formOf(use), facets, facetFilter };
}

/** The number of the sibling that groups the same edges under the same key. */
function groupsBeside(field: PredicateField, siblings: readonly Field[]): number | undefined {
  if (field.directives.groupBy !== undefined || field.children === undefined) return undefined;
  const key = field.alias ?? printKey(field.predicate);
  const at = siblings.findIndex(
    (sibling) =>
      sibling.kind === "predicate" &&
      sibling.directives.groupBy !== undefined &&
      (sibling.alias ?? printKey(sibling.predicate)) === key,
  );
  return at < 0 ? undefined : at;
}

function buildChild(
  builder: Builder,
  field: PredicateField,
  at: FieldPlace,
): { readonly level: Level | undefined; readonly groupBy: GroupPlan | undefined } {
  if (at.place.isRecurse) return { level: at.level, groupBy: undefined };
  if (field.directives.groupBy !== undefined) {
    const groupBy = buildGroup(builder, field.directives.groupBy, field.children ?? []);
    return { level: undefined, groupBy };
  }
  if (field.children === undefined) return { level: undefined, groupBy: undefined };
  return {
    level: buildLevel(builder, field.children, below(at, field.directives.cascade)),
    groupBy: undefined,
  };
}

function below(at: FieldPlace, cascade: readonly string[] | undefined): LevelPlace {
  return {
    path: [...at.level.path, at.level.id],
    cascade: cascade ?? at.place.cascade,
    isRecurse: false,
    isShortest: false,
  };
}

function checkField(use: PredicateUse) {
  if (use.reverse && use.predicate?.reverseIndex === undefined) {
    return refusal(`Predicate ${use.name} doesn't have reverse edge`);
  }
  if (use.languages.length > 0 && use.predicate?.definition.lang === false) {
    return languageRefusal(use.name);
  }
  return undefined;
}

/** A single edge is an object, unless something inside makes a list of it (reference/dql 4.4, 4.7, 4.13). */
function isSingle(field: PredicateField, use: PredicateUse): boolean {
  if (use.reverse || use.predicate?.definition.list === true) return false;
  if (field.directives.normalize || field.directives.groupBy !== undefined) return false;
  return field.children?.some((child) => child.kind === "countUid") !== true;
}

function formOf(use: PredicateUse): "one" | "list" | "all" {
  if (use.languages.includes("*")) return "all";
  return use.predicate?.definition.list === true ? "list" : "one";
}

function printKey(name: PredicateName): string {
  const tags = name.languages;
  if (tags.length === 0 || tags.includes("*")) return writtenName(name);
  return `${writtenName(name)}@${tags.join(":")}`;
}

function buildCount(
  builder: Builder,
  field: Extract<Field, { kind: "count" }>,
  at: FieldPlace,
): FieldPlan {
  const use = resolvePredicate(builder, field.predicate);
  const base = {
    ...baseOf(field.alias, `count(${writtenName(field.predicate)})`),
    variable: defineVariable(builder, field.variable, "value", at.level.id),
  };
  if (use.predicate === undefined) return { kind: "absent", ...base, use };
  const wrong = checkField(use);
  if (wrong !== undefined) return { kind: "refused", ...base, use, refusal: wrong };
  return {
    kind: "count",
    ...base,
    use,
    predicate: use.predicate,
    filter: field.filter === undefined ? undefined : buildFilter(builder, field.filter),
    facetFilter: buildFacetFilter(builder, field.facetFilter),
    page: field.filter === undefined ? undefined : buildPage(builder, field.page, "edge"),
  };
}

function buildAggregate(
  builder: Builder,
  field: Extract<Field, { kind: "aggregate" }>,
  at: FieldPlace,
): FieldPlan {
  const variable = defineVariable(builder, field.variable, "value", at.level.id);
  if (field.of.kind !== "val") {
    return refuseTree(`Only variables allowed in aggregate functions. Got: ${field.of.name}`);
  }
  const name = field.of.variable;
  const base = { ...baseOf(field.alias, `${field.function}(val(${name}))`), variable };
  const of = variableIndex(builder, name);
  if (isEmptyBlock(at)) return aggregate(base, field.function, of, undefined);
  const through = at.siblings.findIndex((sibling) => definesBelow(sibling, name));
  if (through < 0) {
    const wrong = refusal("Invalid variable aggregation. Check the levels.");
    return { kind: "refused", ...base, use: undefined, refusal: wrong };
  }
  return aggregate(base, field.function, of, through);
}

function aggregate(
  base: { readonly key: string; readonly aliased: boolean; readonly variable: number | undefined },
  name: AggregateFunction,
  of: number,
  through: number | undefined,
): FieldPlan {
  return { kind: "aggregate", ...base, function: name, of, through };
}

/** Levels of empty blocks are marked by a path that no other level has. */
export const emptyBlockPath: readonly number[] = [-1];

function isEmptyBlock(at: FieldPlace): boolean {
  return at.level.path === emptyBlockPath;
}

/** Whether a sibling's own children, or its facets, define the variable. */
function definesBelow(field: Field, name: string): boolean {
  if (field.kind !== "predicate" && field.kind !== "expand") return false;
  const facets = field.kind === "predicate" ? (field.facets?.fields ?? []) : [];
  if (facets.some((facet) => facet.variable === name)) return true;
  return (field.children ?? []).some(
    (child) => child.kind !== "val" && child.kind !== "expand" && child.variable === name,
  );
}

function buildExpand(
  builder: Builder,
  field: Extract<Field, { kind: "expand" }>,
  at: FieldPlace,
): ExpandFieldPlan {
  const page: Page = field.page ?? noPage;
  const level = expandLevel(builder, field, at);
  // Edges with a filter are others than those of expand(), which prints none where it has no braces.
  const hasLevel = level !== undefined;
  const beside = at.siblings.flatMap((sibling) =>
    sibling.kind === "predicate" && (sibling.filter === undefined || hasLevel)
      ? [writtenName(sibling.predicate)]
      : [],
  );
  return {
    kind: "expand",
    key: "expand",
    aliased: false,
    variable: undefined,
    of:
      field.of.kind === "val"
        ? { kind: "val", variable: variableIndex(builder, field.of.variable) }
        : field.of,
    filter: field.filter === undefined ? undefined : buildFilter(builder, field.filter),
    level,
    page: buildPage(builder, page, "edge"),
    beside,
  };
}

function expandLevel(
  builder: Builder,
  field: Extract<Field, { kind: "expand" }>,
  at: FieldPlace,
): Level | undefined {
  if (at.place.isRecurse) return at.level;
  if (field.children === undefined) return undefined;
  return buildLevel(builder, field.children, below(at, field.directives.cascade));
}

function buildCheckPassword(
  builder: Builder,
  field: Extract<Field, { kind: "checkpwd" }>,
  at: FieldPlace,
): FieldPlan {
  if (field.predicate.name === "uid") refuseTree('Argument cannot be "uid"');
  const use = resolvePredicate(builder, field.predicate);
  const base = {
    ...baseOf(field.alias, `checkpwd(${use.name})`),
    variable: defineVariable(builder, field.variable, "value", at.level.id),
  };
  const { text, quoted, token } = field.password;
  if (text === "" && !quoted && token < 0) {
    // The parser's literal where the argument is missing.
    const reason = `Function 'checkpwd' requires 2 arguments, but got 1 ([${use.name}])`;
    return { kind: "refused", ...base, use, refusal: refusal(reason) };
  }
  const password = addSlot(builder, "password", field.password);
  if (field.surplus !== undefined) {
    const slots = [password, ...field.surplus.map((each) => addSlot(builder, "value", each))];
    const reason = `Function 'checkpwd' requires 2 arguments, but got ${slots.length + 1} (%s)`;
    return { kind: "refused", ...base, use, refusal: refusal(reason, [...slots, use.name]) };
  }
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "absent", ...base, use };
  if (predicate.definition.kind !== "password") {
    const kind = predicate.definition.kind;
    const reason = `checkpwd fn can only be used on attr: [${use.name}] with schema type password. Got type: ${kind}`;
    return { kind: "refused", ...base, use, refusal: refusal(reason) };
  }
  return { kind: "checkpwd", ...base, predicate, password };
}

function buildCascade(
  fields: readonly FieldPlan[],
  children: readonly Field[],
  cascade: { readonly names: readonly string[]; readonly isExempt: (child: Field) => boolean },
): CascadePlan {
  const names = cascade.names.length === 0 ? undefined : cascade.names;
  const wanted = names === undefined ? undefined : new Set(names);
  const required: number[] = [];
  fields.forEach((field, i) => {
    if (field.kind !== "value" && field.kind !== "edge" && field.kind !== "absent") return;
    const child = children[i];
    if (child !== undefined && cascade.isExempt(child)) return;
    const name = (field.use.reverse ? "~" : "") + field.use.name;
    if (wanted === undefined || wanted.has(name)) required.push(i);
  });
  return { required, names };
}
