/**
 * A store at one commit as files that a loader reads: facts (`g01.rdf.gz` or `g01.json.gz`), the schema of predicates
 * (`g01.schema.gz`) and the GraphQL schemas (`g01.gql_schema.gz`), named and made as the reference's exports are.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { must } from "../base/assert.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { systemClock } from "../base/clock.ts";
import type { Schema } from "../graph/schema.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot } from "../store/store.ts";
import { readLastUid } from "./extent.ts";
import { FactWriter } from "./facts.ts";
import {
  firstPlace,
  readPlaceKept,
  forgetPlace,
  keepPlace,
  type ExportFormat,
  type ExportPlace,
} from "./place.ts";
import { jsonClose, jsonOpen, JsonPrinter } from "./json-printer.ts";
import { walkFacts } from "./node-rows.ts";
import { PackedFile, partialName } from "./packed-file.ts";
import { PackedObject, type ObjectPlace } from "./packed-object.ts";
import { RdfPrinter } from "./rdf-printer.ts";
import { printGraphqlSchemas, printSchemas, readSchema } from "./schemas.ts";
import { TextBuffer } from "./text-buffer.ts";

export type { ExportFormat } from "./place.ts";
export { printGraphqlSchemas, printSchemas, readSchema } from "./schemas.ts";

export interface ExportProgress {
  /** How much of the nodes is behind, from 0 to 1. */
  readonly share: number;
  readonly facts: number;
}

interface ExportSource {
  readonly snapshot: Snapshot;
  readonly format: ExportFormat;
  /** Ascending. */
  readonly namespaces: readonly number[];
  readonly onProgress: (progress: ExportProgress) => void;
  /** For tests: how much is written at once, and how often the place is written down. */
  readonly pieceBytes?: number;
  readonly markMs?: number;
}

export interface ExportOptions extends ExportSource {
  readonly storeId: string;
  /** Made where it is not there. */
  readonly dir: string;
  readonly say: (line: string) => void;
}

interface Exported {
  readonly facts: number;
  /** Values that their predicate's type cannot show, which are not among them. */
  readonly hidden: number;
  /** Names within the directory. */
  readonly files: readonly string[];
}

const schemaName = "g01.schema.gz";
const graphqlName = "g01.gql_schema.gz";
const rdfName = "g01.rdf.gz";
const jsonName = "g01.json.gz";

const usualPieceBytes = 1024 * 1024;
const usualMarkMs = 2000;

/** Fault E_STARTUP for a namespace or a directory that cannot be. What was begun and ended is gone on with. */
export async function exportToFiles(options: ExportOptions): Promise<Exported> {
  const { snapshot, storeId, dir, format, namespaces, say } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  refuseWhole(dir);
  const schemas = await readSchemas(snapshot, namespaces);
  const subject = { storeId, commitTs: snapshot.ts, format, namespaces };
  const found = readPlaceKept(dir, subject);
  if (found.kind === "other") say(`${dir} has a part of another export: it is begun anew`);
  if (found.kind === "same") say(`going on where an export was ended`);
  const place = found.kind === "same" ? found.place : firstPlace;
  keepPlace(dir, subject, place);
  await writeWhole(join(dir, schemaName), printSchemas(schemas));
  await writeWhole(join(dir, graphqlName), await printGraphqlSchemas(snapshot, schemas));
  const files = await openFiles(dir, format, place);
  try {
    const done = await new FactRun(options, {
      place,
      write: (name, piece) => must(files.get(name), "each name has its file").write(piece),
      mark: async (at) => keepPlace(dir, subject, { ...at, sizes: await sizesOf(files) }),
    }).run(schemas);
    for (const file of files.values()) await file.finish();
    forgetPlace(dir);
    return { ...done, files: [...files.keys(), schemaName, graphqlName] };
  } catch (error) {
    for (const file of files.values()) await file.abandon();
    throw error;
  }
}

function refuseWhole(dir: string): void {
  const there = [rdfName, jsonName].find((name) => existsSync(join(dir, name)));
  if (there === undefined) return;
  throw new Fault("E_STARTUP", `${join(dir, there)} is there already: name another directory`);
}

async function readSchemas(
  snapshot: Snapshot,
  namespaces: readonly number[],
): Promise<readonly Schema[]> {
  const schemas: Schema[] = [];
  for (const namespace of namespaces) schemas.push(await readSchema(snapshot, namespace));
  return schemas;
}

async function writeWhole(path: string, text: string): Promise<void> {
  rmSync(path, { force: true });
  const file = await PackedFile.open(path, 0);
  await file.write(encodeUtf8(text));
  await file.finish();
}

/** Each object is whole or absent; facts come last. Fault E_STARTUP where there are some already. */
export async function exportToObjects(source: ExportSource, place: ObjectPlace): Promise<Exported> {
  const { snapshot, format, namespaces } = source;
  for (const name of [rdfName, jsonName]) {
    if ((await place.sizeOf(name)) === undefined) continue;
    throw new Fault("E_STARTUP", `${name} is there already: name another place`);
  }
  const schemas = await readSchemas(snapshot, namespaces);
  const texts = [
    [schemaName, printSchemas(schemas)],
    [graphqlName, await printGraphqlSchemas(snapshot, schemas)],
  ] as const;
  for (const [name, text] of texts) {
    const object = new PackedObject(place.upload(name));
    await object.write(encodeUtf8(text));
    await object.finish();
  }
  const names = namesOfFacts(format);
  const objects = new Map(names.map((name) => [name, new PackedObject(place.upload(name))]));
  try {
    const done = await new FactRun(source, {
      place: firstPlace,
      write: (name, piece) => must(objects.get(name), "each name has its object").write(piece),
      mark: async () => {},
    }).run(schemas);
    // What JSON leaves to RDF first: where the facts in JSON are, all of the export is.
    for (const name of [...names].reverse()) {
      await must(objects.get(name), "each name has its object").finish();
    }
    return { ...done, files: [...names, schemaName, graphqlName] };
  } catch (error) {
    for (const object of objects.values()) await object.abandon();
    throw error;
  }
}

