/**
 * How many stored nodes of a type a change touches, with examples. Price: one pass over the nodes of the type for all
 * checks together, a second one for keys of which two nodes have the same hash, and 8 bytes for each node with a key.
 */
import type { Column, ColumnRequest, EdgeColumn, Reader } from "../../graph/reader.ts";
import type { Predicate } from "../../graph/schema.ts";
import { must } from "../../base/assert.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import { convertValue } from "../../model/convert.ts";
import { printValueText } from "../../model/print-value.ts";
import { printUid } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import type { EdgeSource, ValueSource } from "../schema/compiled-schema.ts";
import type { DataCheck, StoredSource } from "../schema/schema-difference.ts";
import { readTypes, scanNodes, typeList } from "./node-scan.ts";
import { RepeatedValues } from "./repeated-values.ts";

export interface Finding {
  readonly nodes: number;
  /** Where what was asked holds even of no node of the type. */
  readonly isGeneral?: boolean;
  /**
   * Some of them: `0x1`, with what they have, `"thirty" at 0x1`, or where they lead to, `0x1 → 0x2`. The last is `…` where
   * there are more.
   */
  readonly examples: readonly string[];
}

/** Of nodes and values that a message shows. */
const shownMax = 3;
const shownLength = 60;

/** What is noted while the nodes pass. */
interface Pass {
  readonly requests: readonly ColumnRequest[];
  /** `columns`: of its requests, in their order. */
  visit(uids: Float64Array, columns: readonly Column[]): void | Promise<void>;
  finish(): Promise<Finding>;
}

/** One finding for each check, in their order. Gives others their turn between slices. */
export async function findTouched(
  reader: Reader,
  typeName: string,
  checks: readonly DataCheck[],
): Promise<readonly Finding[]> {
  const passes = checks.map((check) => makePass(reader, typeName, check));
  const read = passes.filter((pass) => pass !== undefined);
  if (read.length > 0) {
    const requests = read.flatMap((pass) => pass.requests);
    await scanNodes(reader, typeList(reader, typeName), requests, async (uids, columns) => {
      let from = 0;
      for (const pass of read) {
        const own = columns.slice(from, from + pass.requests.length);
        from += pass.requests.length;
        const visited = pass.visit(uids, own);
        if (visited !== undefined) await visited;
      }
    });
  }
  const findings: Finding[] = [];
  for (const pass of passes) findings.push((await pass?.finish()) ?? { nodes: 0, examples: [] });
  return findings;
}

/** undefined where nothing of it is stored. */
function makePass(reader: Reader, typeName: string, check: DataCheck): Pass | undefined {
  if (check.kind === "all") return passOf([], () => () => "");
  if (check.kind === "untyped") return passUntyped(reader, check.name);
  const { source } = check;
  const predicate = reader.schema.predicate(source.predicate);
  const isStored = predicate !== undefined && isEdge(predicate) === (source.kind === "edge");
  switch (check.kind) {
    case "lacking":
      if (!isStored) return passOf([], () => () => "");
      return passOf([requestOf(source, predicate)], ([column]) => {
        const has = hasValue(source, must(column, "one was asked for"));
        return (row) => (has(row) ? undefined : "");
      });
    case "unstorable":
      return predicate === undefined ? undefined : passUnstorable(reader, check.source, predicate);
    case "having":
      return predicate === undefined ? undefined : passHaving(predicate);
    case "misfit":
      return isStored ? passMisfit(check.source, predicate) : undefined;
    case "repeated":
      return isStored ? passRepeated(reader, typeName, predicate) : undefined;
    case "foreign":
      return isStored ? passForeign(reader, check.source, predicate, check.names) : undefined;
    case "oneSided":
      return isStored ? passOneSided(reader, check.source, predicate, check.inverse) : undefined;
  }
}

function passHaving({ id }: Predicate): Pass {
  return passOf([{ kind: "count", predicate: id }], ([column]) => (row) => {
    const counts = column?.kind === "count" ? column.counts : undefined;
    return (counts?.[row] ?? 0) > 0 ? "" : undefined;
  });
}

