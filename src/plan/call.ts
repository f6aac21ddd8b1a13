/**
 * Functions at roots and in filters: which index serves them, where their arguments come from (reference/dql 2.5, 4.3).
 */
import { tokenizerOf } from "../tokens/tokenizers.ts";
import type { Argument, FunctionCall, PredicateName } from "../dql/ast.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import {
  addSlot,
  namespaced,
  refusal,
  refuseTree,
  resolvePredicate,
  variableIndex,
  type Builder,
  literalsOf,
} from "./builder.ts";
import type {
  CallPlan,
  CompareOperator,
  PredicateUse,
  PlanRefusal,
  SlotIndex,
  SlotKind,
  ValuesPlan,
} from "./plan.ts";

const compareOperators: ReadonlySet<string> = new Set(["eq", "le", "lt", "ge", "gt", "between"]);

const termTokenizers: Readonly<Record<string, string>> = {
  allofterms: "term",
  anyofterms: "term",
  alloftext: "fulltext",
  anyoftext: "fulltext",
  ngram: "ngram",
};

/** Tokenizers for eq, best first: those whose token says everything, then those that are checked again. */
const equalityTokenizers = [
  "int",
  "bool",
  "hash",
  "exact",
  "sha256",
  "float",
  "bigfloat",
  "year",
  "month",
  "day",
  "hour",
  "geo",
  "term",
  "fulltext",
  "trigram",
  "ngram",
];

export function buildCall(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  checkSubject(call.subject, atRoot);
  switch (call.subject.kind) {
    case "count":
      return buildCompareCount(builder, call, call.subject.predicate, atRoot);
    case "val":
    case "len":
      return {
        kind: call.subject.kind === "val" ? "compareVal" : "compareLen",
        operator: compareOperator(call.name),
        variable: variableIndex(builder, call.subject.variable),
        values: buildValues(builder, call.args),
      };
    case "none":
      return buildSubjectless(builder, call, atRoot);
    case "predicate":
      return buildPredicateCall(builder, call, call.subject, atRoot);
  }
}

/** `uid` is no predicate. */
function checkSubject(subject: FunctionCall["subject"], atRoot: boolean): void {
  const predicate = subject.kind === "count" ? subject.predicate : subject;
  if (predicate.kind !== "predicate" || predicate.name !== "uid") return;
  refuseTree(`${atRoot ? "" : "while copying filter: "}Argument cannot be "uid"`);
}

function compareOperator(name: string): CompareOperator {
  if (!compareOperators.has(name)) refuseTree(`Invalid function name: ${name}`);
  return name as CompareOperator;
}

function buildSubjectless(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  if (call.name === "uid") return buildUid(builder, call);
  if (call.name === "type") {
    const use = resolvePredicate(builder, {
      kind: "predicate",
      name: "dgraph.type",
      reverse: false,
      languages: [],
    });
    return buildCompare(builder, { ...call, name: "eq" }, use, atRoot);
  }
  return refuseTree(`${atRoot ? "" : "while copying filter: "}Invalid function name: ${call.name}`);
}

function buildUid(builder: Builder, call: FunctionCall): CallPlan {
  const uids: SlotIndex[] = [];
  const variables: number[] = [];
  for (const argument of call.args) {
    if (argument.kind === "uid" || argument.kind === "val") {
      variables.push(variableIndex(builder, argument.variable));
    } else {
      for (const literal of literalsOf(argument)) uids.push(addSlot(builder, "uid", literal));
    }
  }
  // Literals beside variables are dropped, as in the reference (reference/dql 4.3.7).
  return { kind: "uid", uids: variables.length > 0 ? [] : uids, variables };
}

