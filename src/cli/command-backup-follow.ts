/** `weft backup follow`: the log of a store archived as it grows. */
import { Follower, type Round } from "../backup/follow.ts";
import { systemClock } from "../base/clock.ts";
import type { BackupFollowFlags } from "./backup-commands.ts";
import { openParts, readKeep } from "./command-backup.ts";
import { parseDurationMs, parseLifetimeMs } from "./duration.ts";
import { FollowStore } from "./follow-store.ts";
import { readEncryption, refusePlainBackup } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { readVersion } from "./version.ts";

/** What was archived is told so often at most. */
const toldMs = 60_000;

/** Until the process is told to end; then once more. */
export async function runBackupFollow(flags: BackupFollowFlags): Promise<void> {
  const everyMs = parseDurationMs("--every", flags.every);
  const encryption = readEncryption(flags.encryption);
  const parts = openParts(flags.to, flags.keyFile);
  refusePlainBackup(encryption !== undefined, parts.seal.isEncrypted, "--key-file");
  const follower = new Follower({
    dir: flags.data,
    encryption,
    parts,
    version: readVersion(),
    clock: systemClock,
    fullMs: parseLifetimeMs("--full", flags.full),
    keep: flags.keep === undefined ? undefined : readKeep(flags.keep),
  });
  // A wrong key or place is told at once, not again and again.
  const told = new Told();
  told.tell(await follower.round());
  say(`following ${flags.data}: Ctrl-C ends it`);
  const rounds = new FollowStore(follower, everyMs, {
    onRound: (round) => told.tell(round),
    onFailure: (problem) => told.complain(problem),
  });
  process.once("SIGINT", () => rounds.end());
  process.once("SIGTERM", () => rounds.end());
  await rounds.run();
  told.flush();
}

/** Gathers what rounds did into a line now and then. */
class Told {
  #commits = 0;
  #bytes = 0;
  #commitTs = 0;
  #lastMs = -Infinity;
  #isFailing = false;

  tell({ made, commits, bytes, commitTs }: Round): void {
    if (this.#isFailing) say("the archive goes on");
    this.#isFailing = false;
    if (made !== undefined) say(`backup ${made.manifest.id}: ${made.why}`);
    this.#commits += commits;
    this.#bytes += bytes;
    this.#commitTs = commitTs;
    if (systemClock.tickMs() - this.#lastMs >= toldMs) this.flush();
  }

  complain(problem: string): void {
    this.#isFailing = true;
    complain(`the archive falls behind: ${problem}`);
  }

  flush(): void {
    if (this.#commits === 0) return;
    const size = `${(this.#bytes / 1e6).toFixed(1)} MB`;
    say(`archived ${this.#commits} commits up to ${this.#commitTs}, ${size}`);
    this.#commits = 0;
    this.#bytes = 0;
    this.#lastMs = systemClock.tickMs();
  }
}