/** As an alter refuses it: a list that gets shorter always, values and edges for each other where there are any. */
function passUnstorable(
  reader: Reader,
  source: StoredSource,
  predicate: Predicate,
): Pass | undefined {
  const { list } = predicate.definition;
  const isOther = isEdge(predicate) !== (source.kind === "edge");
  const isShorter = list && !source.isList;
  if (!isOther && !isShorter) return undefined;
  const having = passHaving(predicate);
  return {
    ...having,
    async finish() {
      const [count = 0] = await reader.countLists([{ kind: "presence", predicate: predicate.id }]);
      return { ...(await having.finish()), isGeneral: isShorter || count > 0 };
    },
  };
}

function isEdge({ definition }: Predicate): boolean {
  return definition.kind === "uid";
}

function requestOf(source: StoredSource, { id, reverseIndex }: Predicate): ColumnRequest {
  if (source.kind === "value") return { kind: "cells", predicate: id };
  if (source.isReverse && reverseIndex !== undefined) {
    return { kind: "reverse", index: reverseIndex.id, facets: false };
  }
  return { kind: "edges", predicate: id, facets: false };
}

/** `begin`: of a slice; what it gives tells of a row what it shows, "" for its uid alone, undefined where it is not meant. */
function passOf(
  requests: readonly ColumnRequest[],
  begin: (columns: readonly Column[], uids: Float64Array) => (row: number) => string | undefined,
): Pass {
  const tally = new Tally();
  return {
    requests,
    visit(uids, columns) {
      const judge = begin(columns, uids);
      uids.forEach((uid, row) => tally.note(uid, judge(row)));
    },
    finish: () => Promise.resolve(tally.finding()),
  };
}

class Tally {
  #nodes = 0;
  readonly #examples: string[] = [];

  note(uid: number, shown: string | undefined): void {
    if (shown === undefined) return;
    this.#count(shown === "" ? printUid(uid) : `${shown} at ${printUid(uid)}`);
  }

  noteEdge(uid: number, target: number | undefined): void {
    if (target !== undefined) this.#count(`${printUid(uid)} → ${printUid(target)}`);
  }

  #count(example: string): void {
    this.#nodes++;
    if (this.#examples.length < shownMax) this.#examples.push(example);
  }

