/** Facts → edits: numbers for names, values of the schema's kinds, the refusals of reference/dql 2.7, 2.11 and 3.3. */
import { assert, must } from "../base/assert.ts";
import { drive } from "../base/maybe.ts";
import { runLength, sortInSteps } from "../base/sort-steps.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import type { Look } from "../model/request-budget.ts";
import { isReservedName, reservedNameSentence } from "../graph/reserved.ts";
import { compareNames } from "../graph/schema-state.ts";
import type { Predicate, Schema } from "../graph/schema.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import { plainDefinition } from "../model/definition.ts";
import { asFault, ConversionError, quoteGo, toFault } from "../model/conversion-error.ts";
import { checkPassword, convertValue } from "../model/convert.ts";
import { Fault } from "../model/fault.ts";
import { printFloatG } from "../model/float.ts";
import type { NQuad } from "../model/nquad.ts";
import { printValueText } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import { hashPassword } from "../passwords/passwords.ts";
import { checkIndexable, checkTokenLength } from "../tokens/tokenizers.ts";
import type { Edit } from "./edit.ts";
import { printEdge } from "./print-edge.ts";
import type { BlankNodes } from "./uid-assign.ts";

/** One mutation's facts, without variables. */
export interface PlainMutation {
  readonly set: readonly NQuad[];
  readonly delete: readonly NQuad[];
}

/** In names that the reference gives to the parts of its vector indexes. */
const vectorMark = "__vector_";

/** Tags are slots of a record and parts of keys. */
const languageUnitsMax = 255;

/**
 * Edits of a request: of each mutation its deletes before its sets, then all sorted by (predicate, subject), stably.
 * Predicates must be in the schema by now (`inferDefinitions`); deletes of unknown ones do nothing.
 */
export function resolveEdits(
  schema: Schema,
  mutations: readonly PlainMutation[],
  nodes: BlankNodes,
  look?: Look,
): MaybePromise<readonly Edit[]> {
  // Judged as they were given, so that the first refusal is the one that a reader of the request expects.
  if (look !== undefined && countRows(mutations) > rowsAtOnce) {
    return drive(resolveInSteps(schema, mutations, nodes, look));
  }
  const rows = rowsOf(schema, mutations, nodes);
  for (const row of rows) row.edit = toEdit(schema, row);
  rows.sort(compareRows);
  return finishEdits(rows, look);
}

/** So many facts are judged without a look at the time. */
const rowsAtOnce = 1024;

function countRows(mutations: readonly PlainMutation[]): number {
  let count = 0;
  for (const mutation of mutations) count += mutation.delete.length + mutation.set.length;
  return count;
}

function rowsOf(schema: Schema, mutations: readonly PlainMutation[], nodes: BlankNodes): Row[] {
  const rows: Row[] = [];
  for (const mutation of mutations) {
    for (const fact of mutation.delete) addRow(rows, { schema, nodes, fact, isDelete: true });
    for (const fact of mutation.set) addRow(rows, { schema, nodes, fact, isDelete: false });
  }
  return rows;
}

function* rowsInSteps(
  schema: Schema,
  mutations: readonly PlainMutation[],
  nodes: BlankNodes,
  look: Look,
): Steps<Row[]> {
  const rows: Row[] = [];
  for (const mutation of mutations) {
    for (const isDelete of [true, false]) {
      for (const fact of isDelete ? mutation.delete : mutation.set) {
        addRow(rows, { schema, nodes, fact, isDelete });
        if (rows.length % rowsAtOnce === 0) yield look(rowsAtOnce);
      }
    }
  }
  return rows;
}

