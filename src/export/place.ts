/** How far an export has come: a small file beside the others, so that one that was ended is gone on with. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of what it is an export: one that is of anything else is begun anew. */
interface ExportSubject {
  readonly storeId: string;
  /** The commit that it shows. */
  readonly commitTs: number;
  readonly format: ExportFormat;
  readonly namespaces: readonly number[];
}

export type ExportFormat = "rdf" | "json";

export interface ExportPlace {
  /** Place in `namespaces`, and the node of it up to which all is written. */
  readonly namespaceIndex: number;
  readonly after: number;
  readonly facts: number;
  readonly hidden: number;
  /** Bytes of each file by then. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Whether the list of JSON has an object. */
  readonly hasOne: boolean;
}

export const firstPlace: ExportPlace = {
  namespaceIndex: 0,
  after: 0,
  facts: 0,
  hidden: 0,
  sizes: {},
  hasOne: false,
};

const journalName = "export.partial.json";

interface Kept extends ExportSubject {
  readonly place: ExportPlace;
}

type FoundPlace =
  | { readonly kind: "none" }
  | { readonly kind: "same"; readonly place: ExportPlace }
  /** Of another state of the store, or of another store. */
  | { readonly kind: "other" };

export function readPlaceKept(dir: string, subject: ExportSubject): FoundPlace {
  const path = join(dir, journalName);
  if (!existsSync(path)) return { kind: "none" };
  try {
    const kept = JSON.parse(readFileSync(path, "utf8")) as Kept;
    return describe(kept) === describe(subject)
      ? { kind: "same", place: kept.place }
      : { kind: "other" };
  } catch {
    return { kind: "other" };
  }
}

function describe({ storeId, commitTs, format, namespaces }: ExportSubject): string {
  return JSON.stringify([storeId, commitTs, format, namespaces]);
}

export function keepPlace(dir: string, subject: ExportSubject, place: ExportPlace): void {
  const { storeId, commitTs, format, namespaces } = subject;
  const path = join(dir, journalName);
  const text = JSON.stringify({ storeId, commitTs, format, namespaces, place });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function forgetPlace(dir: string): void {
  rmSync(join(dir, journalName), { force: true });
}