  finding(): Finding {
    return { nodes: this.#nodes, examples: cut(this.#examples, this.#nodes) };
  }
}

/** The first of `count`. */
function cut(shown: readonly string[], count: number): readonly string[] {
  return count > shown.length ? [...shown, "…"] : shown;
}

function hasValue(source: StoredSource, column: Column): (row: number) => boolean {
  if (column.kind === "edges") {
    return (row) =>
      must(column.offsets[row + 1], "each row has its edges") >
      must(column.offsets[row], "each row has its edges");
  }
  if (column.kind !== "cells") return () => false;
  const tags = source.kind === "value" ? source.languages : [];
  const isMeant = (language: string): boolean =>
    tags.length === 0 ? language === "" : tags.includes(language) || tags.includes(".");
  return (row) => column.cells[row]?.some(({ language }) => isMeant(language)) === true;
}

function passMisfit(source: ValueSource, predicate: Predicate): Pass | undefined {
  const fits = fitsOf(source, predicate);
  if (fits === undefined) return undefined;
  return passOf([{ kind: "cells", predicate: predicate.id }], ([column]) => (row) => {
    const cells = column?.kind === "cells" ? column.cells[row] : undefined;
    const odd = cells?.find(({ value }) => !fits(value));
    return odd && showValue(odd.value);
  });
}

/** Whether a stored value is one of the field's type; undefined where each is. */
function fitsOf(
  { valueType, valueKind }: ValueSource,
  { definition: { kind } }: Predicate,
): ((value: Value) => boolean) | undefined {
  if (valueType.kind === "enum") return (value) => valueType.values.has(printValueText(value));
  if (kind === valueKind || (kind === "default" && valueKind === "string")) return undefined;
  return (value) => {
    try {
      convertValue(value, valueKind);
      return true;
    } catch (error) {
      if (error instanceof ConversionError) return false;
      throw error;
    }
  };
}

function passRepeated(reader: Reader, typeName: string, { id }: Predicate): Pass {
  const values = new RepeatedValues();
  const requests = [{ kind: "cells", predicate: id }] as const;
  const textsOf = (column: Column | undefined): readonly (string | undefined)[] =>
    column?.kind === "cells"
      ? column.cells.map((cells) => cells?.[0] && printValueText(cells[0].value))
      : [];
  return {
    requests,
    visit: (_uids, [column]) => values.note(textsOf(column)),
    async finish() {
      if (!values.areSuspected()) return { nodes: 0, examples: [] };
      // Two texts may have one hash: those that do are compared.
      await scanNodes(reader, typeList(reader, typeName), requests, (uids, [column]) =>
        values.compare(uids, textsOf(column)),
      );
      const repeated = values.repeated();
      const nodes = repeated.reduce((sum, { uids }) => sum + uids.length, 0);
      const examples = repeated.slice(0, shownMax).map(({ text, uids }) => {
        const shown = cut(uids.slice(0, shownMax).map(printUid), uids.length);
        return `${quote(text)} at ${shown.join(", ")}`;
      });
      return { nodes, examples: cut(examples, repeated.length) };
    },
  };
}

function passUntyped(reader: Reader, name: string): Pass | undefined {
  const types = reader.schema.predicate("dgraph.type");
  if (types === undefined) return undefined;
  return passOf([{ kind: "cells", predicate: types.id }], ([column]) => (row) => {
    const cells = column?.kind === "cells" ? column.cells[row] : undefined;
    return cells?.some(({ text }) => text === name) === true ? undefined : "";
  });
}

/** Calls `judge` with each node's targets, and says of it what that says. */
function passTargets(
  reader: Reader,
  request: ColumnRequest,
  begin: (targets: Float64Array) => Promise<(target: number, uid: number) => boolean>,
): Pass {
  const tally = new Tally();
  return {
    requests: [request],
    async visit(uids, [column]) {
      if (column?.kind !== "edges") return;
      const targets = Float64Array.from(new Set(column.targets)).sort();
      if (targets.length === 0) return;
      const isMeant = await begin(targets);
      uids.forEach((uid, row) => {
        const odd = targetsOf(column, row).find((target) => isMeant(target, uid));
        tally.noteEdge(uid, odd);
      });
    },
    finish: () => Promise.resolve(tally.finding()),
  };
}

function targetsOf({ targets, offsets }: EdgeColumn, row: number): Float64Array {
  return targets.subarray(offsets[row], offsets[row + 1]);
}

function passForeign(
  reader: Reader,
  source: EdgeSource,
  predicate: Predicate,
  names: readonly string[],
): Pass {
  return passTargets(reader, requestOf(source, predicate), async (targets) => {
    const types = await readTypes(reader, targets);
    const foreign = new Set<number>();
    targets.forEach((target, row) => {
      if (!names.some((name) => types[row]?.has(name) === true)) foreign.add(target);
    });
    return (target) => foreign.has(target);
  });
}

function passOneSided(
  reader: Reader,
  source: EdgeSource,
  predicate: Predicate,
  inverse: EdgeSource,
): Pass | undefined {
  if (source.isReverse || inverse.isReverse) return undefined;
  const back = reader.schema.predicate(inverse.predicate);
  return passTargets(reader, requestOf(source, predicate), async (targets) => {
    if (back === undefined || !isEdge(back)) return () => true;
    const [column] = await reader.readLevel(targets, [
      { kind: "edges", predicate: back.id, facets: false },
    ]);
    const rowOf = new Map(Array.from(targets, (target, row) => [target, row]));
    return (target, uid) => {
      const row = must(rowOf.get(target), "it is one of those that were read");
      return !targetsOf(column, row).includes(uid);
    };
  });
}

function showValue(value: Value): string {
  return quote(printValueText(value));
}

function quote(text: string): string {
  return JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);
}
