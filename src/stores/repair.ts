/**
 * `weft check --repair`: what is sound of a damaged store becomes a new one in its place, and the old files are kept
 * beside it. The files are read without LMDB, so that no damage ends the process. What is not saved is told, all of it.
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { equalBytes } from "../base/bytes.ts";
import { keyKind, readKind, readLogKey, readRecordKey } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import { decodeState, encodeState, firstState, stateKey, type StoreState } from "./commit/state.ts";
import { claimServing } from "./claim.ts";
import { checksumBytes, checksumOf } from "./lmdb/checksum.ts";
import { positionKey } from "./lmdb/engine.ts";
import { withoutChecksum, type PutRow } from "./lmdb/database.ts";
import { Environment } from "./lmdb/environment.ts";
import { dataName, headerName, readHeader, syncDirectory, writeClosed } from "./lmdb/header.ts";
import { journalNames, visitRows } from "./lmdb/journal-format.ts";
import { findSources, type Source } from "./lmdb/salvage.ts";
import { keysName } from "./sealed/keys-name.ts";
import type { StoreCipher } from "./sealed/store-cipher.ts";
import { unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";
import { claimForWriting } from "./lmdb/writing-claim.ts";
import { SpareRoom } from "./lmdb/spare-room.ts";

interface Repaired {
  readonly rows: number;
  /** The newest commit that it holds. */
  readonly commitTs: number;
  /** Where the old files are. */
  readonly kept: string;
}

/**
 * `say` is told what is done, `lose` each thing that is not saved. Fault E_STARTUP where a server has the store open, or
 * nothing in the directory can be read.
 */
export async function repairStore(
  dir: string,
  { say, lose }: { readonly say: (line: string) => void; readonly lose: (line: string) => void },
  encryption?: UserKey,
): Promise<Repaired> {
  if (!fs.existsSync(join(dir, dataName))) {
    throw new Fault("E_STARTUP", `there is nothing to repair at ${dir}: ${dataName} is missing`);
  }
  const serving = await claimServing(dir, { isChecked: false });
  const writing = await claimForWriting(dir, 0);
  try {
    if (writing === undefined) {
      throw new Fault(
        "E_STARTUP",
        `cannot repair the store at ${dir}: another process writes to it`,
      );
    }
    // The header may be what is damaged.
    const isEncrypted = fs.existsSync(join(dir, keysName));
    const cipher = unlockStore(dir, { isEncrypted }, encryption);
    const sources = findSources(dir, say, cipher);
    const source = sources[0];
    if (source === undefined) {
      throw new Fault("E_STARTUP", `nothing can be saved at ${dir}: ${dataName} has no meta page`);
    }
    for (const loss of source.losses) lose(loss);
    const knownTs = Math.max(...sources.map(({ commitTs }) => commitTs));
    if (knownTs > source.commitTs) {
      lose(`the commits ${source.commitTs + 1} to ${knownTs}, of which the rest is not sound`);
    }
    return await rebuild({ dir, source, cipher }, lose);
  } finally {
    await writing?.release();
    await serving.release();
  }
}

async function rebuild(
  { dir, source, cipher }: { dir: string; source: Source; cipher: StoreCipher | undefined },
  lose: (line: string) => void,
): Promise<Repaired> {
  const made = join(dir, "repaired.new");
  fs.rmSync(made, { recursive: true, force: true });
  fs.mkdirSync(made, { mode: 0o700 });
  // The new files are of the same keys, which stay where they are; the header tells of them.
  if (cipher !== undefined) fs.copyFileSync(join(dir, keysName), join(made, keysName));
  const room = new SpareRoom(dir, { purpose: `repair ${dir}`, outcome: "the store is as it was" });
  const environment = new Environment({ dir: made, noSync: true, cipher, room });
  let gathered: ReturnType<typeof fill>;
  try {
    gathered = fill(environment, source, lose);
  } catch (error) {
    await environment.close();
    fs.rmSync(made, { recursive: true, force: true });
    throw error;
  }
  await environment.close();
  const data = fs.openSync(join(made, dataName), "r+");
  fs.fsyncSync(data);
  fs.closeSync(data);
  writeClosed(made, readStoreId(dir, lose));
  return { ...gathered, kept: exchange(dir, made) };
}

