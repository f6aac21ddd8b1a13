/**
 * The one commit by which a store that is served holds what a backup held: namespaces get the storage ids under which
 * their rows were placed, what they had is given to be swept. Every reader sees all of it, or nothing.
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { must } from "../base/assert.ts";
import {
  countersPatch,
  dropSchemaPatches,
  readCounters,
  readNamespaces,
  readRetired,
  retiredPatch,
  SchemaCache,
  schemaPatches,
  type KnownSchema,
} from "../graph/schema-rows.ts";
import { Fault } from "../model/fault.ts";
import type { Patch, Snapshot, Store } from "../store/store.ts";
import type { ChangeSender } from "./commits.ts";
import { holdName, type RestoreHold } from "./restore-hold.ts";
import { newRightsMark } from "./rights-row.ts";
import { listOwnRows, ownRowPatch, readOwnRow } from "./system-rows.ts";

/** Where a namespace of the backup comes to. */
export interface NamespaceMove {
  readonly from: number;
  readonly into: number;
  /** Of the backup, and of the store that is served. */
  readonly fromStorage: number;
  readonly intoStorage: number;
}

/** All namespaces take the places of all that there are; or one takes that of another, beside which all stays. */
export type RestoreScope =
  | { readonly kind: "all" }
  | { readonly kind: "namespace"; readonly from: number; readonly into: number };

/** Which namespaces of a backup come where. Fault E_BACKUP where the one that is asked for is not in it. */
export async function listMoves(
  backup: Snapshot,
  scope: RestoreScope,
): Promise<readonly Omit<NamespaceMove, "intoStorage">[]> {
  const schemas = new SchemaCache({ acl: true });
  const moves: Omit<NamespaceMove, "intoStorage">[] = [];
  for (const from of await readNamespaces(backup)) {
    if (scope.kind === "namespace" && scope.from !== from) continue;
    const { storageId } = (await knownOf(schemas, backup, from)).state;
    const into = scope.kind === "namespace" ? scope.into : from;
    moves.push({ from, into, fromStorage: storageId });
  }
  if (moves.length > 0) return moves;
  const which = scope.kind === "namespace" ? `namespace ${scope.from}` : "any namespace";
  throw new Fault("E_BACKUP", `the backup does not hold ${which}`);
}

interface RestorePlan {
  readonly moves: readonly NamespaceMove[];
  readonly scope: RestoreScope;
  readonly hold: RestoreHold;
  /** Rows of the server's own that are written with it, by name. */
  readonly notes: ReadonlyMap<string, Uint8Array>;
}

/** The commit. The rows of the moves are in their places. */
export async function showRestored(
  store: Store,
  committer: ChangeSender,
  { backup, plan }: { readonly backup: Snapshot; readonly plan: RestorePlan },
): Promise<void> {
  await committer.retry(async () => {
    const snapshot = await store.snapshot();
    try {
      const patches = await derive({ backup, now: snapshot, committer }, plan);
      await committer.commitRows(snapshot, undefined, patches, {
        raisesFence: true,
        beginsLog: true,
      });
    } finally {
      snapshot.close();
    }
  });
}

interface Sides {
  readonly backup: Snapshot;
  readonly now: Snapshot;
  readonly committer: ChangeSender;
}

async function derive(sides: Sides, plan: RestorePlan): Promise<Patch[]> {
  const { now, committer } = sides;
  const { moves, scope, hold, notes } = plan;
  const schemas = new SchemaCache({ acl: true });
  const patches: Patch[] = [ownRowPatch(holdName, undefined, hold.row)];
  const there = await readNamespaces(now);
  for (const move of moves) {
    const { into } = move;
    const before = there.includes(into) ? await knownOf(schemas, now, into) : undefined;
    patches.push(...(await moveSchema(sides.backup, move, before)));
    patches.push(...(await moveJournal(sides, move)), newRightsMark(into, committer));
  }
  patches.push(...(await moveRetired(sides.backup, moves)));
  if (scope.kind === "all") {
    for (const namespace of there) {
      if (moves.some(({ into }) => into === namespace)) continue;
      const known = await knownOf(schemas, now, namespace);
      patches.push(...dropSchemaPatches(known), retireAll(known));
    }
    patches.push(...(await replaceOwnRows(sides)));
  }
  patches.push(...(await raiseCounters(sides, plan)));
  for (const [name, row] of notes) patches.push(ownRowPatch(name, row, "any"));
  return patches;
}

