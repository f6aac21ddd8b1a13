/**
 * From a request's text to its prepared operation. Two caches, both bounded, keys compared whole: the document's
 * template (its text without literals) → what was prepared, and the whole body → everything that its values decide.
 */
import { visit } from "graphql";
import type { DocumentNode, FieldNode, OperationDefinitionNode, ValueNode } from "graphql";
import { Lru } from "../base/lru.ts";
import { defaultLimits, nameLimit } from "../model/limits.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import { refuse, RequestRefused } from "./errors.ts";
import type { Location } from "./errors.ts";
import type { RequestValues } from "./request-arguments.ts";
import type { RequestFields } from "./request-body.ts";
import type { JsonObject } from "./request-json.ts";
import { collectChecks, passesChecks } from "./request-checks.ts";
import type { DocumentChecks } from "./request-checks.ts";
import { isTooDeep, liftLiterals } from "./request-lift.ts";
import { locate, offsetOf, parseDocument } from "./request-parse.ts";
import { conditionVariables, fragmentsOf, numberFields, selectRoots } from "./request-prepare.ts";
import type { SelectedField } from "./request-prepare.ts";
import { validateDocument } from "./request-rules.ts";
import { checkVariables, variablesOf } from "./request-variables.ts";
import type { VariableUse } from "./request-variables.ts";

/** Characters of the documents that are kept; a prepared document takes about thirty bytes for each. */
const documentCharactersMax = 512 * 1024;
/** Documents above it are prepared each time: they are written by programs, with other values each time. */
const cachedTextMax = 16 * 1024;

/** A valid document. */
interface PreparedDocument {
  /** Its length in characters. */
  readonly weight: number;
  readonly document: DocumentNode;
  readonly literalIndex: ReadonlyMap<ValueNode, number>;
  readonly ordinals: ReadonlyMap<FieldNode, number>;
  readonly operations: readonly PreparedOperation[];
  readonly checks: DocumentChecks;
  /** Variables of @skip and @include. */
  readonly conditions: readonly string[];
}

interface PreparedOperation {
  readonly node: OperationDefinitionNode;
  readonly declared: readonly VariableUse[];
  /** Root fields by the values of the conditions. */
  readonly variants: Map<string, readonly SelectedField[]>;
}

/** An operation that is to run, with the request's values. */
export interface OperationRun {
  readonly node: OperationDefinitionNode;
  readonly roots: readonly SelectedField[];
  readonly values: RequestValues;
  /** The place of a field, by its number in the document. */
  readonly locate: (ordinal: number) => Location;
}