function* resolveInSteps(
  schema: Schema,
  mutations: readonly PlainMutation[],
  nodes: BlankNodes,
  look: Look,
): Steps<readonly Edit[]> {
  const rows = yield* rowsInSteps(schema, mutations, nodes, look);
  for (const [i, row] of rows.entries()) {
    row.edit = toEdit(schema, row);
    if (i % rowsAtOnce === rowsAtOnce - 1) yield look(rowsAtOnce);
  }
  const finished = finishEdits(isInOrder(rows) ? rows : yield* sortRows(rows, look), look);
  if (!(finished instanceof Promise)) return finished;
  let edits: readonly Edit[] = [];
  yield finished.then((all) => void (edits = all));
  return edits;
}

/** Facts of new nodes mostly are. */
function isInOrder(rows: readonly Row[]): boolean {
  let before: Row | undefined;
  for (const row of rows) {
    if (before !== undefined && compareRows(before, row) > 0) return false;
    before = row;
  }
  return true;
}

function* sortRows(rows: readonly Row[], look: Look): Steps<Row[]> {
  const places = Uint32Array.from(rows, (_, i) => i);
  const rowAt = (place: number): Row => must(rows[place], "each place is of a row");
  const compare = (a: number, b: number): number => compareRows(rowAt(a), rowAt(b));
  const sorted = yield* sortInSteps(places, compare, () => look(runLength));
  return Array.from(sorted, rowAt);
}

function finishEdits(rows: Row[], look: Look | undefined): MaybePromise<readonly Edit[]> {
  const edits = takeEdits(rows);
  return edits.some(isPassword) ? hashPasswords(edits, rows, look) : edits;
}

/** Throws for what `resolveEdits` would refuse of the facts whose predicates are in the schema. */
export function checkKnown(
  schema: Schema,
  mutations: readonly PlainMutation[],
  nodes: BlankNodes,
  look?: Look,
): MaybePromise<void> {
  if (look !== undefined && countRows(mutations) > rowsAtOnce) {
    return drive(checkInSteps(schema, mutations, nodes, look));
  }
  for (const row of rowsOf(schema, mutations, nodes)) {
    if (row.predicate !== undefined) toEdit(schema, row);
  }
  return undefined;
}

function* checkInSteps(
  schema: Schema,
  mutations: readonly PlainMutation[],
  nodes: BlankNodes,
  look: Look,
): Steps<void> {
  const rows = yield* rowsInSteps(schema, mutations, nodes, look);
  for (const [i, row] of rows.entries()) {
    if (row.predicate !== undefined) toEdit(schema, row);
    if (i % rowsAtOnce === rowsAtOnce - 1) yield look(rowsAtOnce);
  }
}

/** What a fact sets. */
type SetEdit = Extract<Edit, { kind: "setValue" | "setEdge" }>;

/**
 * One fact of a load, judged as those of a request are. Its predicate must be in the schema. Throws Fault; a promise
 * where a password is hashed.
 */
export function resolveSet(
  schema: Schema,
  fact: NQuad,
  place: { readonly uid: number; readonly target: number | undefined },
): MaybePromise<SetEdit> {
  const predicate = schema.predicate(fact.predicate);
  assert(predicate !== undefined, "predicates that are loaded are in the schema");
  const row: Row = { fact, ...place, predicate, isDelete: false, edit: undefined };
  const edit = toEdit(schema, row);
  assert(edit?.kind === "setValue" || edit?.kind === "setEdge", "a load only sets");
  return edit.kind === "setValue" && isPassword(edit) ? hashed(edit, row) : edit;
}

function takeEdits(rows: Row[]): readonly Edit[] {
  const edits: Edit[] = [];
  let length = 0;
  for (const row of rows) {
    if (row.edit === undefined) continue;
    edits.push(row.edit);
    rows[length++] = row;
  }
  if (length < rows.length) rows.length = length;
  return edits;
}

function isPassword(edit: Edit): edit is Extract<Edit, { kind: "setValue" }> {
  return edit.kind === "setValue" && edit.value.kind === "password";
}

