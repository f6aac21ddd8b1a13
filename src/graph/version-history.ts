/**
 * Reading an older state (reference/transactions 6.3): the newest snapshot, with what was committed since taken back.
 * One structure a process, begun when a transaction first needs it, extended from the patches of the log, shared by all
 * transactions: for each record slot and list member what stood there before each commit that changed it.
 */
import { must } from "../base/assert.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { compareBytes } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import type { AppliedPatch, Commit, Snapshot, Store } from "../store/store.ts";
import { ListDelta, prefixBytes, prefixText } from "./delta.ts";
import type { Delta, EntryDelta, NamedList, RecordDelta } from "./delta.ts";

/** What was there before commit `ts`: bytes of the cell or facets, undefined for nothing. Ascending by `ts`. */
interface Version {
  readonly ts: number;
  readonly before: Uint8Array | undefined;
}

interface EntryVersions {
  readonly slots: Map<string, Version[]>;
  readonly edges: Map<number, Version[]>;
}

const emptyFacets = new Uint8Array(0);
const idPrefixLength = 9;
/** What a version costs beside its bytes. */
const versionBytes = 160;

export class VersionHistory {
  readonly #bytesMax: number;
  /** Storage id, then uid, then predicate. */
  readonly #records = new Map<number, Map<number, Map<number, EntryVersions>>>();
  readonly #lists = new Map<string, Map<number, Version[]>>();
  readonly #under = new Map<string, Set<string>>();
  /** Commits held, oldest first. */
  #commits: Commit[] = [];
  /** States from here on can be read; undefined before the first use. */
  #floor: number | undefined = undefined;
  /** The newest commit held. */
  #number = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The delta that turns `snapshot` into the state at commit `ts`; undefined when that state is out of reach: the log
   * no longer goes back so far. A snapshot at `ts` itself needs none and must not be asked about.
   */
  view(
    store: Pick<Store, "readLog">,
    snapshot: Snapshot,
    ts: number,
    storageId: number,
  ): MaybePromise<Delta | undefined> {
    return andThen(this.#extend(store, snapshot, ts), (reached) =>
      reached ? this.#viewAt(ts, snapshot.ts, storageId) : undefined,
    );
  }

  /** Forgets everything: nobody reads an older state any more. */
  clear(): void {
    this.#records.clear();
    this.#lists.clear();
    this.#under.clear();
    this.#commits = [];
    this.#floor = undefined;
    this.#number = 0;
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #extend(store: Pick<Store, "readLog">, snapshot: Snapshot, ts: number): MaybePromise<boolean> {
    const isBegun = this.#floor !== undefined && this.#floor <= ts;
    if (isBegun && this.#number >= snapshot.ts) return true;
    const from = isBegun ? this.#number : ts;
    return andThen(store.readLog(snapshot, from), (commits) => {
      if (commits === undefined) return false;
      if (!isBegun && (this.#floor === undefined || this.#floor > ts)) {
        this.clear();
        this.#floor = ts;
        this.#number = ts;
      }
      for (const commit of commits) if (commit.commitTs > this.#number) this.#add(commit);
      this.#number = Math.max(this.#number, snapshot.ts);
      this.#shrink();
      return this.#floor !== undefined && this.#floor <= ts;
    });
  }

  #add(commit: Commit): void {
    this.#commits.push(commit);
    this.#number = commit.commitTs;
    for (const applied of commit.applied) {
      const versions = this.#versionsOf(applied, true);
      if (versions === undefined) continue;
      const before = applied.existed ? (applied.before ?? emptyFacets) : undefined;
      const last = versions[versions.length - 1];
      if (last?.ts === commit.commitTs) continue;
      versions.push({ ts: commit.commitTs, before });
      this.#bytes += versionBytes + (before?.length ?? 0);
    }
  }

  /** Keeps to the bound by forgetting the oldest commits; states before them are out of reach from then on. */
  #shrink(): void {
    let dropped = 0;
    for (const commit of this.#commits) {
      if (this.#bytes <= this.#bytesMax) break;
      dropped++;
      this.#floor = commit.commitTs;
      for (const applied of commit.applied) this.#forget(applied, commit.commitTs);
    }
    if (dropped > 0) this.#commits = this.#commits.slice(dropped);
  }

  #forget(applied: AppliedPatch, ts: number): void {
    const versions = this.#versionsOf(applied, false);
    if (versions?.[0]?.ts !== ts) return;
    this.#bytes -= versionBytes + (versions[0].before?.length ?? 0);
    versions.shift();
    if (versions.length === 0) this.#drop(applied);
  }

  #drop({ patch }: AppliedPatch): void {
    if (patch.kind === "member") {
      const text = prefixText(patch.list);
      const list = this.#lists.get(text);
      list?.delete(patch.member);
      if (list?.size !== 0) return;
      this.#lists.delete(text);
      this.#under.get(text.slice(0, idPrefixLength))?.delete(text);
      return;
    }
    if (patch.kind === "meta") return;
    const storage = this.#records.get(patch.storageId);
    const record = storage?.get(patch.uid);
    const entry = record?.get(patch.predicate);
    if (storage === undefined || record === undefined || entry === undefined) return;
    if (patch.kind === "cell") entry.slots.delete(patch.slot);
    else entry.edges.delete(patch.target);
    if (entry.slots.size === 0 && entry.edges.size === 0) record.delete(patch.predicate);
    if (record.size === 0) storage.delete(patch.uid);
  }