/** Caches of one compiled schema. */
export class RequestCache {
  readonly #schema: CompiledSchema;
  readonly #depthMax: number;
  readonly #documents = new Lru<string, PreparedDocument | "exact">(
    documentCharactersMax,
    (kept) => (kept === "exact" ? minimalWeight : kept.weight),
  );

  constructor(schema: CompiledSchema, depthMax: number) {
    this.#schema = schema;
    this.#depthMax = depthMax;
  }

  /** Throws RequestRefused for a request that cannot run. */
  prepare(fields: RequestFields): OperationRun {
    const lifted =
      fields.query === "" || fields.query.length > cachedTextMax
        ? undefined
        : liftLiterals(fields.query, this.#depthMax);
    if (lifted === undefined) {
      // What was lifted is not too deep.
      checkQuery(fields.query, this.#depthMax);
      return this.#run(this.#parse(fields, []), fields, []);
    }
    let known = this.#documents.get(lifted.template);
    if (known === "exact") known = this.#documents.get(`=${fields.query}`);
    if (known !== undefined && known !== "exact") return this.#run(known, fields, lifted.literals);
    const document = this.#parse(fields, lifted.literals);
    if (literalsDecide(document)) {
      this.#documents.set(lifted.template, "exact");
      this.#documents.set(`=${fields.query}`, document);
    } else this.#documents.set(lifted.template, document);
    return this.#run(document, fields, lifted.literals);
  }

  #parse(fields: RequestFields, literals: readonly string[]): PreparedDocument {
    const document = parseDocument(fields.query);
    validateDocument(this.#schema, fields.query, document, fields.variables);
    const operations: PreparedOperation[] = [];
    for (const node of document.definitions) {
      if (node.kind !== "OperationDefinition") continue;
      operations.push({ node, declared: variablesOf(this.#schema, node), variants: new Map() });
    }
    const literalIndex = literals.length === 0 ? noLiterals : indexLiterals(document);
    const checks = collectChecks(this.#schema, document, fragmentsOf(document), literalIndex);
    forgetPlaces(document);
    return {
      weight: fields.query.length + minimalWeight,
      document,
      literalIndex,
      checks,
      ordinals: numberFields(document),
      operations,
      conditions: conditionVariables(document),
    };
  }

  #run(
    prepared: PreparedDocument,
    fields: RequestFields,
    literals: readonly string[],
  ): OperationRun {
    const operation = chooseOperation(this.#schema, prepared.operations, fields.operationName);
    if (!passesChecks(prepared.checks, literals, fields.variables)) {
      const text = fields.query;
      validateDocument(this.#schema, text, parseDocument(text), fields.variables);
    }
    checkVariables(operation.declared, fields.variables);
    const booleans = conditionValues(prepared.conditions, operation, fields.variables);
    const key = [...booleans.values()].join();
    let roots = operation.variants.get(key);
    if (roots === undefined) {
      const context = {
        schema: this.#schema,
        fragments: fragmentsOf(prepared.document),
        ordinals: prepared.ordinals,
        booleans,
      };
      roots = selectRoots(context, operation.node);
      operation.variants.set(key, roots);
    }
    const values: RequestValues = {
      declared: operation.declared,
      variables: fields.variables,
      literals,
      literalIndex: prepared.literalIndex,
    };
    const places = new Places(fields.query);
    return { node: operation.node, roots, values, locate: (ordinal) => places.at(ordinal) };
  }
}

const noLiterals: ReadonlyMap<ValueNode, number> = new Map();

/** What is refused before the schema is asked. */
export function checkQuery(query: string, depthMax: number): void {
  if (query === "") throw refuse("no query string supplied in request");
  if (query.length > depthMax && isTooDeep(query, depthMax)) {
    throw refuse(nameLimit("depth", `the document is nested deeper than ${depthMax} levels`));
  }
}

/** Where fields stand in the text of one request; parsed again when it is asked for (only messages do). */
class Places {
  readonly #text: string;
  #offsets: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  at(ordinal: number): Location {
    this.#offsets ??= [...numberFields(parseDocument(this.#text)).keys()].map(offsetOf);
    return locate(this.#text, this.#offsets[ordinal] ?? 0);
  }
}

/** The operation that a request names; seed 4.1 rule 6. */
export function chooseOperation<T extends { readonly node: OperationDefinitionNode }>(
  schema: CompiledSchema | undefined,
  operations: readonly T[],
  name: string,
): T {
  const [only] = operations;
  if (operations.length === 1 && only?.node.operation === "subscription") {
    if (schema !== undefined && schema.subscriptionType === undefined) {
      throw refuse(
        "Not resolving subscription because schema doesn't have any fields defined for subscription operation.",
      );
    }
  }
  if (operations.length > 1 && name === "") {
    throw refuse("Operation name must by supplied when query has more than 1 operation.");
  }
  const chosen =
    name === "" ? only : operations.find((operation) => operation.node.name?.value === name);
  if (chosen === undefined) {
    throw refuse(`Supplied operation name ${name} isn't present in the request.`);
  }
  return chosen;
}

function conditionValues(
  names: readonly string[],
  operation: PreparedOperation,
  variables: JsonObject,
): Map<string, boolean> {
  const values = new Map<string, boolean>();
  for (const name of names) {
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const use = operation.declared.find((declared) => declared.name === name);
    if (given === null && use !== undefined) {
      throw new RequestRefused([{ message: "cannot be null", path: ["variable", name] }]);
    }
    const fallback = use?.defaultValue;
    const byDefault = fallback?.kind === "BooleanValue" && fallback.value;
    values.set(name, given === undefined ? byDefault : given === true);
  }
  return values;
}

/**
 * Judges a request of an API that something else runs, in the same words. Throws RequestRefused; the document runs by
 * the operation that the request names.
 */
export function checkRequest(schema: CompiledSchema, fields: RequestFields): DocumentNode {
  checkQuery(fields.query, defaultLimits.depthMax);
  const document = parseDocument(fields.query);
  validateDocument(schema, fields.query, document, fields.variables);
  const operations = document.definitions.flatMap((node) =>
    node.kind === "OperationDefinition" ? [{ node }] : [],
  );
  const { node } = chooseOperation(schema, operations, fields.operationName);
  checkVariables(variablesOf(schema, node), fields.variables);
  return document;
}

const minimalWeight = 256;

/**
 * Lets go of the places of nodes, and with them of every token of the text: they are most of a document's memory, and
 * belong to one request's literals anyway.
 */
function forgetPlaces(document: DocumentNode): void {
  visit(document, {
    enter(node) {
      (node as { loc?: unknown }).loc = undefined;
    },
  });
}

/** Literals of a document in textual order: strings and numbers, as `liftLiterals` finds them. */
function indexLiterals(document: DocumentNode): Map<ValueNode, number> {
  const nodes: ValueNode[] = [];
  const keep = (node: ValueNode): undefined => {
    nodes.push(node);
  };
  visit(document, { IntValue: keep, FloatValue: keep, StringValue: keep });
  nodes.sort((a, b) => (a.loc?.start ?? 0) - (b.loc?.start ?? 0));
  return new Map(nodes.map((node, i) => [node, i]));
}

/**
 * Whether literals decide about the document's validity: where two nodes of one response name have arguments, they
 * must be equal.
 */
function literalsDecide(prepared: PreparedDocument): boolean {
  const seen = new Map<string, number>();
  for (const node of prepared.ordinals.keys()) {
    if ((node.arguments ?? []).length === 0) continue;
    const key = node.alias?.value ?? node.name.value;
    const count = (seen.get(key) ?? 0) + 1;
    if (count > 1) return true;
    seen.set(key, count);
  }
  return false;
}