/** One takes some 50 ms: before each it is looked whether the request's time is over, or its sender gone. */
async function hashPasswords(
  edits: readonly Edit[],
  rows: readonly Row[],
  look: Look | undefined,
): Promise<readonly Edit[]> {
  const finished: Edit[] = [];
  for (const [i, edit] of edits.entries()) {
    if (isPassword(edit)) {
      await look?.(1);
      finished.push(await hashed(edit, must(rows[i], "each edit is of a row"), look));
    } else finished.push(edit);
  }
  return finished;
}

interface Row {
  readonly fact: NQuad;
  readonly uid: number;
  /** undefined for values and stars. */
  readonly target: number | undefined;
  /** undefined for `S * *`, and in deletes of what the schema does not know. */
  readonly predicate: Predicate | undefined;
  readonly isDelete: boolean;
  /** undefined until the fact was judged, and where it does nothing. */
  edit: Edit | undefined;
}

interface RowSource {
  readonly schema: Schema;
  readonly nodes: BlankNodes;
  readonly fact: NQuad;
  readonly isDelete: boolean;
}

function addRow(rows: Row[], { schema, nodes, fact, isDelete }: RowSource): void {
  const uid = nodes.resolve(fact.subject);
  const target = fact.object.kind === "node" ? nodes.resolve(fact.object.node) : undefined;
  const predicate = fact.predicate === "*" ? undefined : schema.predicate(fact.predicate);
  rows.push({ fact, uid, target, predicate, isDelete, edit: undefined });
}

function compareRows(a: Row, b: Row): number {
  return compareNames(a.fact.predicate, b.fact.predicate) || a.uid - b.uid;
}

function toEdit(schema: Schema, row: Row): Edit | undefined {
  const { fact, uid, target, predicate, isDelete } = row;
  const { object, language, facets } = fact;
  if (predicate === undefined) {
    if (fact.predicate === "*") return { kind: "clearNode", uid };
    assert(isDelete, "predicates that are set are in the schema");
    checkUnknown(schema, row);
    return undefined;
  }
  if (object.kind === "star") {
    return { kind: "clear", uid, predicate: predicate.id, language: language || undefined };
  }
  checkShape(schema, row, predicate.definition);
  if (target !== undefined) {
    return isDelete
      ? { kind: "deleteEdge", uid, predicate: predicate.id, target }
      : { kind: "setEdge", uid, predicate: predicate.id, target, facets };
  }
  assert(object.kind === "value", "variables are expanded before facts are resolved");
  const value = toKind(object.value, predicate);
  checkIndexes(value, predicate, isDelete ? checkTokenLength : checkIndexable);
  if (isDelete) return { kind: "deleteValue", uid, predicate: predicate.id, language, value };
  return { kind: "setValue", uid, predicate: predicate.id, language, value, facets };
}

/** A delete of what the schema does not know is one of an untagged scalar, and names of the reserved part are none. */
function checkUnknown(schema: Schema, row: Row): void {
  const { predicate, object } = row.fact;
  if (isReservedName(predicate)) {
    throw new Fault("E_MUTATION_FACTS", reservedNameSentence("store", "predicate", predicate));
  }
  if (object.kind !== "star") checkShape(schema, row, plainDefinition(predicate, "default", false));
}

