/**
 * A store's log archived as it grows: backups in intervals, and segments between them. One round after the other, each
 * with the store opened anew, so that nothing is held while nothing happens.
 */
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openStoredLog } from "../stores/stored-log.ts";
import { openStoredRows } from "../stores/stored-rows.ts";
import { archiveLog, endOf, findEnd, type Archived, type ArchiveEnd } from "./archive.ts";
import { makeBackup, type BackupParts } from "./backup.ts";
import { readManifests, type BackupManifest } from "./manifest.ts";
import { pruneBackups } from "./prune.ts";

interface FollowOptions {
  readonly dir: string;
  /** The key of a store that is encrypted. */
  readonly encryption: UserKey | undefined;
  readonly parts: BackupParts;
  readonly version: string;
  readonly clock: Clock;
  /** Between two whole backups. */
  readonly fullMs: number;
  /** How many whole backups stay; undefined: all. */
  readonly keep: number | undefined;
}

/** What a round did. */
export interface Round {
  /** A whole backup that it made, and why. */
  readonly made: { readonly manifest: BackupManifest; readonly why: string } | undefined;
  readonly commits: number;
  /** That were written. */
  readonly bytes: number;
  /** Up to which commit the store is archived. */
  readonly commitTs: number;
}

/** The log is kept for a while only: after a round with as many bytes the next one should not be waited for. */
const busyBytes = 4 * 1024 * 1024;
/** Whole backups that a round may come to, while others write faster than it reads. */
const triesMax = 3;

export class Follower {
  readonly #options: FollowOptions;
  #storeId: string | undefined = undefined;
  #end: ArchiveEnd | undefined = undefined;
  #newest: BackupManifest | undefined = undefined;
  #isBusy = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** The log grows so fast that the next round should follow at once. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** All that was committed before it began is in the place when it resolves. Throws Faults; it may be called again. */
  async round(): Promise<Round> {
    let made: Round["made"];
    for (let tries = 0; tries < triesMax; tries++) {
      const step = await this.#archive(made === undefined);
      if (typeof step === "object") {
        this.#end = step.end;
        this.#isBusy = step.bytes >= busyBytes;
        const { commits, bytes } = step;
        return { made, commits, bytes, commitTs: step.end.commitTs };
      }
      made = { manifest: await this.#makeWhole(), why: step };
      // A backup that only was due leaves what is archived behind an older one to go on: no moment between is lost.
      if (step !== dueText) this.#end = endOf(made.manifest);
    }
    throw new Fault("E_BACKUP", "the log grows faster than it can be archived");
  }

  /** Why a whole backup is needed first, as a text; that it is time only where `looksAtTime`. */
  async #archive(looksAtTime: boolean): Promise<Archived | string> {
    const { dir, encryption, parts, fullMs, clock } = this.#options;
    const log = await openStoredLog(dir, encryption);
    try {
      if (log.storeId !== this.#storeId) await this.#meet(log.storeId);
      if (this.#newest === undefined || this.#end === undefined)
        return "there is none of this store";
      const ageMs = clock.nowMs() - Date.parse(this.#newest.createdAt);
      if (looksAtTime && ageMs >= fullMs) return dueText;
      return (
        (await archiveLog(parts, log, this.#end)) ?? "the log does not reach back to the archive"
      );
    } finally {
      await log.close();
    }
  }

  /** What an earlier run has archived of a store. */
  async #meet(storeId: string): Promise<void> {
    const { parts } = this.#options;
    const manifests = await readManifests(parts.place, parts.seal);
    this.#newest = manifests.findLast((manifest) => manifest.storeId === storeId);
    this.#end = await findEnd(parts, manifests, storeId);
    this.#storeId = storeId;
  }

  async #makeWhole(): Promise<BackupManifest> {
    const { dir, encryption, parts, version, keep, clock } = this.#options;
    const rows = await openStoredRows(dir, encryption);
    try {
      const options = { version, nowMs: clock.nowMs(), onProgress() {} };
      const { manifest } = await makeBackup(parts, rows, options);
      this.#newest = manifest;
      if (keep !== undefined) await pruneBackups(parts, { keep, nowMs: clock.nowMs() });
      return manifest;
    } finally {
      await rows.close();
    }
  }
}

const dueText = "it is time";
