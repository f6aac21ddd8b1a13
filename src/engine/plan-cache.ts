/**
 * Two bounded caches of plans (reference/dql 4.21): exact text → plan, then shape → plan with the literals of this
 * text, or text → plan with the values of its query variables.
 * Keys are compared whole, never by a hash alone. A plan serves one version of one namespace's schema.
 */
import { lexShape } from "../exec/dql.ts";
import { Lru } from "../base/lru.ts";
import type { Field, QueryDocument } from "../dql/ast.ts";
import { readQueryParameters } from "../dql/parameters.ts";
import type { Schema } from "../graph/schema.ts";
import type { Plan } from "../plan/plan.ts";

/** A text that was parsed and planned. */
export interface PlannedText {
  readonly document: QueryDocument;
  readonly plan: Plan;
  /** This text's literals by slot; undefined: the plan's own. */
  readonly texts?: readonly string[];
}

interface Cached extends PlannedText {
  readonly schema: Schema;
}

interface PlanRequest {
  readonly namespace: number;
  readonly text: string;
  readonly variables: ReadonlyMap<string, string>;
}

/** Plans kept by their shape. One takes some forty bytes for each unit of it: 40 MB are kept at most. */
const plansMax = 2000;
const shapeUnits = 500;
/** Texts that are kept with their literals; most share the plan of their shape, else they take 80 MB at most. */
const textsMax = 8000;
const textUnits = 250;
/** Longer texts are not kept. */
const textUnitsMax = 32_768;

export class PlanCache {
  readonly #byText = new Lru<string, Cached>(textsMax * textUnits, (planned, key) =>
    // One that has texts of its own shares the plan of its shape.
    Math.max(textUnits, key.length + (planned.texts === undefined ? unitsOf(planned) : 0)),
  );
  readonly #byShape = new Lru<string, Cached>(plansMax * shapeUnits, (planned, key) =>
    Math.max(shapeUnits, key.length + unitsOf(planned)),
  );
  /** Of each namespace, as it was met last. */
  readonly #versions = new Map<number, number>();

  /** The plan of a request; `build` parses and plans when neither cache has it, and may throw. */
  plan(request: PlanRequest, schema: Schema, build: () => PlannedText): PlannedText {
    if (request.text.length > textUnitsMax) return build();
    this.#dropOld(request.namespace, schema.version);
    // Users of equal rights share their plans, and only those do.
    const owner = ownerOf(request.namespace, schema);
    if (request.variables.size > 0) return this.#planByParameters(request, owner, schema, build);
    const key = textKey(request, owner);
    const exact = this.#byText.get(key);
    if (exact?.schema === schema) return exact;
    const planned = this.#planByShape(request, owner, schema, build);
    this.#byText.set(key, { ...planned, schema });
    return planned;
  }

  /** Plans of older schemas would keep these alive: thousands of changes, thousands of schemas. */
  #dropOld(namespace: number, version: number): void {
    const known = this.#versions.get(namespace);
    if (known !== undefined && known >= version) return;
    this.#versions.set(namespace, version);
    if (known === undefined) return;
    this.#byText.clear();
    this.#byShape.clear();
  }

  /** One plan for a text with query variables; only where their values shape the tree, one for each of them. */
  #planByParameters(
    request: PlanRequest,
    owner: string,
    schema: Schema,
    build: () => PlannedText,
  ): PlannedText {
    const key = `${owner}\u0000$\u0000${request.text}`;
    const known = this.#byShape.get(key);
    if (known?.schema === schema && known.document.parameters !== undefined) {
      const values = readQueryParameters(known.document.parameters, request.variables);
      if (values !== undefined) return bindParameters(known, values);
    }
    const exactKey = textKey(request, owner);
    const exact = this.#byText.get(exactKey);
    if (exact?.schema === schema) return exact;
    const planned = build();
    if (planned.document.parameters?.isRebindable === true) {
      this.#byShape.set(key, { ...planned, schema });
    } else this.#byText.set(exactKey, { ...planned, schema });
    return planned;
  }

  #planByShape(
    request: PlanRequest,
    owner: string,
    schema: Schema,
    build: () => PlannedText,
  ): PlannedText {
    const shape = lexShape(request.text);
    if (shape === undefined) return build();
    const key = `${owner}\u0000${shape.shape}`;
    const known = this.#byShape.get(key);
    if (known?.schema === schema) {
      const { document, plan } = known;
      const texts = plan.slots.map(({ literal }) =>
        literal.token < 0 ? literal.text : (shape.literals[literal.token] ?? literal.text),
      );
      return { document, plan, texts };
    }
    const planned = build();
    this.#byShape.set(key, { ...planned, schema });
    return planned;
  }
}

/** What a plan takes beside what its text makes one expect: a fragment is there as often as it is named. */
function unitsOf({ document, plan }: PlannedText): number {
  let fields = 0;
  for (const block of document.blocks) fields += countFields(block.children);
  return fields * unitsPerField + plan.slots.length * unitsPerSlot;
}

// Of forty bytes.
const unitsPerField = 25;
const unitsPerSlot = 5;

function countFields(fields: readonly Field[]): number {
  let count = fields.length;
  for (const field of fields) {
    if ("children" in field && field.children !== undefined) count += countFields(field.children);
  }
  return count;
}

function bindParameters(
  { document, plan }: PlannedText,
  values: ReadonlyMap<string, string>,
): PlannedText {
  const texts = plan.slots.map(({ literal: { text, parameter } }) =>
    parameter === undefined ? text : (values.get(parameter) ?? text),
  );
  return { document, plan, texts };
}

function ownerOf(namespace: number, { access }: Schema): string {
  return access === undefined ? String(namespace) : `${namespace} ${access.key}`;
}

function textKey({ text, variables }: PlanRequest, owner: string): string {
  if (variables.size === 0) return `${owner}\u0000${text}`;
  return `${owner}\u0000${text}\u0000${JSON.stringify([...variables])}`;
}