function checkShape(schema: Schema, row: Row, definition: PredicateDefinition): void {
  const { fact, target } = row;
  const { name, kind, lang } = definition;
  if (name.includes(vectorMark)) {
    throw new Fault(
      "E_MUTATION_FACTS",
      `Not allowed to insert mutations in vector index keys, edge: [${edgeText(schema, row)}]`,
    );
  }
  if (fact.language !== "" && !lang) {
    throw new Fault(
      "E_MUTATION_FACTS",
      `Attr: [${name}] should have @lang directive in schema to mutate edge: [${edgeText(schema, row)}]`,
    );
  }
  if (fact.language !== "" && !isStorableTag(fact.language)) {
    throw new Fault(
      "E_MUTATION_FACTS",
      `Invalid language tag for predicate ${JSON.stringify(name)}`,
    );
  }
  if (kind === "uid") {
    if (target !== undefined) return;
    throw new Fault(
      "E_MUTATION_FACTS",
      `Input for predicate ${JSON.stringify(name)} of type uid is scalar. Edge: ${edgeText(schema, row)}`,
    );
  }
  if (target !== undefined) {
    throw new Fault(
      "E_MUTATION_FACTS",
      `Input for predicate ${JSON.stringify(name)} of type scalar is uid. Edge: ${edgeText(schema, row)}`,
    );
  }
  if (kind !== "float32vector" || fact.object.kind !== "value") return;
  const given = fact.object.value.kind;
  if (given === "float32vector" || given === "string" || given === "default") return;
  throw new Fault(
    "E_MUTATION_FACTS",
    `Input for predicate ${JSON.stringify(name)} of type vector is not vector. ` +
      `Did you forget to add quotes before []?. Edge: ${edgeText(schema, row)}`,
  );
}

function edgeText(schema: Schema, { fact, uid, target, isDelete }: Row): string {
  return printEdge(fact, { namespace: schema.namespace, uid, target, isDelete });
}

function isStorableTag(language: string): boolean {
  if (language.length > languageUnitsMax) return false;
  for (let i = 0; i < language.length; i++) if (language.charCodeAt(i) > 0xff) return false;
  return true;
}

/** A predicate of type default keeps the kind that was given. Passwords are checked here and hashed later. */
function toKind(value: Value, predicate: Predicate): Value {
  const { kind, unique } = predicate.definition;
  if (kind === "uid" || kind === "default" || value.kind === kind) return value;
  if (unique && kind === "int") checkUniqueText(value);
  return asFault("E_MUTATION_FACTS", () => {
    if (kind === "password" && (value.kind === "string" || value.kind === "default")) {
      checkPassword(value.text);
    }
    return checkRule(predicate, convertValue(value, kind));
  });
}

/** The rights of a rule are three bits. Numbers that come as such, as from `/admin`, are taken as they are. */
function checkRule({ definition }: Predicate, value: Value): Value {
  if (definition.name !== "dgraph.rule.permission" || value.kind !== "int") return value;
  if (value.int >= 0 && value.int <= 7) return value;
  throw new Fault(
    "E_MUTATION_FACTS",
    `Can't set <dgraph.rule.permission> to ${value.int}, Value for this predicate should be between 0 and 7`,
  );
}

/** Values of a unique predicate are looked for by their text, before anything else is done with them. */
function checkUniqueText(value: Value): void {
  const text = value.kind === "float" ? printFloatG(value.float) : printValueText(value);
  try {
    convertValue({ kind: "string", text }, "int");
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const asked = `while running: name:"eq" args:${quoteGo(text)}`;
    throw new Fault("E_QUERY", `Got error: ${error.message} ${asked}`);
  }
}

/** A typed literal is taken for a finished hash, anything else is the password itself. */
async function hashed(
  edit: Extract<Edit, { kind: "setValue" }>,
  row: Row,
  asker?: object,
): Promise<Extract<Edit, { kind: "setValue" }>> {
  const given = row.fact.object;
  if (given.kind !== "value" || (given.value.kind !== "string" && given.value.kind !== "default")) {
    return edit;
  }
  const made = await hashPassword(given.value.text, asker);
  return { ...edit, value: { kind: "password", hash: made } };
}

/** Faults of the index come before anything is written. */
function checkIndexes(value: Value, predicate: Predicate, check: typeof checkIndexable): void {
  const { indexes, definition } = predicate;
  if (indexes.length === 0) return;
  try {
    for (const { tokenizer } of indexes) check(tokenizer, value, definition.name);
  } catch (error) {
    throw toFault("E_MUTATION_FACTS", error);
  }
}
