/**
 * @unique: no two nodes hold the same value (reference/dql 2.3). Checked on the view before a request's edits apply.
 */
import { isIdentifying } from "../tokens/tokenizers.ts";
import { assert } from "../base/assert.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Reader } from "../graph/reader.ts";
import type { Predicate, PredicateIndex } from "../graph/schema.ts";
import { Fault } from "../model/fault.ts";
import type { Look } from "../model/request-budget.ts";
import { printValueText } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import { fingerprintValue } from "../tokens/fingerprint.ts";
import { indexTokens } from "../graph/value-tokens.ts";
import type { Edit } from "./edit.ts";

type SetValue = Extract<Edit, { kind: "setValue" }>;

/**
 * Throws when a value is given to two subjects of the request, or belongs to another node that the request does not
 * give a new one. Gives whether any unique predicate is written.
 */
export function checkUnique(
  reader: Reader,
  edits: readonly Edit[],
  look?: Look,
): MaybePromise<boolean> {
  const { schema } = reader;
  const sets: UniqueSet[] = [];
  for (const edit of edits) {
    if (edit.kind !== "setValue") continue;
    const predicate = schema.predicateById(edit.predicate);
    if (predicate?.definition.unique === true) sets.push({ edit, predicate });
  }
  return sets.length > 0 && checkSets(reader, sets, look);
}

interface UniqueSet {
  readonly edit: SetValue;
  readonly predicate: Predicate;
}

async function checkSets(
  reader: Reader,
  sets: readonly UniqueSet[],
  look: Look | undefined,
): Promise<boolean> {
  const owners = new Map<string, number>();
  const rewritten = new Set<string>();
  for (const { edit, predicate } of sets) {
    const key = `${edit.predicate} ${fingerprintValue(edit.value)}`;
    const owner = owners.get(key);
    if (owner !== undefined && owner !== edit.uid) throw duplicate(edit.value, predicate);
    owners.set(key, edit.uid);
    rewritten.add(`${edit.predicate} ${edit.uid}`);
  }
  for (const { edit, predicate } of sets) {
    const holders = await findHolders(reader, predicate, edit);
    const pause = look?.(holders.length + 1);
    if (pause !== undefined) await pause;
    if (holders.length > 1) {
      throw new Fault(
        "E_MUTATION",
        `there are duplicates in existing data for predicate [${predicate.definition.name}].` +
          "Please drop the unique constraint and re-add it after fixing the predicate data",
      );
    }
    const holder = holders[0];
    if (holder === undefined || holder === edit.uid) continue;
    if (rewritten.has(`${edit.predicate} ${holder}`) && !predicate.definition.list) continue;
    throw duplicate(edit.value, predicate);
  }
  return true;
}

function duplicate(value: Value, predicate: Predicate): Fault {
  return new Fault(
    "E_MUTATION",
    `could not insert duplicate value [${printValueText(value)}] for predicate ` +
      `[${predicate.definition.name}]`,
  );
}

/** Nodes that hold the value in the same language. */
async function findHolders(
  reader: Reader,
  predicate: Predicate,
  edit: SetValue,
): Promise<readonly number[]> {
  const index = findIndex(predicate);
  const [token] = indexTokens(predicate, index, edit);
  assert(token !== undefined, "a unique value has a token");
  const [uids] =
    index.state === "ready"
      ? await reader.readLists([{ kind: "token", index: index.id, token }])
      : await reader.readLists([{ kind: "presence", predicate: predicate.id }]);
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: predicate.id }]);
  const wanted = fingerprintValue(edit.value);
  const holders: number[] = [];
  uids.forEach((uid, row) => {
    const holds = column.cells[row]?.some(
      (cell) => cell.language === edit.language && fingerprintValue(cell.value) === wanted,
    );
    if (holds === true) holders.push(uid);
  });
  return holders;
}

function findIndex(predicate: Predicate): PredicateIndex {
  const index = predicate.indexes.find(isIdentifying);
  assert(index !== undefined, "a unique predicate has an index that finds its values");
  return index;
}
