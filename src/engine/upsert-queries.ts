/**
 * Queries of upserts, parsed and planned once for each shape: requests of one shape differ in the query's literals
 * alone (dql/shape.ts). What else decides the tree, the conditions and the variables that the facts use, is part of
 * the key, which is compared whole.
 */
import { buildPlan, lexShape } from "../exec/dql.ts";
import { Lru } from "../base/lru.ts";
import type { QueryDocument } from "../dql/ast.ts";
import type { Schema } from "../graph/schema.ts";
import type { Plan } from "../plan/plan.ts";

/** What decides the tree besides the literals. */
interface UpsertText {
  readonly query: string;
  /** As written, "" for none. */
  readonly conditions: readonly string[];
  /** The variables that the facts name, in the order in which they do. */
  readonly uses: readonly string[];
  /** Values that the query's parameters have; such a query is read anew each time. */
  readonly variables?: ReadonlyMap<string, string> | undefined;
}

/** What a text was parsed to: the query with its blocks for conditions. */
interface ParsedUpsert {
  readonly document: QueryDocument;
  /** By mutation: whether a block of the document decides it. */
  readonly isConditional: readonly boolean[];
}

interface Entry {
  readonly parsed: ParsedUpsert;
  planned: { readonly schema: Schema; readonly plan: Plan } | undefined;
}

/** An upsert's query, ready to be planned. */
export class UpsertQuery {
  readonly #entry: Entry;
  /** This text's literals by token; undefined: the tree's own. */
  readonly #literals: readonly string[] | undefined;

  constructor(entry: Entry, literals?: readonly string[]) {
    this.#entry = entry;
    this.#literals = literals;
  }

  /** What a query for the schema asks; undefined for one for data. */
  get schemaQuestion(): QueryDocument["schema"] {
    return this.#entry.parsed.document.schema;
  }

  /** The plan for a schema, and this text's literals by slot (undefined: the plan's own). Throws what buildPlan throws. */
  plan(schema: Schema): { readonly plan: Plan; readonly texts?: readonly string[] } {
    const entry = this.#entry;
    let plan = entry.planned?.schema === schema ? entry.planned.plan : undefined;
    if (plan === undefined) {
      plan = buildPlan(entry.parsed.document, schema);
      entry.planned = { schema, plan };
    }
    const literals = this.#literals;
    if (literals === undefined) return { plan };
    const texts = plan.slots.map(({ literal }) =>
      literal.token < 0 ? literal.text : (literals[literal.token] ?? literal.text),
    );
    return { plan, texts };
  }
}

/** Shapes that are kept, and the longest text among them. */
const shapesMax = 500;
const shapeUnits = 1000;
const textUnitsMax = 32_768;

export class UpsertQueries {
  readonly #entries = Lru.byLength<Entry>(shapesMax, shapeUnits);

  /** `parse` is called for a shape that is not known, and may throw; literals of conditions must have no tokens. */
  read(text: UpsertText, parse: () => ParsedUpsert): { parsed: ParsedUpsert; query: UpsertQuery } {
    if (text.query.length > textUnitsMax || text.variables !== undefined) {
      const entry: Entry = { parsed: parse(), planned: undefined };
      return { parsed: entry.parsed, query: new UpsertQuery(entry) };
    }
    const shape = lexShape(text.query);
    const key = keyOf(text, shape?.shape);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { parsed: parse(), planned: undefined };
      this.#entries.set(key, entry);
    }
    return { parsed: entry.parsed, query: new UpsertQuery(entry, shape?.literals) };
  }
}

/** The parts with their lengths before them, so that no two sets of parts make one key. */
function keyOf({ query, conditions, uses }: UpsertText, shape: string | undefined): string {
  let key = shape === undefined ? `t${query.length}:${query}` : `s${shape.length}:${shape}`;
  for (const condition of conditions) key += `c${condition.length}:${condition}`;
  for (const name of uses) key += `u${name.length}:${name}`;
  return key;
}
