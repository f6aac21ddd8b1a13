/** Which facts an export holds: all but what a server makes itself where they are loaded. */
import type { StoredCell } from "../codec/cell.ts";
import { isServerOnly } from "../graph/reserved.ts";
import type { Predicate } from "../graph/schema.ts";
import type { FactVisitor } from "./node-rows.ts";
import { asShown } from "./fact-values.ts";
import type { JsonPrinter } from "./json-printer.ts";
import type { RdfPrinter } from "./rdf-printer.ts";

/** Types of nodes that the server keeps for itself. */
const ownTypes = new Set(["dgraph.graphql", "dgraph.graphql.persisted_query", "dgraph.namespace"]);
const typePredicate = "dgraph.type";

/** Gives facts to a text; what JSON cannot say goes beside it, as RDF. */
export class FactWriter implements FactVisitor {
  /** Facts that were written. */
  count = 0;
  /** Values that no query shows, since their predicate's type cannot hold them. */
  hiddenCount = 0;
  readonly #rdf: RdfPrinter;
  readonly #json: JsonPrinter | undefined;
  readonly #pieceBytes: number;
  readonly #isLeftOut = new Map<Predicate, boolean>();

  constructor(
    texts: { readonly rdf: RdfPrinter; readonly json: JsonPrinter | undefined },
    piece: number,
  ) {
    this.#rdf = texts.rdf;
    this.#json = texts.json;
    this.#pieceBytes = piece;
  }

  get isFull(): boolean {
    const json = this.#json?.buffer.length ?? 0;
    return this.#rdf.buffer.length >= this.#pieceBytes || json >= this.#pieceBytes;
  }

  cell(uid: number, predicate: Predicate, stored: StoredCell): void {
    if (this.#leavesOut(predicate)) return;
    const cell = asShown(predicate, stored);
    if (cell === undefined) {
      this.hiddenCount++;
      return;
    }
    if (predicate.definition.name === typePredicate && ownTypes.has(cell.text)) return;
    this.count++;
    if (this.#json?.cell(uid, predicate, cell) !== true) this.#rdf.cell(uid, predicate, cell);
  }

  edge(uid: number, predicate: Predicate, target: number, facets: Uint8Array | undefined): void {
    if (this.#leavesOut(predicate)) return;
    this.count++;
    if (this.#json?.edge(uid, predicate, target, facets) !== true) {
      this.#rdf.edge(uid, predicate, target, facets);
    }
  }

  #leavesOut(predicate: Predicate): boolean {
    let isLeftOut = this.#isLeftOut.get(predicate);
    if (isLeftOut === undefined) {
      isLeftOut = isServerOnly(predicate.definition.name);
      this.#isLeftOut.set(predicate, isLeftOut);
    }
    return isLeftOut;
  }
}
