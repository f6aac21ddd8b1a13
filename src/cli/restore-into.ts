/**
 * `weft restore --into`: what a running server holds becomes that of a backup. The store of the backup is made aside;
 * its rows are brought to the server's writer, under ids that nobody reads; one commit shows them (decision 0131).
 */
import { rmSync } from "node:fs";
import { must } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import { chooseMoment } from "../backup/moment.ts";
import { ChangeSender } from "../engine/commits.ts";
import {
  dropRestoreHold,
  fillRestoreHold,
  takeRestoreHold,
  type RestoreHold,
} from "../engine/restore-hold.ts";
import {
  listMoves,
  showRestored,
  type NamespaceMove,
  type RestoreScope,
} from "../engine/restored-namespaces.ts";
import { Fault } from "../model/fault.ts";
import type { PlacedRows, Snapshot, Store } from "../store/store.ts";
import { hasWriter } from "../stores/compact-online.ts";
import type { UserKey } from "../stores/encryption.ts";
import { connectStore, openReadOnly } from "../stores/open.ts";
import { readMovedRows, readUids, StorageCounts } from "../stores/restored-rows.ts";
import { needManifests, openParts } from "./command-backup.ts";
import { makeRestoredStore } from "./command-restore.ts";
import type { RestoreFlags } from "./backup-commands.ts";
import { endWithTask, noteOfOwnTask } from "./command-tasks.ts";
import { readEncryption } from "./encryption.ts";
import { say } from "./log.ts";
import { showProgress, type Progress } from "./progress-bar.ts";
import { clearRestoreAsides, nameRestoreAside } from "./restore-aside.ts";

type IntoFlags = RestoreFlags & { readonly into: string };

export async function runRestoreInto(options: IntoFlags): Promise<void> {
  endWithTask();
  const scope = readScope(options);
  const { into } = options;
  const encryption = readEncryption(options.encryption);
  const parts = openParts(options.from, options.keyFile);
  const moment = chooseMoment(await needManifests(parts, options.from), options.at);
  const store = await connect(into, encryption);
  try {
    const committer = await openSender(store);
    const hold = await takeRestoreHold(store, committer);
    // Those of others are left behind: whoever holds is alone.
    clearRestoreAsides(into, true);
    const aside = nameRestoreAside(into);
    const run = new RestoreRun({ store, committer, scope }, hold);
    try {
      const { commitTs } = await makeRestoredStore(parts, moment, {
        dir: aside,
        encryption,
        onRows: (rows) => run.expect(rows),
      });
      const made = await openReadOnly(aside, { encryption });
      const snapshot = made.snapshot();
      try {
        await run.bring(snapshot);
      } finally {
        snapshot.close();
        await made.close();
      }
      const what = scope.kind === "all" ? "all" : `namespace ${scope.from} as ${scope.into}`;
      say(`the server of ${into} holds backup ${moment.base.id} up to commit ${commitTs}: ${what}`);
    } catch (error) {
      await run.giveUp();
      throw error;
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } finally {
    await store.close();
  }
}

async function connect(dir: string, encryption: UserKey | undefined): Promise<Store> {
  try {
    return await connectStore({ dir, encryption });
  } catch (error) {
    const isUnanswered = error instanceof Fault && error.code === "E_STORE_UNAVAILABLE";
    if (!isUnanswered || (await hasWriter(dir))) throw error;
    const words = `no server runs at ${dir}: weft restore --data DIR makes a new store`;
    throw new Fault("E_STARTUP", words, { cause: error });
  }
}

function readScope({ namespace, as }: IntoFlags): RestoreScope {
  if (namespace === undefined) {
    if (as !== undefined) throw new Fault("E_USAGE", "--as: --namespace says which one");
    return { kind: "all" };
  }
  const from = readNumber("--namespace", namespace);
  return { kind: "namespace", from, into: as === undefined ? from : readNumber("--as", as) };
}

function readNumber(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Fault("E_USAGE", `${flag}: "${text}" is no number of a namespace`);
}

async function openSender(store: Store): Promise<ChangeSender> {
  const { slot, floorTs } = await store.claimSlot();
  return new ChangeSender({ store, clock: systemClock, random: systemRandom, slot, floorTs });
}

interface RunParts {
  readonly store: Store;
  readonly committer: ChangeSender;
  readonly scope: RestoreScope;
}

/** Rows that are brought at once: the writer is busy with them for some milliseconds. */
const sliceBytes = 256 * 1024;
const uidsAtOnce = 10_000;

class RestoreRun {
  readonly #parts: RunParts;
  #hold: RestoreHold;
  #isShown = false;
  /** Rows that the backup has; commits behind it change some of them. */
  readonly #expected = new StorageCounts();

  constructor(parts: RunParts, hold: RestoreHold) {
    this.#parts = parts;
    this.#hold = hold;
  }

  expect(rows: readonly { readonly key: Uint8Array }[]): void {
    this.#expected.add(rows);
  }

  async bring(backup: Snapshot): Promise<void> {
    const { store, committer, scope } = this.#parts;
    const wanted = await listMoves(backup, scope);
    const count = wanted.length;
    this.#hold = await fillRestoreHold(store, committer, { hold: this.#hold, count });
    const moves = wanted.map((move, i) => ({
      ...move,
      intoStorage: must(this.#hold.storageIds[i], "one for each"),
    }));
    await showProgress({ title: "bringing", unit: "rows" }, (bar) =>
      this.#bringAll(backup, moves, bar),
    );
    await this.#passUids(backup);
    const task = { kind: "Restore", namespace: 0 } as const;
    const notes = noteOfOwnTask(task, systemClock.nowMs());
    await showRestored(store, committer, {
      backup,
      plan: { moves, scope, hold: this.#hold, notes },
    });
    this.#isShown = true;
  }

  /** What was brought is swept. Where that fails, whoever restores next sees to it, or the server's next start. */
  async giveUp(): Promise<void> {
    if (this.#isShown) return;
    const { store, committer } = this.#parts;
    await dropRestoreHold(store, committer, this.#hold).catch(() => {});
  }

  async #bringAll(backup: Snapshot, moves: readonly NamespaceMove[], bar: Progress): Promise<void> {
    let total = 0;
    for (const { fromStorage } of moves) total += this.#expected.of(fromStorage);
    let rows = 0;
    for (const move of moves) {
      await this.#bringRows(backup, move, (more) => {
        rows += more;
        bar.update(rows, Math.max(total, rows), rows);
      });
    }
    bar.update(1, 1, rows);
  }

  async #bringRows(
    backup: Snapshot,
    { fromStorage, intoStorage }: NamespaceMove,
    onRows: (count: number) => void,
  ): Promise<void> {
    const ids = { from: fromStorage, into: intoStorage, bytes: sliceBytes };
    for await (const rows of readMovedRows(backup, ids)) {
      await this.#place(rows, []);
      onRows(rows.length);
    }
  }

  /** No new node gets the uid of one that was brought. */
  async #passUids(backup: Snapshot): Promise<void> {
    const { store } = this.#parts;
    const { nextUid, reserved } = await readUids(backup);
    const { maxUid } = await store.describe();
    if (nextUid - 1 > maxUid) await store.lease(nextUid - 1 - maxUid);
    for (let i = 0; i < reserved.length; i += uidsAtOnce) {
      await this.#place([], reserved.slice(i, i + uidsAtOnce));
    }
  }

  async #place(rows: PlacedRows["rows"], uids: readonly number[]): Promise<void> {
    const { store, committer } = this.#parts;
    const { slot, floorTs } = committer;
    await store.place({ slot, floorTs, rows, uids });
  }
}
