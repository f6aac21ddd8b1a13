/**
 * Facts as N-Quads (reference/dql 3.1), one a line: `<0x1> <name> "Alice"^^<xs:string> <0x0> .` The label is the
 * namespace.
 */
import { must } from "../base/assert.ts";
import { emptyBytes, encodeUtf8 } from "../base/bytes.ts";
import type { StoredCell } from "../codec/cell.ts";
import { decodeFacets } from "../codec/facets.ts";
import type { Predicate } from "../graph/schema.ts";
import type { Facets } from "../model/facet.ts";
import { Fault } from "../model/fault.ts";
import { literalTypes, printFacetValue, writeQuoted } from "./fact-values.ts";
import type { TextBuffer } from "./text-buffer.ts";

const text = (value: string): Uint8Array => encodeUtf8(value);

const typeTexts: ReadonlyMap<string, Uint8Array> = new Map(
  Object.entries(literalTypes).map(([kind, name]) => [kind, text(`^^<${name}>`)]),
);

const edgeOpen = text("<");
const edgeClose = text(">");
const lineEnd = text(" .\n");

/** What a literal's tag can be in RDF; others go into the predicate's name. */
const plainTag = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
/** What a name between `<` and `>` cannot hold. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const unwritableName = /[\u0000-\u0020<>"{}|^`\\]/;
const unwritableKey = /[\s=,()"]/;

export class RdfPrinter {
  readonly buffer: TextBuffer;
  readonly #label: Uint8Array;
  readonly #names = new Map<Predicate, Uint8Array>();
  #uid = -1;
  #subject = emptyBytes;

  constructor(buffer: TextBuffer, namespace: number) {
    this.buffer = buffer;
    this.#label = text(` <0x${namespace.toString(16)}>`);
  }

  cell(uid: number, predicate: Predicate, cell: StoredCell): void {
    const { buffer } = this;
    const { language, kind } = cell;
    const isPlainTag = language === "" || plainTag.test(language);
    this.#begin(uid, isPlainTag ? this.#nameOf(predicate) : this.#makeName(predicate, language));
    writeQuoted(buffer, cell);
    if (language !== "" && isPlainTag) buffer.raw(text(`@${language}`));
    else if (kind !== "default") buffer.raw(must(typeTexts.get(kind), "each kind has its type"));
    this.#end(cell.facets);
  }

  edge(uid: number, predicate: Predicate, target: number, facets: Uint8Array | undefined): void {
    const { buffer } = this;
    this.#begin(uid, this.#nameOf(predicate));
    buffer.raw(edgeOpen);
    buffer.uid(target);
    buffer.raw(edgeClose);
    this.#end(facets && decodeFacets(facets));
  }

  #begin(uid: number, name: Uint8Array): void {
    if (uid !== this.#uid) {
      this.#uid = uid;
      this.#subject = text(`<0x${uid.toString(16)}>`);
    }
    this.buffer.raw(this.#subject);
    this.buffer.raw(name);
  }

  #end(facets: Facets | undefined): void {
    this.buffer.raw(this.#label);
    if (facets !== undefined) this.buffer.raw(text(printFacets(facets)));
    this.buffer.raw(lineEnd);
  }

  #nameOf(predicate: Predicate): Uint8Array {
    let name = this.#names.get(predicate);
    if (name === undefined) {
      name = this.#makeName(predicate, "");
      this.#names.set(predicate, name);
    }
    return name;
  }

  #makeName({ definition: { name } }: Predicate, language: string): Uint8Array {
    if (unwritableName.test(name)) throw refuse(`the predicate ${JSON.stringify(name)}`);
    return text(` <${name}${language === "" ? "" : `@${language}`}> `);
  }
}

function printFacets(facets: Facets): string {
  const pieces = facets.map((facet) => {
    if (unwritableKey.test(facet.key)) throw refuse(`the facet ${JSON.stringify(facet.key)}`);
    return `${facet.key}=${printFacetValue(facet)}`;
  });
  return ` (${pieces.join(", ")})`;
}

function refuse(what: string): Fault {
  return new Fault("E_STARTUP", `RDF has no way to write ${what}: export with --format json`);
}