  #versionsOf({ patch }: AppliedPatch, make: boolean): Version[] | undefined {
    switch (patch.kind) {
      case "cell":
        return take(this.#entry(patch.storageId, patch.uid, patch.predicate, make)?.slots, {
          key: patch.slot,
          make,
        });
      case "edge":
        return take(this.#entry(patch.storageId, patch.uid, patch.predicate, make)?.edges, {
          key: patch.target,
          make,
        });
      case "member":
        return take(this.#list(prefixText(patch.list), make), { key: patch.member, make });
      case "meta":
        return undefined;
    }
  }

  #entry(
    storageId: number,
    uid: number,
    predicate: number,
    make: boolean,
  ): EntryVersions | undefined {
    let storage = this.#records.get(storageId);
    if (storage === undefined) {
      if (!make) return undefined;
      this.#records.set(storageId, (storage = new Map()));
    }
    let record = storage.get(uid);
    if (record === undefined) {
      if (!make) return undefined;
      storage.set(uid, (record = new Map()));
    }
    let entry = record.get(predicate);
    if (entry === undefined && make) {
      record.set(predicate, (entry = { slots: new Map(), edges: new Map() }));
    }
    return entry;
  }

  #list(text: string, make: boolean): Map<number, Version[]> | undefined {
    let list = this.#lists.get(text);
    if (list !== undefined || !make) return list;
    this.#lists.set(text, (list = new Map()));
    const id = text.slice(0, idPrefixLength);
    const lists = this.#under.get(id);
    if (lists === undefined) this.#under.set(id, new Set([text]));
    else lists.add(text);
    return list;
  }

  /**
   * Looks each slot up as it is asked for; what was committed after the snapshot does not count. Once the commits
   * behind `ts` were forgotten, every look-up is refused.
   */
  #viewAt(ts: number, snapshotTs: number, storageId: number): Delta {
    const check = (): void => {
      if (this.#floor === undefined || this.#floor > ts) throw outOfReach();
    };
    const pick = <K>(versions: ReadonlyMap<K, Version[]>): Map<K, Uint8Array | undefined> => {
      const found = new Map<K, Uint8Array | undefined>();
      for (const [key, row] of versions) {
        const version = row.find((candidate) => candidate.ts > ts);
        if (version !== undefined && version.ts <= snapshotTs) found.set(key, version.before);
      }
      return found;
    };
    const toList = (versions: ReadonlyMap<number, Version[]>): ListDelta => {
      const list = new ListDelta();
      for (const [member, before] of pick(versions)) list.set(member, before);
      return list;
    };
    const record = (uid: number): RecordDelta | undefined => {
      check();
      const entries = this.#records.get(storageId)?.get(uid);
      if (entries === undefined) return undefined;
      const changed = new Map<number, EntryDelta>();
      for (const [predicate, entry] of entries) {
        changed.set(predicate, { slots: pick(entry.slots), edges: toList(entry.edges) });
      }
      return changed;
    };
    const list = (prefix: string): ListDelta | undefined => {
      check();
      const versions = this.#lists.get(prefix);
      return versions === undefined ? undefined : toList(versions);
    };
    const listsUnder = (prefix: string): readonly NamedList[] | undefined => {
      check();
      const texts = this.#under.get(prefix);
      if (texts === undefined || texts.size === 0) return undefined;
      return [...texts]
        .map((text) => ({
          prefix: prefixBytes(text),
          delta: toList(must(this.#lists.get(text), "a text of its prefixes")),
        }))
        .sort((a, b) => compareBytes(a.prefix, b.prefix));
    };
    return { isEmpty: false, record, list, listsUnder };
  }
}

/** What the reference answers to a transaction whose past is gone (reference/dql 3.6). */
export function outOfReach(): Fault {
  return new Fault(
    "E_TXN_ABORTED",
    "rpc error: code = Aborted desc = Transaction has been aborted. Please retry",
  );
}

function take<K>(
  map: Map<K, Version[]> | undefined,
  request: { readonly key: K; readonly make: boolean },
): Version[] | undefined {
  if (map === undefined) return undefined;
  let versions = map.get(request.key);
  if (versions === undefined && request.make) map.set(request.key, (versions = []));
  return versions;
}
