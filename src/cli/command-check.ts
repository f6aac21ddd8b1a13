/** `weft check`: a store against itself, read-only, also beside a running server. */
import { Fault } from "../model/fault.ts";
import { checkGraph } from "../graph/check.ts";
import { checkStore } from "../stores/check.ts";
import { openReadOnly } from "../stores/lmdb.ts";
import { complain, say } from "./log.ts";

/** Each problem takes a line; after so many the rest is only counted. */
const linesMax = 100;

export async function runCheck(dir: string): Promise<void> {
  const store = await openReadOnly(dir);
  let problemCount = 0;
  const report = (line: string): void => {
    if (++problemCount <= linesMax) complain(line);
  };
  try {
    const open = () => store.snapshot();
    const rowCount = await checkStore({
      open,
      report: ({ key, problem }) => report(`${problem} (key ${key})`),
    });
    // What rows mean can only be judged where they are whole.
    const { nodes, lists } =
      problemCount === 0 ? await checkGraph({ open, report }) : { nodes: 0, lists: 0 };
    const counts = [rowCount, nodes, lists].map((count) => count.toLocaleString("en-US"));
    say(
      `${counts[0]} rows, ${counts[1]} nodes and ${counts[2]} index lists checked, ` +
        `${problemCount} problems`,
    );
  } finally {
    await store.close();
  }
  if (problemCount > 0) throw new Fault("E_STARTUP", `the store at ${dir} is damaged`);
}
