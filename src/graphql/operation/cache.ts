/**
 * From a request's text to its prepared operation. Two caches, both bounded, keys compared whole: the document's
 * template (its text without literals) → what was prepared, and the whole body → everything that its values decide.
 */
import { must } from "../../base/assert.ts";
import { visit } from "graphql";
import type { DocumentNode, FieldNode, OperationDefinitionNode, ValueNode } from "graphql";
import { Lru } from "../../base/lru.ts";
import { nameLimit } from "../../model/limits.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { DocumentMeter, tooManyRoots } from "./document-meter.ts";
import type { DocumentLimits } from "./document-meter.ts";
import { checkExpandedSize } from "./expanded-size.ts";
import { refuseRequest, RequestRefused } from "./errors.ts";
import type { Location } from "./errors.ts";
import { makeValueUse } from "./arguments.ts";
import type { RequestValues } from "./arguments.ts";
import type { RequestFields } from "./body.ts";
import type { JsonObject } from "./json.ts";
import { collectChecks, passesChecks } from "./checks.ts";
import type { DocumentChecks } from "./checks.ts";
import { isTooDeep, liftLiterals } from "./lift.ts";
import { makeLocator, offsetOf, parseDocument } from "./parse.ts";
import {
  conditionVariables,
  fragmentsOf,
  numberFields,
  selectKeys,
  selectRoots,
} from "./prepare.ts";
import type { SelectedField } from "./prepare.ts";
import { validateDocument } from "./validate.ts";
import { checkRequestVariables, variablesOf } from "./variables.ts";
import type { VariableUse } from "./variables.ts";

/** Of a document whose preparation for one more request is no small matter. */
const largeWeight = 1024 * 1024;
/** Bytes of the documents of a schema that are kept, with all that was made of them. */
const documentBytesMax = 32 * 1024 * 1024;
/** Documents above it are prepared each time: they are written by programs, with other values each time. */
const cachedTextMax = 16 * 1024;

/** A valid document. */
interface PreparedDocument {
  /** Under which it is kept, if it is. */
  key: string;
  /** What it takes with its variants and their plans, in bytes, by and large. */
  weight: number;
  /** Keys of the requests that hold it, by whoever keeps them. */
  readonly bodies: Set<string>;
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
  /** By the values of the conditions; the oldest make room. */
  readonly variants: Map<string, Variant>;
}

/** The fields of an operation for some values of its conditions. */
interface Variant {
  readonly roots: readonly SelectedField[];
  /** In bytes, with the plans of its fields. */
  weight: number;
}

/** Twenty conditions have a million combinations. */
const variantsMax = 64;

// Bytes, as measured.
const bytesPerNode = 200;
const bytesPerField = 900;

/** An operation that is to run, with the request's values. */
export interface OperationRun {
  readonly node: OperationDefinitionNode;
  readonly roots: readonly SelectedField[];
  readonly values: RequestValues;
  /** The place of a field, by its number in the document. */
  readonly locate: (ordinal: number) => Location;
  /** The document that it is of. */
  readonly source: PreparedDocument;
}

/** Caches of one compiled schema. */
export class RequestCache {
  readonly #schema: CompiledSchema;
  readonly #limits: DocumentLimits;
  readonly #documents: Lru<string, PreparedDocument | "exact">;

