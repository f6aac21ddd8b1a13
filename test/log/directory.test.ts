// Goal: the log in a directory keeps the contract, and what it acknowledged before it was killed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { describeLog } from "../../src/log/contract.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import type { ReplicatedLog } from "../../src/log/replicated-log.ts";

describeLog(
  { describe, it },
  {
    name: "directory",
    random: makeSeededRandom,
    rounds: 4,
    steps: 250,
    async open() {
      const root = mkdtempSync(join(tmpdir(), "weft-log-"));
      const logs: ReplicatedLog[] = [];
      return {
        async connect() {
          const log = await openDirectoryLog(root, systemClock);
          logs.push(log);
          return log;
        },
        async close() {
          await Promise.all(logs.map((log) => log.close()));
          rmSync(root, { recursive: true, force: true });
        },
      };
    },
  },
);
