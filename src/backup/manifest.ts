/** What a backup is made of. Its text ends with its own hash, so that a damaged one is no backup. */
import { Fault } from "../model/fault.ts";
import type { BackupPlace } from "./place.ts";
import { checkKey, type Seal } from "./seal.ts";

export interface BackupManifest {
  readonly format: 1;
  /** Also the name of its file: time and commit. */
  readonly id: string;
  /** ISO 8601: of the state that it holds. */
  readonly createdAt: string;
  readonly commitTs: number;
  /** Of its entry in the log; "": there is none. Backups of earlier versions do not say. */
  readonly logHash?: string;
  readonly storeId: string;
  /** The version of Weft that wrote it. */
  readonly version: string;
  readonly keyCheck: string;
  readonly rows: number;
  /** Of all rows. */
  readonly bytes: number;
  readonly blocks: readonly BlockEntry[];
}

interface BlockEntry {
  readonly name: string;
  readonly rows: number;
  /** Unpacked, and as it lies there. */
  readonly bytes: number;
  readonly packedBytes: number;
}

const folder = "backups";
const newestFormat = 1;

export function nameBackup(createdAt: string, commitTs: number): string {
  return `${createdAt.replaceAll(/[-:.]/g, "")}-${commitTs}`;
}

export async function writeManifest(
  place: BackupPlace,
  seal: Seal,
  manifest: BackupManifest,
): Promise<void> {
  const text = JSON.stringify(manifest);
  await place.put(
    `${folder}/${manifest.id}.json`,
    Buffer.from(`${text}\n${seal.nameOf(Buffer.from(text))}\n`),
  );
}

/** The oldest first. Fault E_BACKUP where one is damaged, newer than this program, or of another key. */
export async function readManifests(
  place: BackupPlace,
  seal: Seal,
): Promise<readonly BackupManifest[]> {
  const names = (await place.list(folder)).filter((name) => name.endsWith(".json"));
  const manifests = await Promise.all(names.map((name) => readManifest(place, seal, name)));
  return manifests.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

async function readManifest(place: BackupPlace, seal: Seal, name: string): Promise<BackupManifest> {
  const bytes = await place.get(`${folder}/${name}`);
  const [text = "", hash = ""] = (bytes?.toString() ?? "").split("\n");
  const manifest = parse(name, text);
  if (manifest.format > newestFormat) {
    throw new Fault(
      "E_BACKUP",
      `${name} was made by a newer version of Weft (${manifest.version})`,
    );
  }
  checkKey(seal, manifest.keyCheck);
  if (seal.nameOf(Buffer.from(text)) !== hash) {
    throw new Fault("E_BACKUP", `the manifest ${name} is damaged`);
  }
  return manifest;
}

function parse(name: string, text: string): BackupManifest {
  try {
    return JSON.parse(text) as BackupManifest;
  } catch (error) {
    throw new Fault("E_BACKUP", `the manifest ${name} is damaged`, { cause: error });
  }
}

export function removeManifest(place: BackupPlace, { id }: BackupManifest): Promise<void> {
  return place.remove(`${folder}/${id}.json`);
}