  /** `forget` is told the bodies (`keep`) of a document that is kept no longer. */
  constructor(
    schema: CompiledSchema,
    limits: DocumentLimits,
    forget: (bodies: Iterable<string>) => void = () => {},
  ) {
    this.#schema = schema;
    this.#limits = limits;
    this.#documents = new Lru(
      documentBytesMax,
      (kept, key) => (kept === "exact" ? minimalWeight + 2 * key.length : kept.weight),
      (kept) => {
        if (kept !== "exact") forget(kept.bodies);
      },
    );
  }

  /** Bytes of all documents, as they are counted. */
  get weight(): number {
    return this.#documents.weight;
  }

  /** Whether the document of a run is kept here, so that whoever holds the run holds little beside. */
  keeps({ source }: OperationRun): boolean {
    return this.#documents.peek(source.key) === source;
  }

  /** `prepare` for a document that is known and small; undefined for any other. Throws as that does. */
  prepareKnown(fields: RequestFields): OperationRun | undefined {
    const lifted = this.#lift(fields);
    const known = lifted === undefined ? undefined : this.#find(lifted.template, fields);
    if (lifted === undefined || known === undefined || known.weight > largeWeight) return undefined;
    return this.#run(known, fields, lifted.literals);
  }

  #lift({ query }: RequestFields): ReturnType<typeof liftLiterals> {
    if (query === "" || query.length > cachedTextMax) return undefined;
    return liftLiterals(query, this.#limits.depthMax);
  }

  #find(template: string, fields: RequestFields): PreparedDocument | undefined {
    let known = this.#documents.get(template);
    if (known === "exact") known = this.#documents.get(`=${fields.query}`);
    return known === "exact" ? undefined : known;
  }

  /** Throws RequestRefused for a request that cannot run. */
  prepare(fields: RequestFields): OperationRun {
    const { depthMax } = this.#limits;
    const lifted = this.#lift(fields);
    if (lifted === undefined) {
      // What was lifted is not too deep.
      checkQuery(fields.query, depthMax);
      return this.#run(this.#parse(fields, []), fields, []);
    }
    const known = this.#find(lifted.template, fields);
    if (known !== undefined) return this.#run(known, fields, lifted.literals);
    const document = this.#parse(fields, lifted.literals);
    document.key = lifted.template;
    if (literalsDecide(document)) {
      this.#documents.set(lifted.template, "exact");
      document.key = `=${fields.query}`;
    }
    this.#documents.set(document.key, document);
    return this.#run(document, fields, lifted.literals);
  }

  #parse(fields: RequestFields, literals: readonly string[]): PreparedDocument {
    const meter = new DocumentMeter(this.#limits);
    const document = parseDocument(fields.query, this.#limits);
    this.#checkRootsOfAsked(document, fields.operationName);
    validateDocument(this.#schema, fields.query, document, fields.variables, meter);
    const operations: PreparedOperation[] = [];
    for (const node of document.definitions) {
      if (node.kind !== "OperationDefinition") continue;
      operations.push({ node, declared: variablesOf(this.#schema, node), variants: new Map() });
    }
    const literalIndex = literals.length === 0 ? noLiterals : indexLiterals(document);
    const checks = collectChecks(
      this.#schema,
      document,
      fragmentsOf(document),
      literalIndex,
      new DocumentMeter(this.#limits),
    );
    const nodes = forgetPlaces(document);
    return {
      key: "",
      weight: minimalWeight + fields.query.length * 4 + nodes * bytesPerNode,
      bodies: new Set(),
      document,
      literalIndex,
      checks,
      ordinals: numberFields(document),
      operations,
      conditions: conditionVariables(document),
    };
  }

  /** Before anything is looked for in them. */
  #checkRootsOfAsked(document: DocumentNode, operationName: string): void {
    for (const node of document.definitions) {
      if (node.kind !== "OperationDefinition") continue;
      if (operationName === "" || node.name?.value === operationName) {
        this.#checkRoots(document, node);
        return;
      }
    }
  }

  #checkRoots(document: DocumentNode, node: OperationDefinitionNode): void {
    const { documentRootsMax } = this.#limits;
    if (selectKeys(document, node).length > documentRootsMax) throw tooManyRoots(this.#limits);
  }

  #run(
    prepared: PreparedDocument,
    fields: RequestFields,
    literals: readonly string[],
  ): OperationRun {
    const operation = chooseOperation(this.#schema, prepared.operations, fields.operationName);
    if (!passesChecks(prepared.checks, literals, fields.variables)) {
      const text = fields.query;
      const document = parseDocument(text, this.#limits);
      validateDocument(this.#schema, text, document, fields.variables);
    }
    checkRequestVariables(operation.declared, fields.variables);
    const booleans = conditionValues(prepared.conditions, operation, fields.variables);
    const key = [...booleans.values()].join();
    const variant =
      operation.variants.get(key) ?? this.#makeVariant(prepared, operation, key, booleans);
    const values: RequestValues = {
      declared: operation.declared,
      variables: fields.variables,
      literals,
      literalIndex: prepared.literalIndex,
      limits: this.#limits,
      use: makeValueUse(),
      grow: (bytes) => this.#grow(prepared, variant, bytes),
    };
    const places = new Places(fields.query);
    return {
      node: operation.node,
      roots: variant.roots,
      values,
      locate: (ordinal) => places.at(ordinal),
      source: prepared,
    };
  }

  #makeVariant(
    prepared: PreparedDocument,
    operation: PreparedOperation,
    key: string,
    booleans: ReadonlyMap<string, boolean>,
  ): Variant {
    const { variants, node } = operation;
    this.#checkRoots(prepared.document, node);
    const meter = new DocumentMeter(this.#limits);
    const context = {
      schema: this.#schema,
      fragments: fragmentsOf(prepared.document),
      ordinals: prepared.ordinals,
      booleans,
      meter,
    };
    checkExpandedSize(context, node);
    const roots = selectRoots(context, node);
    const variant = { roots, weight: 2 * key.length + meter.fields * bytesPerField };
    for (const [oldest, { weight }] of variants) {
      if (variants.size < variantsMax) break;
      variants.delete(oldest);
      prepared.weight -= weight;
    }
    variants.set(key, variant);
    prepared.weight += variant.weight;
    if (prepared.key !== "") this.#documents.reweigh(prepared.key);
    return variant;
  }

  #grow(prepared: PreparedDocument, variant: Variant, bytes: number): void {
    variant.weight += bytes;
    prepared.weight += bytes;
    if (this.#documents.peek(prepared.key) === prepared) this.#documents.reweigh(prepared.key);
  }
}

const noLiterals: ReadonlyMap<ValueNode, number> = new Map();

/** What is refused before the schema is asked. */
export function checkQuery(query: string, depthMax: number): void {
  if (query === "") throw refuseRequest("no query string supplied in request");
  if (query.length > depthMax && isTooDeep(query, depthMax)) {
    throw refuseRequest(
      nameLimit("depth", `the document is nested deeper than ${depthMax} levels`),
    );
  }
}

/** Where fields stand in the text of one request; parsed again when it is asked for (only messages do). */
class Places {
  readonly #text: string;
  readonly #locate: (offset: number) => Location;
  #offsets: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#locate = makeLocator(text);
  }

  at(ordinal: number): Location {
    this.#offsets ??= [...numberFields(parseDocument(this.#text)).keys()].map(offsetOf);
    return this.#locate(must(this.#offsets[ordinal], "each ordinal has its place"));
  }
}

/** The operation that a request names; reference/graphql 4.1.3 rule 6. */
export function chooseOperation<T extends { readonly node: OperationDefinitionNode }>(
  schema: CompiledSchema | undefined,
  operations: readonly T[],
  name: string,
): T {
  const [only] = operations;
  if (operations.length === 1 && only?.node.operation === "subscription") {
    if (schema !== undefined && schema.subscriptionType === undefined) {
      throw refuseRequest(
        "Not resolving subscription because schema doesn't have any fields defined for subscription operation.",
      );
    }
  }
  if (operations.length > 1 && name === "") {
    throw refuseRequest("Operation name must by supplied when query has more than 1 operation.");
  }
  const chosen =
    name === "" ? only : operations.find((operation) => operation.node.name?.value === name);
  if (chosen === undefined) {
    throw refuseRequest(`Supplied operation name ${name} isn't present in the request.`);
  }
  return chosen;
}

export function conditionValues(
  names: readonly string[],
  operation: Pick<PreparedOperation, "declared">,
  variables: JsonObject,
): Map<string, boolean> {
  const values = new Map<string, boolean>();
  if (names.length === 0) return values;
  const uses = new Map(operation.declared.map((declared) => [declared.name, declared]));
  for (const name of names) {
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const use = uses.get(name);
    if (given === null && use !== undefined) {
      throw new RequestRefused([{ message: "cannot be null", path: ["variable", name] }]);
    }
    const fallback = use?.defaultValue;
    const byDefault = fallback?.kind === "BooleanValue" && fallback.value;
    values.set(name, given === undefined ? byDefault : given === true);
  }
  return values;
}

const minimalWeight = 256;

/**
 * Lets go of the places of nodes, and with them of every token of the text: they are most of a document's memory, and
 * belong to one request's literals anyway. Returns how many nodes there are.
 */
function forgetPlaces(document: DocumentNode): number {
  let nodes = 0;
  visit(document, {
    enter(node) {
      nodes++;
      (node as { loc?: unknown }).loc = undefined;
    },
  });
  return nodes;
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
