/** The process of a server that archives its store (`--backup`): a child of the supervisor's, beside the others. */
import { constants, setPriority } from "node:os";
import { Follower, type Round } from "../backup/follow.ts";
import { openPlace } from "../backup/open-place.ts";
import { readSeal } from "../backup/seal.ts";
import { must } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { metrics } from "../base/metrics.ts";
import type { ArchiveFacts } from "../http/node-facts.ts";
import type { ServeConfig } from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import { FollowStore } from "./follow-store.ts";
import { makeLogger } from "./log.ts";
import { readVersion } from "./version.ts";

export interface Archiving {
  readonly facts: ArchiveFacts;
  /** Archives once more what is there. */
  close(): Promise<void>;
}

/** Fault E_STARTUP where the key cannot be read. What fails later is told and tried again. */
export function openArchiving(config: ServeConfig): Archiving {
  const { to, keyFile, everyMs, fullMs, keep } = must(config.backup, "the role has its settings");
  yieldToRequests();
  const follower = new Follower({
    dir: config.dataDir,
    encryption: readKeyFile(config.keyFile),
    parts: { place: openPlace(to, process.env), seal: readSeal(keyFile) },
    version: readVersion(),
    clock: systemClock,
    fullMs,
    keep,
  });
  const state = new ArchiveState(makeLogger("backup", config.log));
  const rounds = new FollowStore(follower, everyMs, {
    onRound: (round) => state.noteRound(round),
    onFailure: (problem) => state.noteFailure(problem),
  });
  const ended = rounds.run();
  return {
    get facts() {
      return state.facts;
    },
    async close() {
      rounds.end();
      await ended;
    },
  };
}

function yieldToRequests(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The system knows no priorities.
  }
}

const failures = metrics.counter(
  "weft_backup_failures_total",
  "Rounds of the archive (--backup) that failed",
);
const writtenBytes = metrics.counter(
  "weft_backup_log_bytes_total",
  "Bytes of the log that the archive (--backup) has written",
);

/** What is known of the archive. */
class ArchiveState {
  readonly #logger: Logger;
  #archivedTs = 0;
  #lastSuccessMs: number | undefined = undefined;
  #problem: string | undefined = undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
    metrics.gauge(
      "weft_backup_last_success_seconds",
      "When the archive (--backup) last held all that was committed, since 1970; 0: never in this run",
      () => (this.#lastSuccessMs ?? 0) / 1000,
      "max",
    );
    metrics.gauge(
      "weft_backup_archived_commit",
      "The newest commit that the archive (--backup) holds",
      () => this.#archivedTs,
      "max",
    );
  }

  get facts(): ArchiveFacts {
    const ms = this.#lastSuccessMs;
    return {
      archivedCommit: this.#archivedTs,
      lastSuccess: ms === undefined ? undefined : new Date(ms).toISOString(),
      problem: this.#problem,
    };
  }

  noteRound({ made, bytes, commitTs }: Round): void {
    if (this.#problem !== undefined) this.#logger.info("the archive goes on");
    if (made !== undefined) {
      const { id, rows } = made.manifest;
      this.#logger.info("a whole backup was made", { id, why: made.why, rows });
    }
    this.#problem = undefined;
    this.#lastSuccessMs = systemClock.nowMs();
    this.#archivedTs = commitTs;
    writtenBytes.count += bytes;
  }

  noteFailure(problem: string): void {
    failures.count++;
    this.#logger.error("the archive falls behind", { problem });
    this.#problem = problem;
  }
}