/** JSON leaves to RDF what it cannot say. */
function namesOfFacts(format: ExportFormat): readonly string[] {
  return format === "rdf" ? [rdfName] : [jsonName, rdfName];
}

type Files = ReadonlyMap<string, PackedFile>;

async function openFiles(
  dir: string,
  format: ExportFormat,
  { sizes }: ExportPlace,
): Promise<Files> {
  const files = new Map<string, PackedFile>();
  for (const name of namesOfFacts(format)) {
    const path = join(dir, name);
    const size = existsSync(partialName(path)) ? (sizes[name] ?? 0) : 0;
    files.set(name, await PackedFile.open(path, size));
  }
  return files;
}

async function sizesOf(files: Files): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const [name, file] of files) sizes[name] = await file.settle();
  return sizes;
}

/** The facts as one plain text. Fault E_STARTUP for what JSON cannot say, since there is one place alone to write to. */
export async function exportToStream(
  source: ExportSource,
  write: (text: Uint8Array) => Promise<void>,
): Promise<number> {
  const schemas = await readSchemas(source.snapshot, source.namespaces);
  const { facts } = await new FactRun(source, {
    place: firstPlace,
    write: async (name, piece) => {
      if (source.format === "json" && name === rdfName) refuseJson(piece);
      await write(piece);
    },
    mark: async () => {},
  }).run(schemas);
  return facts;
}

function refuseJson(piece: Uint8Array): never {
  const first = new TextDecoder().decode(piece).split("\n", 1)[0] ?? "";
  throw new Fault("E_STARTUP", `JSON cannot say this: ${first} (export to a directory)`);
}

/** Where texts go, and where they begin. */
interface Outlet {
  readonly place: ExportPlace;
  write(name: typeof rdfName | typeof jsonName, piece: Uint8Array): Promise<void>;
  /** Up to this place all was written. */
  mark(place: Omit<ExportPlace, "sizes">): Promise<void>;
}

/** All facts of some namespaces, one after the other. */
class FactRun {
  readonly #source: ExportSource;
  readonly #outlet: Outlet;
  readonly #pieceBytes: number;
  readonly #rdf: TextBuffer;
  readonly #json: TextBuffer;
  #facts: number;
  #hidden: number;
  #hasOne: boolean;
  #markedMs = systemClock.tickMs();

  constructor(source: ExportSource, outlet: Outlet) {
    this.#source = source;
    this.#outlet = outlet;
    this.#pieceBytes = source.pieceBytes ?? usualPieceBytes;
    this.#rdf = new TextBuffer(2 * this.#pieceBytes);
    this.#json = new TextBuffer(2 * this.#pieceBytes);
    this.#facts = outlet.place.facts;
    this.#hidden = outlet.place.hidden;
    this.#hasOne = outlet.place.hasOne;
  }

  async run(
    schemas: readonly Schema[],
  ): Promise<{ readonly facts: number; readonly hidden: number }> {
    const { place } = this.#outlet;
    const isJson = this.#source.format === "json";
    if (isJson && (place.sizes[jsonName] ?? 0) === 0) this.#json.raw(jsonOpen);
    for (let i = place.namespaceIndex; i < schemas.length; i++) {
      const after = i === place.namespaceIndex ? place.after : 0;
      await this.#writeNamespace(schemas, i, after);
    }
    if (isJson) this.#json.raw(jsonClose);
    await this.#flush();
    this.#source.onProgress({ share: 1, facts: this.#facts });
    return { facts: this.#facts, hidden: this.#hidden };
  }

  async #writeNamespace(schemas: readonly Schema[], index: number, after: number): Promise<void> {
    const { snapshot, format, onProgress, markMs = usualMarkMs } = this.#source;
    const schema = must(schemas[index], "the index is of a namespace");
    const { namespace } = schema;
    const last = await readLastUid(snapshot, schema);
    const json =
      format === "json" ? new JsonPrinter(this.#json, namespace, this.#hasOne) : undefined;
    const rdf = new RdfPrinter(this.#rdf, namespace);
    const writer = new FactWriter({ rdf, json }, this.#pieceBytes);
    const place = (uid: number): Omit<ExportPlace, "sizes"> => ({
      namespaceIndex: index,
      after: uid,
      facts: this.#facts + writer.count,
      hidden: this.#hidden + writer.hiddenCount,
      hasOne: json?.hasOne ?? false,
    });
    for (const uid of walkFacts(snapshot, schema, after, writer)) {
      await this.#flush();
      if (uid === undefined) continue;
      const at = place(uid);
      onProgress({ share: (index + uid / Math.max(1, last)) / schemas.length, facts: at.facts });
      if (systemClock.tickMs() - this.#markedMs < markMs) continue;
      await this.#outlet.mark(at);
      this.#markedMs = systemClock.tickMs();
    }
    const { facts, hidden, hasOne } = place(last);
    this.#facts = facts;
    this.#hidden = hidden;
    this.#hasOne = hasOne;
  }

  async #flush(): Promise<void> {
    if (this.#rdf.length > 0) await this.#outlet.write(rdfName, this.#rdf.drain());
    if (this.#json.length > 0) await this.#outlet.write(jsonName, this.#json.drain());
  }
}
