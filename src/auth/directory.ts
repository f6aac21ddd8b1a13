/**
 * The users and groups of a namespace as they are stored: nodes with reserved predicates (reference/graphql 11). Read
 * whole; the lookups by name go through the index.
 */
import { assert, must } from "../base/assert.ts";
import { buildPlan, parseQuery } from "../exec/dql.ts";
import type { Runner } from "../engine/run.ts";
import type { Engine } from "../engine/engine.ts";
import { defaultLimits } from "../model/limits.ts";
import type { PredicateRule } from "./predicate-rights.ts";

export type DirectoryReader = Awaited<ReturnType<Engine["openReader"]>>;

export interface StoredRule extends PredicateRule {
  readonly uid: number;
}

/** A node with a name: a user, a group, or (by hand) both. */
export interface StoredNode {
  readonly uid: number;
  readonly name: string;
  readonly isUser: boolean;
  readonly isGroup: boolean;
  /** Uids of a user's groups, ascending. */
  readonly groups: readonly number[];
  readonly rules: readonly StoredRule[];
}

/** By uid, ascending. */
export type Directory = ReadonlyMap<number, StoredNode>;

export const userType = "dgraph.type.User";
export const groupType = "dgraph.type.Group";
export const ruleType = "dgraph.type.Rule";

/** Everybody and every group. */
export async function readDirectory(reader: DirectoryReader): Promise<Directory> {
  const [uids] = await reader.readLists([
    { kind: "presence", predicate: idOf(reader, "dgraph.xid") },
  ]);
  return readNodes(reader, uids);
}

/** Those of the names that there are, users and groups alike. */
export async function readNamed(
  reader: DirectoryReader,
  runner: Runner,
  names: Iterable<string>,
): Promise<Directory> {
  const found: number[] = [];
  for (const name of new Set(names)) {
    const variables = new Map([["$name", name]]);
    const document = parseQuery(byName, variables, defaultLimits);
    const { result } = await runner.runPlan(reader, buildPlan(document, reader.schema));
    const { rows, frame } = must(result.blocks[0], "the query has a block");
    for (const row of rows) found.push(must(frame.uids[row], "a row of the frame"));
  }
  return readNodes(reader, new Float64Array(found).sort());
}

const byName = "query named($name: string) { q(func: eq(dgraph.xid, $name)) { uid } }";

/** Groups alone, for what their rules say. */
export async function readGroups(reader: DirectoryReader): Promise<Directory> {
  const predicate = idOf(reader, "dgraph.acl.rule");
  const [uids] = await reader.readLists([{ kind: "presence", predicate }]);
  return readNodes(reader, uids);
}

export async function readNodes(reader: DirectoryReader, uids: Float64Array): Promise<Directory> {
  const columns = await reader.readLevel(uids, [
    { kind: "cells", predicate: idOf(reader, "dgraph.xid") },
    { kind: "cells", predicate: idOf(reader, "dgraph.type") },
    { kind: "edges", predicate: idOf(reader, "dgraph.user.group"), facets: false },
    { kind: "edges", predicate: idOf(reader, "dgraph.acl.rule"), facets: false },
  ]);
  const [xids, types, groups, rules] = columns;
  const ruleOf = await readRules(reader, rules.targets);
  const directory = new Map<number, StoredNode>();
  uids.forEach((uid, row) => {
    const name = xids.cells[row]?.[0]?.text;
    if (name === undefined) return;
    const kinds = new Set((types.cells[row] ?? []).map((cell) => cell.text));
    directory.set(uid, {
      uid,
      name,
      isUser: kinds.has(userType),
      isGroup: kinds.has(groupType),
      groups: [...groups.targets.subarray(groups.offsets[row], groups.offsets[row + 1])],
      rules: [...rules.targets.subarray(rules.offsets[row], rules.offsets[row + 1])].flatMap(
        (rule) => ruleOf.get(rule) ?? [],
      ),
    });
  });
  return directory;
}

async function readRules(
  reader: DirectoryReader,
  targets: Float64Array,
): Promise<ReadonlyMap<number, StoredRule>> {
  const uids = new Float64Array(new Set(targets)).sort();
  const [predicates, permissions] = await reader.readLevel(uids, [
    { kind: "cells", predicate: idOf(reader, "dgraph.rule.predicate") },
    { kind: "cells", predicate: idOf(reader, "dgraph.rule.permission") },
  ]);
  const rules = new Map<number, StoredRule>();
  uids.forEach((uid, row) => {
    const predicate = predicates.cells[row]?.[0]?.text;
    const permission = permissions.cells[row]?.[0]?.number;
    if (predicate === undefined || permission === undefined) return;
    rules.set(uid, { uid, predicate, permission });
  });
  return rules;
}

function idOf(reader: DirectoryReader, name: string): number {
  const predicate = reader.schema.predicate(name);
  assert(predicate !== undefined, "the predicates of users and groups are reserved with ACL");
  return predicate.id;
}
