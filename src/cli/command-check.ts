/** `weft check`: a store against itself, read-only, also beside a running server; with --repair what is sound is saved. */
import { Fault } from "../model/fault.ts";
import { checkGraph } from "../graph/check.ts";
import { isNamedStorage } from "../graph/schema-rows.ts";
import type { Snapshot } from "../store/store.ts";
import { checkStore } from "../stores/check.ts";
import { checkLog } from "../stores/check-log.ts";
import { examineFiles, openReadOnly } from "../stores/open.ts";
import { repairStore } from "../stores/repair.ts";
import type { UserKey } from "../stores/encryption.ts";
import type { CheckOptions } from "./check-command.ts";
import { readEncryption } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { showProgress } from "./progress-bar.ts";

/** Each problem takes a line; after so many the rest is only counted. */
const linesMax = 100;

export async function runCheck({ data: dir, encryption, repair }: CheckOptions): Promise<void> {
  const key = readEncryption(encryption);
  if (repair) await runRepair(dir, key);
  const problemCount = await check(dir, key);
  if (problemCount > 0) throw new Fault("E_STARTUP", `the store at ${dir} is damaged`);
}

async function runRepair(dir: string, key: UserKey | undefined): Promise<void> {
  let losses = 0;
  const lose = (line: string): void => {
    losses++;
    complain(`lost: ${line}`);
  };
  const { rows, commitTs, kept } = await repairStore(dir, { say, lose }, key);
  // The store is sound again, but whoever runs this in a script should look.
  if (losses > 0) process.exitCode = 1;
  const count = rows.toLocaleString("en-US");
  say(`${count} rows saved, up to commit ${commitTs}; the old files are in ${kept}`);
}

/** `key`: as it is told. Looked at now: an id that is not named any more is never named again. */
function isJudged(store: { snapshot(): Snapshot }, key: string): boolean {
  const storageId = Number.parseInt(key.slice(0, 8), 16);
  const snapshot = store.snapshot();
  try {
    return isNamedStorage(snapshot, storageId) !== false;
  } finally {
    snapshot.close();
  }
}

const isQuiet = true;

/** `rowCount`: nodes and lists have a row each at least. */
function checkMeaning(
  options: Pick<Parameters<typeof checkGraph>[0], "open" | "report">,
  rowCount: number,
): ReturnType<typeof checkGraph> {
  const words = { title: "comparing", unit: "nodes and lists", isQuiet };
  return showProgress(words, (bar) =>
    checkGraph({
      ...options,
      pause: async ({ nodes, lists }) => {
        bar.update(nodes + lists, rowCount, nodes + lists);
        await nextTurn();
      },
    }),
  );
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Gives how many problems were found. */
async function check(dir: string, encryption: UserKey | undefined): Promise<number> {
  let problemCount = 0;
  const report = (line: string): void => {
    if (++problemCount <= linesMax) complain(line);
  };
  for (const line of examineFiles(dir, report, encryption)) say(line);
  if (problemCount > 0) return problemCount;
  const store = await openReadOnly(dir, { encryption });
  try {
    // Before anything of them is followed: over damaged pages LMDB ends the process.
    store.verify(report);
    if (problemCount > 0) return problemCount;
    const open = () => store.snapshot();
    const rowCount = await showProgress(
      { title: "checking", unit: "rows", isQuiet },
      async (bar) => {
        let done = 0;
        // Entries of an encrypted store are blocks with many rows in each.
        const total = encryption === undefined ? store.entryCount() : 0;
        return await checkStore({
          open,
          report: ({ key, problem }) => {
            if (isJudged(store, key)) report(`${problem} (key ${key})`);
          },
          pause: async (rows) => {
            bar.update((done += rows), total, done);
            await nextTurn();
          },
        });
      },
    );
    const commits = checkLog(store, report);
    // What rows mean can only be judged where they are whole.
    const { nodes, lists } =
      problemCount === 0 ? await checkMeaning({ open, report }, rowCount) : { nodes: 0, lists: 0 };
    const counts = [rowCount, nodes, lists, commits].map((count) => count.toLocaleString("en-US"));
    say(
      `${counts[0]} rows, ${counts[1]} nodes, ${counts[2]} index lists and ${counts[3]} commits of the log checked, ` +
        `${problemCount} problems`,
    );
    return problemCount;
  } finally {
    await store.close();
  }
}
