/**
 * A process that reads all rows of its server's store and writes them to its standard output, for another machine
 * (`cluster/snapshot-words.ts`): LMDB is opened once by a process, and its node has other things to do.
 */
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import type { Logger } from "../base/log.ts";
import { sendSnapshot } from "../cluster/snapshot-words.ts";
import { openStoredRows } from "../stores/stored-rows.ts";
import { readKeyFile } from "./encryption.ts";
import { mainFile } from "./places.ts";
import { yieldToRequests } from "./yield-to-requests.ts";

interface Wanted {
  readonly dataDir: string;
  readonly keyFile: string | undefined;
}

/** Snapshots that are given at once: each reads all of the store. */
const givenMax = 2;

/** Gives snapshots of a store: a process for each. */
export class SnapshotGiver {
  readonly #wanted: Wanted;
  readonly #logger: Logger;
  readonly #running = new Set<ChildProcess>();

  constructor(wanted: Wanted, logger: Logger) {
    this.#wanted = wanted;
    this.#logger = logger;
  }

  give(socket: Socket): void {
    if (this.#running.size >= givenMax) {
      socket.destroy();
      return;
    }
    const child = fork(mainFile, ["__child", "snapshot"], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    this.#running.add(child);
    child.send(this.#wanted);
    child.stdout?.pipe(socket);
    socket.once("close", () => child.kill("SIGKILL"));
    child.once("exit", (code) => {
      this.#running.delete(child);
      if (code !== 0) socket.destroy();
      this.#logger.info("a snapshot was given to another machine", { isComplete: code === 0 });
    });
    child.once("error", () => socket.destroy());
  }

  close(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }
}

/** What such a process does. */
export function runSnapshotChild(): void {
  process.once("disconnect", () => process.exit(1));
  process.once("message", (wanted: Wanted) => {
    write(wanted).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`weft: a snapshot cannot be given: ${String(error)}\n`);
        process.exit(1);
      },
    );
  });
}

async function write({ dataDir, keyFile }: Wanted): Promise<void> {
  yieldToRequests();
  const rows = await openStoredRows(dataDir, readKeyFile(keyFile));
  try {
    await sendSnapshot(rows, (bytes) => {
      return new Promise((resolve, reject) => {
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
    });
  } finally {
    await rows.close();
  }
}