/** The rows of the base, then those of the journal; at the end the store's own counters where they are lost. */
function fill(
  environment: Environment,
  source: Source,
  lose: (line: string) => void,
): { rows: number; commitTs: number } {
  const kept = new Counters();
  const batch: { key: Buffer; stored: Buffer }[] = [];
  const flush = (): void => {
    environment.putRows((put) => {
      for (const { key, stored } of batch) put(key, stored);
    });
    batch.length = 0;
  };
  source.visit((key, stored) => {
    kept.note(key, stored);
    batch.push({ key: Buffer.from(key), stored: Buffer.from(stored) });
    if (batch.length >= batchRows) flush();
  });
  flush();
  for (const record of source.records) {
    environment.putRows((put) => {
      visitRows(record, (key, stored) => {
        if (stored !== undefined) kept.note(key, stored);
        put(key, stored);
      });
    });
  }
  if (kept.isOfLog) {
    lose("its place in the log of its machines: it is none of them any more");
    environment.putRows((put) => put(positionKey, undefined));
  }
  const state = kept.state();
  if (kept.isStateLost) {
    lose(`the store's counters: they begin behind what was found, at commit ${state.commitTs}`);
    environment.putRows((put) => putState(put, state));
  }
  return { rows: kept.rows, commitTs: state.commitTs };
}

const batchRows = 2000;

function putState(put: PutRow, state: StoreState): void {
  const value = encodeState(state);
  const stored = Buffer.alloc(value.length + checksumBytes);
  stored.set(value);
  stored.writeUInt32LE(checksumOf(stateKey, value, value.length), value.length);
  put(stateKey, stored);
}

/** What the store's own row says, and what it must say at least. */
class Counters {
  rows = 0;
  /** It was the store of one of several machines: rows that are missing here would be missing there. */
  isOfLog = false;
  private stored: StoreState | undefined = undefined;
  private commitTs = 0;
  private maxUid = 0;

  note(key: Uint8Array, stored: Uint8Array): void {
    this.rows++;
    if (equalBytes(key, positionKey)) this.isOfLog = true;
    if (equalBytes(key, stateKey)) this.stored = decodeState(withoutChecksum(stored));
    const kind = readKind(key);
    if (kind === keyKind.log) this.commitTs = Math.max(this.commitTs, readLogKey(key));
    if (kind === keyKind.record) this.maxUid = Math.max(this.maxUid, readRecordKey(key).uid);
  }

  get isStateLost(): boolean {
    return this.soundState === undefined;
  }

  private get soundState(): StoreState | undefined {
    const { stored } = this;
    return stored === undefined || stored.commitTs < this.commitTs ? undefined : stored;
  }

  state(): StoreState {
    const { commitTs, soundState } = this;
    if (soundState !== undefined) return soundState;
    return {
      ...(this.stored ?? firstState),
      commitTs,
      fence: commitTs,
      nextUid: Math.max(this.maxUid + 1, this.stored?.nextUid ?? 1),
    };
  }
}

function readStoreId(dir: string, lose: (line: string) => void): string {
  try {
    return readHeader(dir).storeId;
  } catch {
    lose(`${headerName}: the store has a new id`);
    return randomBytes(16).toString("hex");
  }
}

/** The header goes first and comes last: a stop in between leaves a directory that no server takes for a store. */
function exchange(dir: string, made: string): string {
  let number = 1;
  while (fs.existsSync(join(dir, `damaged-${number}`))) number++;
  const kept = join(dir, `damaged-${number}`);
  fs.mkdirSync(kept, { mode: 0o700 });
  for (const name of [headerName, dataName, "lock.mdb", ...journalNames]) {
    if (fs.existsSync(join(dir, name))) fs.renameSync(join(dir, name), join(kept, name));
  }
  // They can be opened with the keys of now alone.
  if (fs.existsSync(join(dir, keysName)))
    fs.copyFileSync(join(dir, keysName), join(kept, keysName));
  syncDirectory(kept);
  for (const name of [dataName, headerName]) fs.renameSync(join(made, name), join(dir, name));
  fs.rmSync(made, { recursive: true, force: true });
  syncDirectory(dir);
  return kept;
}