function buildPredicateCall(
  builder: Builder,
  call: FunctionCall,
  subject: PredicateName,
  atRoot: boolean,
): CallPlan {
  const use = resolvePredicate(builder, subject);
  if (compareOperators.has(call.name)) return buildCompare(builder, call, use, atRoot);
  if (call.name in termTokenizers) return buildTerms(builder, call, use);
  switch (call.name) {
    case "has":
      return buildHas(builder, call, use);
    case "uid_in":
      return buildUidIn(builder, call, use, atRoot);
    case "regexp":
      return buildRegexp(builder, call, use, atRoot);
    case "match":
      return buildMatch(builder, call, use);
    case "near":
    case "within":
    case "contains":
    case "intersects":
      return buildGeo(builder, call, use, call.name);
    case "similar_to":
      return buildSimilar(builder, call, use);
    default:
      return refuseTree(
        `${atRoot ? "" : "while copying filter: "}Invalid function name: ${call.name}`,
      );
  }
}

/** What every function on a predicate is refused for after its own arguments were looked at. */
function checkUse(use: PredicateUse): PlanRefusal | undefined {
  const predicate = use.predicate;
  if (predicate === undefined) return undefined;
  if (use.reverse && predicate.reverseIndex === undefined) {
    return refusal(`Predicate ${use.name} doesn't have reverse edge`);
  }
  if (use.languages.length > 0 && !predicate.definition.lang) return languageRefusal(use.name);
  return undefined;
}

export function languageRefusal(name: string): PlanRefusal {
  return refusal(
    "Language tags can only be used with predicates of string type having @lang directive in schema. " +
      `Got: [${name}]`,
  );
}

function refused(use: PredicateUse, reason: PlanRefusal): CallPlan {
  return { kind: "refused", use, refusal: reason };
}

