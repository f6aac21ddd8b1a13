/**
 * Arguments of comparisons as values of the predicate's kind, refused with the reference's words (reference/dql 4.3).
 */
import { convertValue } from "../model/convert.ts";
import { ConversionError, attempt, quoteGo } from "../model/conversion-error.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { CompareOperator, PlanRefusal, PredicateUse, ValuesPlan } from "../plan/plan.ts";
import { textOrder } from "../tokens/collate.ts";
import { buildCellTest, type CellTest } from "./compare.ts";
import { equalityTokens } from "./index-tokens.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import { queryFault, slotText, variableOf, type Run } from "./run.ts";

/** eq and the inequalities on a predicate's values; `type(T)` is eq on dgraph.type. */
export interface CompareCall {
  readonly kind: "compare";
  readonly operator: CompareOperator;
  readonly use: PredicateUse;
  readonly values: ValuesPlan;
  /** The index that finds candidates; undefined: only by reading values (filters). */
  readonly index: PredicateIndex | undefined;
  /** A filter on an indexed but not sortable predicate is refused from ten candidates on (reference/dql 2.5). */
  readonly refuseFromTen: boolean;
  /** Raised at a root once the arguments are found to be right: no index serves it. */
  readonly refusal: PlanRefusal | undefined;
}

/** The arguments as values of the predicate's kind; refused with the reference's words. */
export function bindValues(
  run: Run,
  values: ValuesPlan,
  kind: ValueKind,
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  if (values.variable !== undefined)
    return bindVariable(run, values.variable, kind, operator, atRoot);
  const texts = values.slots.map((slot) => slotText(run, slot));
  return texts.map((text) => {
    try {
      return convertValue({ kind: "string", text }, kind);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const args = texts.map((argument) => ` args:${quoteGo(argument)}`).join("");
      throw queryFault(`Got error: ${error.message} while running: name:"${operator}"${args}`);
    }
  });
}

/** `eq(p, val(x))`: all values of x, whichever node they belong to. */
function bindVariable(
  run: Run,
  variable: number,
  kind: ValueKind,
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  const { values, constant } = variableOf(run, variable);
  const distinct = new Map<string, Value>();
  for (const value of [...(values?.values ?? []), ...(constant === undefined ? [] : [constant])]) {
    const converted = attempt(() => convertValue(value, kind));
    if (converted !== undefined) distinct.set(JSON.stringify(printable(converted)), converted);
  }
  const bound = [...distinct.values()];
  if (bound.length === 0 && atRoot) return bound;
  if (operator === "eq") {
    if (bound.length === 0) throw queryFault("eq expects atleast 1 argument.");
    return bound;
  }
  const expected = operator === "between" ? 2 : 1;
  if (bound.length === expected) return bound;
  if (operator === "between") throw queryFault("between expects exactly 2 argument.");
  const texts = bound.map((value) => String(printable(value)));
  throw queryFault(`${operator} expects only 1 argument. Got: [${texts.join(" ")}]`);
}

function printable(value: Value): unknown {
  switch (value.kind) {
    case "int":
      return String(value.int);
    case "float":
      return value.float;
    case "bool":
      return value.bool;
    case "string":
    case "default":
      return value.text;
    case "bigfloat":
      return `${value.big.mantissa} ${value.big.exponent} ${value.big.special ?? ""}`;
    case "float32vector":
      return [...value.vector];
    case "datetime":
      return [value.time.seconds, value.time.nanos];
    default:
      return value;
  }
}

export function kindOf(use: PredicateUse): ValueKind {
  const kind = use.predicate?.definition.kind ?? "default";
  return kind === "uid" ? "default" : kind;
}

/** The test of a comparison's values, with the collation of a tag. */
export function buildCompareTest(call: CompareCall, bounds: readonly Value[]): CellTest {
  const kind = kindOf(call.use);
  const [tag] = call.use.languages;
  const isTagged = call.use.predicate?.definition.lang === true && tag !== undefined && tag !== ".";
  const order = isTagged ? textOrder(tag, call.index !== undefined) : undefined;
  return buildCellTest(call.operator, bounds, kind, order);
}

/** A predicate whose only index cuts its texts into pieces cannot be asked for a whole one (reference/dql 2.5). */
export function checkEqualityTokens(run: Run, call: CompareCall, bounds: readonly Value[]): void {
  const { index } = call;
  if (index?.tokenizer !== "trigram" && index?.tokenizer !== "ngram") return;
  for (const bound of bounds) {
    if (equalityTokens(index, bound, call.use).length <= 1) continue;
    const name = `${run.reader.schema.namespace}-${call.use.name}`;
    throw queryFault(`Attribute ${name} does not have a valid tokenizer.`);
  }
}
