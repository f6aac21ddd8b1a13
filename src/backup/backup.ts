/** Backups of a store: made beside its server, verified, restored. */
import { Fault } from "../model/fault.ts";
import type { StoredRows, StoreOfRows } from "../stores/stored-rows.ts";
import { BlockCutter, pack, readBlockRows, unpack, type RowBlock } from "../stores/row-block.ts";
import { nameBackup, readManifests, writeManifest, type BackupManifest } from "./manifest.ts";
import type { BackupPlace } from "./place.ts";
import type { Seal } from "./seal.ts";

export interface BackupParts {
  readonly place: BackupPlace;
  readonly seal: Seal;
}

/** Of a run: how much of it is done, from 0 to 1, and rows that went through. */
type Progress = (share: number, rows: number) => void;

interface Written {
  readonly manifest: BackupManifest;
  readonly newBlocks: number;
  /** As they lie there. */
  readonly newBytes: number;
}

/** Read at a time; others have their turn between. */
const sliceBytes = 4 * 1024 * 1024;
/** Blocks that are packed at once: memory of some 8 MB each. */
const packedAtOnce = 3;

/** Only blocks that are not there yet are written. Fault E_BACKUP where that fails; nothing counts as a backup then. */
export async function makeBackup(
  { place, seal }: BackupParts,
  rows: StoredRows,
  { version, nowMs, onProgress }: { version: string; nowMs: number; onProgress: Progress },
): Promise<Written> {
  const release = await place.claim(nowMs);
  try {
    // A key that does not fit is told before anything is written.
    await readManifests(place, seal);
    const createdAt = new Date(nowMs).toISOString();
    const writer = new BlockWriter({ place, seal });
    const cutter = new BlockCutter();
    let bytes = 0;
    let count = 0;
    for (let isMore = true; isMore;) {
      const cut: RowBlock[] = [];
      isMore = rows.read(sliceBytes, (row) => {
        bytes += row.key.length + row.stored.length;
        count++;
        const block = cutter.add(row);
        if (block !== undefined) cut.push(block);
      });
      for (const block of cut) await writer.add(block);
      onProgress(rows.share, count);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const last = cutter.finish();
    if (last !== undefined) await writer.add(last);
    const blocks = await writer.finish();
    const manifest: BackupManifest = {
      format: 1,
      id: nameBackup(createdAt, rows.commitTs),
      createdAt,
      commitTs: rows.commitTs,
      logHash: rows.logHash,
      storeId: rows.storeId,
      version,
      keyCheck: seal.keyCheck,
      rows: count,
      bytes,
      blocks,
    };
    await writeManifest(place, seal, manifest);
    return { manifest, newBlocks: writer.newBlocks, newBytes: writer.newBytes };
  } finally {
    await release();
  }
}

/** Of a block. */
export function blockPath(name: string): string {
  return `blocks/${name.slice(0, 2)}/${name}`;
}

class BlockWriter {
  newBlocks = 0;
  newBytes = 0;
  readonly #parts: BackupParts;
  readonly #entries: Promise<BackupManifest["blocks"][number]>[] = [];
  #running: Promise<unknown>[] = [];

  constructor(parts: BackupParts) {
    this.#parts = parts;
  }

  /** Resolves when there is room for the next one. */
  async add(block: RowBlock): Promise<void> {
    const written = this.#write(block);
    // One that fails is told when it is waited for, which another may come before.
    written.catch(() => {});
    this.#entries.push(written);
    this.#running.push(written);
    if (this.#running.length < packedAtOnce) return;
    await this.#running.shift();
  }

  finish(): Promise<BackupManifest["blocks"]> {
    return Promise.all(this.#entries);
  }

  async #write({ rows, bytes }: RowBlock): Promise<BackupManifest["blocks"][number]> {
    const { place, seal } = this.#parts;
    const name = seal.nameOf(bytes);
    const path = blockPath(name);
    const known = await place.sizeOf(path);
    if (known !== undefined) return { name, rows, bytes: bytes.length, packedBytes: known };
    const sealed = seal.close(name, await pack(bytes));
    await place.put(path, sealed);
    this.newBlocks++;
    this.newBytes += sealed.length;
    return { name, rows, bytes: bytes.length, packedBytes: sealed.length };
  }
}

/** Reads all of the backups, each block once. Faults E_BACKUP: what is damaged or missing, each. */
export async function verifyBackups(
  parts: BackupParts,
  manifests: readonly BackupManifest[],
  onProgress: Progress,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const seen = new Set<string>();
  const total = bytesOf(manifests.flatMap(({ blocks }) => blocks));
  let done = 0;
  let rows = 0;
  for (const manifest of manifests) {
    for (const block of manifest.blocks) {
      if (seen.has(block.name)) continue;
      seen.add(block.name);
      try {
        readBlockRows(await readBlock(parts, block));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        problems.push(`${manifest.id}: ${error.message}`);
      }
      done += block.bytes;
      rows += block.rows;
      onProgress(done / total, rows);
    }
  }
  return problems;
}

/** Each block counts once. */
function bytesOf(blocks: BackupManifest["blocks"]): number {
  const bytes = new Map(blocks.map((block) => [block.name, block.bytes]));
  return [...bytes.values()].reduce((sum, one) => sum + one, 0);
}

async function readBlock(
  { place, seal }: BackupParts,
  { name, bytes }: BackupManifest["blocks"][number],
): Promise<Buffer> {
  const sealed = await place.get(blockPath(name));
  if (sealed === undefined) throw new Fault("E_BACKUP", `the block ${name} is missing`);
  const plain = await unpack(seal.open(name, sealed), bytes).catch((error: unknown) => {
    throw new Fault("E_BACKUP", `the block ${name} is damaged`, { cause: error });
  });
  if (plain.length !== bytes || seal.nameOf(plain) !== name) {
    throw new Fault("E_BACKUP", `the block ${name} is damaged`);
  }
  return plain;
}

/** Fills a store with what a backup holds. Fault E_BACKUP where a block is missing or damaged. */
export async function restoreBackup(
  parts: BackupParts,
  manifest: BackupManifest,
  store: Pick<StoreOfRows, "put">,
  onProgress: Progress,
): Promise<void> {
  const total = manifest.blocks.reduce((sum, block) => sum + block.bytes, 0);
  let bytes = 0;
  let rows = 0;
  for (const block of manifest.blocks) {
    const held = readBlockRows(await readBlock(parts, block));
    store.put(held);
    bytes += block.bytes;
    rows += held.length;
    onProgress(bytes / total, rows);
  }
  if (rows !== manifest.rows) throw new Fault("E_BACKUP", `${manifest.id} lacks rows`);
}
