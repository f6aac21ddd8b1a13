/**
 * `@custom(dql:)` on Query (reference/graphql 8.6): a query written in DQL by whoever wrote the schema. Callers give
 * values for its variables and nothing else; the block named like the field is its value, completed to the field's
 * type.
 */
import { buildPlan, parseQuery } from "../../exec/dql.ts";
import { decodeUtf8, encodeUtf8 } from "../../base/bytes.ts";
import { PlanCache } from "../../engine/plan-cache.ts";
import type { PlannedText } from "../../engine/plan-cache.ts";
import { execute } from "../../exec/execute.ts";
import { explainPlan, profilePlan } from "../../exec/explain.ts";
import type { PlanReport } from "../../exec/explain.ts";
import { withYielder } from "../../exec/yielder.ts";
import type { Reader } from "../../graph/reader.ts";
import { printSchemaAnswer } from "../../graph/schema-print.ts";
import type { Schema } from "../../graph/schema.ts";
import { Fault } from "../../model/fault.ts";
import { findReads } from "../../plan/reads.ts";
import { renderDqlYielding } from "../../render/dql-json.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import type { RootField } from "../schema/compiled-schema.ts";
import { queryFailed } from "../operation/errors.ts";
import type { Location } from "../operation/errors.ts";
import type { RootOutcome } from "./answer.ts";
import { absentMessage, completeField } from "./lambda-complete.ts";
import { nothingFor, outcomeOf } from "./lambda-root.ts";
import { runContextOf, touchedUids } from "./lower-run.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { RunSettings } from "./lower-run.ts";
import { argumentText, evaluate } from "../operation/arguments.ts";
import type { RequestValues } from "../operation/arguments.ts";
import { decodeJson, isJsonArray, isJsonObject } from "../operation/json.ts";
import type { JsonValue } from "../operation/json.ts";
import type { SelectedField } from "../operation/prepare.ts";

/** A root field in DQL with the values of one request. */
export interface ReadyDql {
  readonly text: string;
  /** By name, `$` included. */
  readonly variables: ReadonlyMap<string, string>;
}

/** The DQL of a root field with the arguments given; undefined where its answer comes from elsewhere. */
export function readyDql(
  root: RootField,
  field: SelectedField,
  request: RequestValues,
): ReadyDql | undefined {
  const dql = root.directives.custom?.dql;
  if (dql?.isString !== true) return undefined;
  return { text: dql.text, variables: readVariables(root, field, request) };
}

/**
 * The arguments given, as texts. What is left out or null is not sent, so that the default counts that the DQL declares;
 * defaults of the SDL are not filled in.
 */
function readVariables(
  root: RootField,
  field: SelectedField,
  request: RequestValues,
): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const { name, value: node } of field.node.arguments ?? []) {
    const type = root.arguments.get(name.value)?.type;
    const value = type === undefined ? undefined : evaluate(node, type, request);
    // Neither lists nor objects: the schema has scalars alone (directives/custom.ts).
    if (value !== undefined && value !== null) variables.set(`$${name.value}`, argumentText(value));
  }
  return variables;
}

/** Where a query is planned and read. */
interface DqlSite {
  readonly reader: Reader;
  readonly namespace: number;
  readonly budget: RequestBudget;
}

interface DqlPlace extends DqlSite {
  readonly isProfiled: boolean;
  readonly locate: (ordinal: number) => Location;
}

interface DqlDone {
  readonly outcome: RootOutcome;
  readonly touchedUids: number;
  /** Of its value, about. */
  readonly bytes: number;
  /** Where it was asked for. */
  readonly report: PlanReport | undefined;
}

/** Runs such roots; keeps their plans. */
export class DqlRoots {
  readonly #settings: RunSettings;
  readonly #plans = new PlanCache();

  constructor(settings: RunSettings) {
    this.#settings = settings;
  }

  /** The field's value over a snapshot. Faults of the query become errors of the field. */
  async run(field: SelectedField, ready: ReadyDql, place: DqlPlace): Promise<DqlDone> {
    try {
      const { data, touched, report } = await this.#read(ready, place);
      const value = decodeJson(decodeUtf8(data));
      const block = isJsonObject(value) ? value[field.definition.name] : undefined;
      const outcome = complete(field, block, place);
      return { outcome, touchedUids: touched, bytes: data.length, report };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { outcome: failed(field, error, place), touchedUids: 0, bytes: 0, report: undefined };
    }
  }

  /** What `run` would do; reads statistics alone. Throws Fault where the query is wrong. */
  explain(ready: ReadyDql, { reader, namespace, budget }: DqlSite): Promise<PlanReport> {
    const { plan, texts } = this.#plan(ready, namespace, reader.schema);
    return explainPlan(plan, texts, reader, runContextOf(this.#settings, budget));
  }

  /** Ids of the predicates that decide the answer (`findReads`); undefined for anything. */
  readsOf(ready: ReadyDql, namespace: number, schema: Schema): ReadonlySet<number> | undefined {
    try {
      const { document, plan } = this.#plan(ready, namespace, schema);
      return document.schema === undefined ? findReads(plan) : undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return undefined;
    }
  }

  /** The JSON that /query would answer as `data`. */
  async #read(
    ready: ReadyDql,
    { reader, namespace, budget, isProfiled }: DqlPlace,
  ): Promise<{ data: Uint8Array; touched: number; report: PlanReport | undefined }> {
    const { document, plan, texts } = this.#plan(ready, namespace, reader.schema);
    if (document.schema !== undefined) {
      const data = encodeUtf8(printSchemaAnswer(reader.schema, document.schema));
      return { data, touched: 0, report: undefined };
    }
    const context = runContextOf(this.#settings, budget);
    const { result, report } = isProfiled
      ? await profilePlan(plan, texts, reader, context)
      : { result: await execute(plan, texts, reader, context), report: undefined };
    const { limits } = this.#settings;
    const data = await withYielder(runContextOf(this.#settings, budget), (yielder) =>
      renderDqlYielding(plan, result, { limits, debug: false }, yielder),
    );
    return { data, touched: touchedUids(result), report };
  }

  #plan(ready: ReadyDql, namespace: number, schema: Schema): PlannedText {
    return this.#plans.plan({ ...ready, namespace }, schema, () => {
      const document = parseQuery(ready.text, ready.variables, this.#settings.limits);
      return { document, plan: buildPlan(document, schema) };
    });
  }
}

/** A block is a list: a field that takes one object gets the only one in it. */
function complete(
  field: SelectedField,
  block: JsonValue | undefined,
  { locate }: DqlPlace,
): RootOutcome {
  const { type } = field.definition;
  const path = [field.key];
  const faults: CompletionError[] = [];
  let value = block;
  if (type.kind !== "list" && block !== undefined && isJsonArray(block)) {
    if (block.length === 1) [value] = block;
    else if (type.nonNull)
      faults.push({ message: absentMessage(field), path, place: field.ordinal });
  }
  const text = completeField(field, value, path, faults);
  const errors = faults.map(({ message, path: place, place: ordinal }) => ({
    message,
    locations: [locate(ordinal)],
    path: place,
  }));
  return outcomeOf(field, text, errors);
}

function failed(field: SelectedField, fault: Fault, { locate }: DqlPlace): RootOutcome {
  const message = `resolving ${field.key} failed because ${queryFailed(fault)}`;
  return outcomeOf(field, nothingFor(field), [{ message, locations: [locate(field.ordinal)] }]);
}