function buildCompare(
  builder: Builder,
  call: FunctionCall,
  use: PredicateUse,
  atRoot: boolean,
): CallPlan {
  const operator = compareOperator(call.name);
  const values = buildValues(builder, call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const wrongCount =
    values.variable === undefined ? checkCompareCount(operator, values) : undefined;
  if (wrongCount !== undefined) return refused(use, wrongCount);
  if (predicate.definition.kind === "uid") {
    return refused(
      use,
      refusal(
        `Got error: Attribute ${use.name} is not valid scalar type while running: name:"${operator}"%c`,
        values.slots,
      ),
    );
  }
  const comparison = { kind: "compare", operator, use, values } as const;
  const ready = predicate.indexes.filter((index) => index.state === "ready");
  const index = operator === "eq" ? pickEqualityIndex(ready) : pickSortable(ready);
  const unsortable = operator !== "eq" && ready.length > 0 && index === undefined;
  const name = namespaced(builder, use.name);
  const missing =
    ready.length === 0
      ? refusal(`Predicate ${use.name} is not indexed`)
      : unsortable
        ? refusal(`Attribute:${name} does not have proper index for comparison`)
        : checkUse(use);
  if (atRoot && missing !== undefined) {
    return { ...comparison, index: undefined, refuseFromTen: false, refusal: missing };
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { ...comparison, index, refuseFromTen: unsortable, refusal: undefined };
}

function checkCompareCount(operator: CompareOperator, values: ValuesPlan): PlanRefusal | undefined {
  const count = values.slots.length;
  if (operator === "eq") {
    return count < 1 ? refusal("eq expects atleast 1 argument.") : undefined;
  }
  if (operator === "between") {
    return count === 2 ? undefined : refusal("between expects exactly 2 argument.");
  }
  if (count === 1) return undefined;
  return refusal(`${operator} expects only 1 argument. Got: %s`, values.slots);
}

function pickEqualityIndex(indexes: readonly PredicateIndex[]): PredicateIndex | undefined {
  for (const tokenizer of equalityTokenizers) {
    const index = indexes.find((candidate) => candidate.tokenizer === tokenizer);
    if (index !== undefined) return index;
  }
  return undefined;
}

/** The ready index whose tokens are in the order of the values. */
export function pickSortable(indexes: readonly PredicateIndex[]): PredicateIndex | undefined {
  return indexes.find((index) => index.state === "ready" && tokenizerOf(index)?.sortable === true);
}

function buildCompareCount(
  builder: Builder,
  call: FunctionCall,
  subject: PredicateName,
  atRoot: boolean,
): CallPlan {
  const operator = compareOperator(call.name);
  const use = resolvePredicate(builder, subject);
  const values = literalSlots(builder, "count", call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const expected = operator === "between" ? 2 : 1;
  if (values.length !== expected) return refused(use, argumentCount(call.name, expected, values));
  if (use.reverse && predicate.reverseIndex === undefined) {
    return refused(use, refusal(`Predicate ${use.name} doesn't have reverse edge`));
  }
  const countIndex = use.reverse ? predicate.reverseCountIndex : predicate.countIndex;
  if (atRoot && countIndex?.state !== "ready") {
    const where = `attr: ${use.name} for fn: ${operator} at root`;
    return refused(use, refusal(`Need @count directive in schema for ${where}`));
  }
  const index = countIndex?.state === "ready" ? countIndex.id : undefined;
  return { kind: "compareCount", operator, use, index, values };
}

function argumentCount(name: string, expected: number, parts: PlanRefusal["parts"]): PlanRefusal {
  return refusal(
    `Function '${name}' requires ${expected} arguments, but got ${parts.length} (%s)`,
    parts,
  );
}

function buildTerms(builder: Builder, call: FunctionCall, use: PredicateUse): CallPlan {
  const values = buildValues(builder, call.args, "text");
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  if (values.variable === undefined && values.slots.length !== 1) {
    return refused(use, argumentCount(call.name, 1, values.slots));
  }
  const tokenizer = termTokenizers[call.name] ?? "";
  const index = findIndex(use, tokenizer);
  if (index === undefined) {
    const reason = `Attribute ${use.name} is not indexed with type ${tokenizer}`;
    return refused(use, refusal(reason));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  const name = call.name as "allofterms" | "anyofterms" | "alloftext" | "anyoftext" | "ngram";
  return { kind: "terms", name, use, index, values };
}

function findIndex(use: PredicateUse, tokenizer: string): PredicateIndex | undefined {
  return use.predicate?.indexes.find(
    (index) => index.tokenizer === tokenizer && index.state === "ready",
  );
}

function buildHas(builder: Builder, call: FunctionCall, use: PredicateUse): CallPlan {
  const slots = literalSlots(builder, "value", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  if (slots.length > 0) return refused(use, argumentCount("has", 0, slots));
  const wrongUse = checkUse(use);
  return wrongUse === undefined ? { kind: "has", use } : refused(use, wrongUse);
}

function buildUidIn(
  builder: Builder,
  call: FunctionCall,
  use: PredicateUse,
  atRoot: boolean,
): CallPlan {
  const variable = call.args.find((argument) => argument.kind === "uid");
  const uids = literalSlots(builder, "uid", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  if (atRoot) return refused(use, refusal("uid_in function not allowed at root"));
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return {
    kind: "uidIn",
    use,
    uids,
    variable: variable === undefined ? undefined : variableIndex(builder, variable.variable),
  };
}

function buildRegexp(
  builder: Builder,
  call: FunctionCall,
  use: PredicateUse,
  atRoot: boolean,
): CallPlan {
  const parts: (SlotIndex | string)[] = [];
  let source: SlotIndex | undefined;
  let flags = "";
  for (const argument of call.args) {
    if (argument.kind === "regex") {
      source = addSlot(builder, "regex", argument.source);
      flags = argument.flags;
      parts.push(source, flags);
    } else {
      parts.push(...literalsOf(argument).map((literal) => addSlot(builder, "regex", literal)));
    }
  }
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  if (parts.length !== 2) return refused(use, argumentCount("regexp", 2, parts));
  if (flags !== "" && flags !== "i") {
    return refused(use, refusal(`Invalid regexp modifier: ${flags}`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  if (predicate.definition.kind === "uid") {
    return refused(use, refusal(`Attribute not scalar: ${use.name} 7`));
  }
  if (predicate.definition.kind !== "string") {
    const reason = "Got non-string type. Regex match is allowed only on string type.";
    return refused(use, refusal(reason));
  }
  // No tag is "any tag" to an expression (reference/dql 4.3.5).
  if (use.languages.includes(".")) return { kind: "nothing", use };
  const index = findIndex(use, "trigram");
  return { kind: "regexp", use, index, source: source ?? (parts[0] as number), flags, atRoot };
}

function buildMatch(builder: Builder, call: FunctionCall, use: PredicateUse): CallPlan {
  const slots = literalSlots(builder, "text", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  const [text, distance] = slots;
  if (text === undefined || distance === undefined || slots.length !== 2) {
    return refused(use, argumentCount("match", 2, slots));
  }
  const index = findIndex(use, "trigram");
  if (index === undefined) {
    return refused(use, refusal(`Attribute ${use.name} is not indexed with type trigram`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { kind: "match", use, index, text, distance };
}

function buildGeo(
  builder: Builder,
  call: FunctionCall,
  use: PredicateUse,
  name: "near" | "within" | "contains" | "intersects",
): CallPlan {
  const slots = literalSlots(builder, "geo", call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const expected = name === "near" ? 2 : 1;
  const [geometry, distance] = slots;
  if (geometry === undefined || slots.length !== expected) {
    const reason = `${name} function requires ${expected} arguments, but got ${slots.length}`;
    return refused(use, refusal(reason));
  }
  if (!predicate.indexes.some((index) => index.state === "ready")) {
    return refused(use, refusal(`Predicate ${use.name} is not indexed`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { kind: "geo", name, use, index: findIndex(use, "geo"), geometry, distance };
}

function buildSimilar(builder: Builder, call: FunctionCall, use: PredicateUse): CallPlan {
  const positional = call.args.filter((argument) => argument.kind !== "option");
  const options = call.args.flatMap((argument) =>
    argument.kind === "option"
      ? [{ key: argument.key, value: addSlot(builder, "option", argument.value) }]
      : [],
  );
  const value = positional.find((argument) => argument.kind === "val");
  const slots = literalSlots(builder, "text", positional);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const [neighbors, target] = slots;
  if (neighbors === undefined || slots.length + (value === undefined ? 0 : 1) !== 2) {
    const needs = "2 arguments plus optional key:value pairs";
    const reason = `Function 'similar_to' requires ${needs}, but got ${slots.length} (%s)`;
    return refused(use, refusal(reason, slots));
  }
  const index = findIndex(use, "hnsw");
  if (index === undefined) {
    const name = namespaced(builder, use.name);
    const indexed = predicate.indexes.length > 0;
    const unindexed = `Predicate ${use.name} is not indexed`;
    return refused(use, refusal(indexed ? `Schema state not found for ${name}.` : unindexed));
  }
  return {
    kind: "similar",
    use,
    index,
    neighbors,
    target:
      value === undefined
        ? { kind: "slot", slot: target ?? neighbors }
        : { kind: "val", variable: variableIndex(builder, value.variable) },
    options,
  };
}

function buildValues(
  builder: Builder,
  args: readonly Argument[],
  kind: SlotKind = "value",
): ValuesPlan {
  const variable = args.find((argument) => argument.kind === "val");
  return {
    slots: literalSlots(builder, kind, args),
    variable: variable === undefined ? undefined : variableIndex(builder, variable.variable),
  };
}

function literalSlots(
  builder: Builder,
  kind: SlotKind,
  args: readonly Argument[],
): readonly SlotIndex[] {
  return args.flatMap((argument) =>
    literalsOf(argument).map((literal) => addSlot(builder, kind, literal)),
  );
}