async function knownOf(
  schemas: SchemaCache,
  snapshot: Snapshot,
  namespace: number,
): Promise<KnownSchema> {
  return must(await schemas.read(snapshot, namespace), "it was listed in this state");
}

function retireAll({ state }: KnownSchema): Patch {
  return retiredPatch({ kind: "storage", storageId: state.storageId, id: 0 });
}

/** Versions go on, so that nobody takes the new one for the one of before. */
async function moveSchema(
  backup: Snapshot,
  { from, into, intoStorage }: NamespaceMove,
  before: KnownSchema | undefined,
): Promise<Patch[]> {
  const { state } = await knownOf(new SchemaCache({ acl: true }), backup, from);
  const next = {
    ...state,
    namespace: into,
    storageId: intoStorage,
    version: Math.max(state.version, before?.state.version ?? 0) + 1,
    fence: Math.max(state.fence, before?.state.fence ?? 0) + 1,
  };
  return [...schemaPatches(next, before), ...(before === undefined ? [] : [retireAll(before)])];
}

/** What drops had left behind in the backup came with its rows. */
async function moveRetired(
  backup: Snapshot,
  moves: readonly NamespaceMove[],
): Promise<readonly Patch[]> {
  return (await readRetired(backup)).flatMap((row) => {
    const move = moves.find(({ fromStorage }) => fromStorage === row.storageId);
    return move === undefined ? [] : [retiredPatch({ ...row, storageId: move.intoStorage })];
  });
}

const journalPrefix = "migrations/";

/** A journal of migrations names the storage id that it is of. */
async function moveJournal(
  { backup }: Sides,
  { from, into, intoStorage }: NamespaceMove,
): Promise<readonly Patch[]> {
  const row = await readOwnRow(backup, journalPrefix + from.toString(16));
  const journal: object | undefined = row && JSON.parse(decodeUtf8(row));
  const moved =
    journal === undefined
      ? undefined
      : encodeUtf8(JSON.stringify({ ...journal, storageId: intoStorage }));
  return [ownRowPatch(journalPrefix + into.toString(16), moved, "any")];
}

const quotasMark = "quotas";
/** Tasks are those of this server; the others are written for each namespace, or with a mark that is new. */
const ownPrefixes = ["task/", "rights/", journalPrefix, holdName, quotasMark];

/** Keys, quotas, revoked tokens: those of the backup. */
async function replaceOwnRows({ backup, now }: Sides): Promise<readonly Patch[]> {
  const isReplaced = (name: string): boolean =>
    !ownPrefixes.some((prefix) => name.startsWith(prefix));
  const [held, wanted] = await Promise.all([listOwnRows(now, ""), listOwnRows(backup, "")]);
  const gone = [...held.keys()].filter((name) => isReplaced(name) && !wanted.has(name));
  const mark = held.get(quotasMark);
  const count = mark === undefined ? 0 : Number(decodeUtf8(mark));
  return [
    ...gone.map((name) => ownRowPatch(name, undefined, "any")),
    ...[...wanted]
      .filter(([name]) => isReplaced(name))
      .map(([name, row]) => ownRowPatch(name, row, "any")),
    ownRowPatch(quotasMark, encodeUtf8(String(count + 1)), "any"),
  ];
}

/** No namespace gets a number that one of the backup has, or had. */
async function raiseCounters(
  { backup, now }: Sides,
  { moves, scope }: RestorePlan,
): Promise<readonly Patch[]> {
  const counters = await readCounters(now);
  const { nextStorageId, nextNamespace } = counters.counters;
  const least =
    scope.kind === "all"
      ? (await readCounters(backup)).counters.nextNamespace
      : Math.max(...moves.map(({ into }) => into + 1));
  if (least <= nextNamespace) return [];
  return [countersPatch({ nextStorageId, nextNamespace: least }, counters)];
}
