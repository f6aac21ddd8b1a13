/**
 * The schema of a namespace as of an older commit: patches name predicates by number, and a predicate may be gone by
 * now. Each change of a schema stands in the log with the state before it: the first one behind a commit has the state
 * in which that was made. One for a process.
 */
import {
  globalStorageId,
  logKey,
  readKind,
  keyKind,
  readLogKey,
  readMetaName,
  readStorageId,
} from "../codec/key.ts";
import { SchemaCache } from "../graph/schema-rows.ts";
import { decodeSchemaState } from "../graph/schema-state.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import { openCommit, visitTouched } from "../store/patch-codec.ts";
import type { AppliedPatch, Snapshot, TouchVisitor } from "../store/store.ts";

/** A change of a namespace's schema. undefined: there was no such namespace before, or is none after. */
export interface SchemaStep {
  readonly namespace: number;
  readonly before: SchemaState | undefined;
  readonly after: SchemaState | undefined;
}

/** What a patch does to a schema; undefined for every other patch. */
export function readSchemaStep({ patch, before }: AppliedPatch): SchemaStep | undefined {
  if (patch.kind !== "meta" || readStorageId(patch.key) !== globalStorageId) return undefined;
  if (readKind(patch.key) !== keyKind.meta) return undefined;
  const [, digits] = /^schema\/(\d+)\/state$/.exec(readMetaName(patch.key)) ?? [];
  if (digits === undefined) return undefined;
  return {
    namespace: Number(digits),
    before: before && decodeSchemaState(before),
    after: patch.value && decodeSchemaState(patch.value),
  };
}

/** A commit as it says of itself. */
interface CommitSite {
  readonly namespace: number;
  readonly commitTs: number;
  /** Of the schema that it was derived from. */
  readonly schemaVersion: number;
}

/** The state in which the commits of a span were made, both ends included. */
interface Span {
  readonly namespace: number;
  readonly first: number;
  readonly last: number;
  readonly state: SchemaState | undefined;
}

/** Spans that are remembered: those who resume together stand at much the same commit. */
const spansMax = 32;
/** Rows that are looked through in one go. */
const rowsAtOnce = 512;
const bytesAtOnce = 1024 * 1024;

export class SchemaHistory {
  readonly #cache = new SchemaCache({ acl: true });
  #spans: readonly Span[] = [];

  /** The state before a commit that `snapshot` holds. `pause`: between pieces of the work. */
  async stateBefore(
    snapshot: Snapshot,
    site: CommitSite,
    pause: () => Promise<void>,
  ): Promise<SchemaState | undefined> {
    const { namespace, commitTs, schemaVersion } = site;
    const known = await this.#cache.read(snapshot, namespace);
    if (known?.state.version === schemaVersion) return known.state;
    const span = this.#spans.find(
      (one) => one.namespace === namespace && one.first <= commitTs && commitTs <= one.last,
    );
    if (span !== undefined) return span.state;
    const found = await findStep(snapshot, { namespace, from: commitTs }, pause);
    const state = found === undefined ? known?.state : found.step.before;
    const last = found?.commitTs ?? snapshot.ts;
    this.#spans = [{ namespace, first: commitTs, last, state }, ...this.#spans].slice(0, spansMax);
    return state;
  }
}

/** The first change of a namespace's schema from a commit on. */
async function findStep(
  snapshot: Snapshot,
  { namespace, from }: { readonly namespace: number; readonly from: number },
  pause: () => Promise<void>,
): Promise<{ readonly commitTs: number; readonly step: SchemaStep } | undefined> {
  for (let next = from; next <= snapshot.ts;) {
    let found: { commitTs: number; step: SchemaStep } | undefined;
    let rows = 0;
    let bytes = 0;
    await snapshot.scan({ start: logKey(next), end: logKey(snapshot.ts + 1) }, (key, row) => {
      const commitTs = readLogKey(key);
      next = commitTs + 1;
      const step = hasMeta(row) ? findStepOf(row, namespace) : undefined;
      if (step !== undefined) found = { commitTs, step };
      bytes += row.length;
      return step === undefined && ++rows < rowsAtOnce && bytes < bytesAtOnce;
    });
    if (found !== undefined || rows === 0) return found;
    await pause();
  }
  return undefined;
}

function findStepOf(row: Uint8Array, namespace: number): SchemaStep | undefined {
  // What is found outlives the row, but texts of its own are made of it at once.
  for (const applied of openCommit(row).applied) {
    const step = readSchemaStep(applied);
    if (step?.namespace === namespace) return step;
  }
  return undefined;
}

class MetaFinder implements TouchVisitor {
  readonly wantsMembers = false;
  isFound = false;
  begin(): boolean {
    return true;
  }
  record(): void {}
  member(): void {}
  meta(): void {
    this.isFound = true;
  }
}

function hasMeta(row: Uint8Array): boolean {
  const finder = new MetaFinder();
  visitTouched(row, finder);
  return finder.isFound;
}
