/** `weft backup follow`: the log of a store archived as it grows. */
import { Follower, type Round } from "../backup/follow.ts";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import type { BackupFollowFlags } from "./backup-commands.ts";
import { openParts, readKeep } from "./command-backup.ts";
import { parseDurationMs, parseLifetimeMs } from "./duration.ts";
import { complain, say } from "./log.ts";
import { readVersion } from "./version.ts";

/** What was archived is told so often at most. */
const toldMs = 60_000;
/** Between tries while it fails. */
const retryMsMax = 60_000;

/** Until the process is told to end; then once more. */
export async function runBackupFollow(flags: BackupFollowFlags): Promise<void> {
  const everyMs = parseDurationMs("--every", flags.every);
  const follower = new Follower({
    dir: flags.data,
    parts: openParts(flags.to, flags.keyFile),
    version: readVersion(),
    clock: systemClock,
    fullMs: parseLifetimeMs("--full", flags.full),
    keep: flags.keep === undefined ? undefined : readKeep(flags.keep),
  });
  // A wrong key or place is told at once, not again and again.
  const told = new Told();
  told.tell(await follower.round());
  say(`following ${flags.data}: Ctrl-C ends it`);
  const end = waitForEnd();
  for (let failures = 0; !end.isOver;) {
    const waitMs = failures > 0 ? Math.min(retryMsMax, 1000 * 2 ** failures) : everyMs;
    if (failures > 0 || !follower.isBusy) await end.wait(waitMs);
    try {
      told.tell(await follower.round());
      if (failures > 0) say("the archive goes on");
      failures = 0;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      failures++;
      complain(`the archive falls behind: ${error.message}`);
    }
  }
  told.flush();
}

/** Gathers what rounds did into a line now and then. */
class Told {
  #commits = 0;
  #bytes = 0;
  #commitTs = 0;
  #lastMs = -Infinity;

  tell({ made, commits, bytes, commitTs }: Round): void {
    if (made !== undefined) say(`backup ${made.manifest.id}: ${made.why}`);
    this.#commits += commits;
    this.#bytes += bytes;
    this.#commitTs = commitTs;
    if (systemClock.tickMs() - this.#lastMs >= toldMs) this.flush();
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

interface End {
  readonly isOver: boolean;
  /** Resolves after so long, or at the end. */
  wait(ms: number): Promise<void>;
}

function waitForEnd(): End {
  let isOver = false;
  let wake = (): void => {};
  const stop = (): void => {
    isOver = true;
    wake();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  return {
    get isOver() {
      return isOver;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        if (isOver) return resolve();
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
