/** Machines over one log, without a server: each with a store of its own. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must } from "../../src/base/assert.ts";
import { encodeUtf8 } from "../../src/base/bytes.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { Replica } from "../../src/cluster/replica.ts";
import { metaKey } from "../../src/codec/key.ts";
import type { ReplicatedLog } from "../../src/log/replicated-log.ts";
import { toStored } from "../../src/stores/row-builder.ts";
import { makeChange } from "../../src/store/contract.ts";
import type { Change, Store } from "../../src/store/store.ts";
import { openNodeStore, type NodeStore } from "../../src/stores/open.ts";

const folders: string[] = [];
const closes: (() => Promise<void>)[] = [];

/** After all tests of a file. */
export async function closeMachines(): Promise<void> {
  for (const close of closes.splice(0)) await close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function atTheEnd(close: () => Promise<void>): void {
  closes.push(() => close().catch(() => {}));
}

export function makeMachineFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weft-machine-"));
  folders.push(folder);
  return folder;
}

export interface Machine {
  readonly node: NodeStore;
  readonly replica: Replica;
  readonly dir: string;
  /** Why its writer ended. */
  readonly ends: unknown[];
}

export async function openMachine(
  log: ReplicatedLog,
  storeId: string,
  dir = makeMachineFolder(),
): Promise<Machine> {
  const ends: unknown[] = [];
  const onFatal = (error: unknown): void => void ends.push(error);
  const options = { dir, storeId, logger: silentLogger, clock: systemClock, onFatal };
  const node = await openNodeStore(options);
  atTheEnd(() => node.close());
  const pause = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  };
  try {
    const replica = await Replica.open(node, { log, clock: systemClock, pause });
    return { node, replica, dir, ends };
  } catch (error) {
    await node.close();
    throw error;
  }
}

export function lead({ replica }: Machine): Promise<Store> {
  return replica.lead(() => {}).then((store) => must(store, "nobody else takes the lead now"));
}

/** Applies all that is known to be kept. */
export async function followAll({ replica }: Machine): Promise<void> {
  while (await replica.follow());
}

/** A row of its own, by its name. */
export function putRow(name: string, value: string): Change {
  const key = metaKey(7, name);
  return makeChange({
    patches: [{ kind: "meta", key, value: encodeUtf8(value), expected: "any" }],
    basisTs: Number.MAX_SAFE_INTEGER,
  });
}

/** Of all rows but the machine's own place in the log. */
export function digestRows(node: NodeStore): string {
  const hash = createHash("sha256");
  const snapshot = node.snapshot();
  const own = metaKey(0, "store/position");
  void snapshot.scan({ start: new Uint8Array(0), end: new Uint8Array([255]) }, (key, value) => {
    if (!Buffer.from(key).equals(own)) hash.update(key).update(value);
    return true;
  });
  snapshot.close();
  return hash.digest("hex");
}

/** As a disk would that has lost its mind, with a checksum that fits. */
export async function putForeignRow(dir: string, storeId: string): Promise<void> {
  const node = await openNodeStore({ dir, storeId, logger: silentLogger, clock: systemClock });
  const key = metaKey(7, "nobody wrote this");
  const stored = toStored(key, Buffer.from("x"));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(key.length, 0);
  head.writeUInt32LE(stored.length + 1, 4);
  const rows = Buffer.concat([head, key, stored]);
  const position = must(node.position, "it has followed");
  node.apply([{ rows, keys: new Uint8Array(0) }], position);
  await node.close();
}
