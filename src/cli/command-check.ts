/** `weft check`: a store against itself, read-only, also beside a running server. */
import { Fault } from "../model/fault.ts";
import { checkStore } from "../stores/check.ts";
import { openReadOnly } from "../stores/lmdb.ts";
import { complain, say } from "./log.ts";

/** Each problem takes a line; after so many the rest is only counted. */
const linesMax = 100;

export async function runCheck(dir: string): Promise<void> {
  const store = openReadOnly(dir);
  let problemCount = 0;
  try {
    const rowCount = await checkStore({
      open: () => store.snapshot(),
      report: ({ key, problem }) => {
        if (++problemCount <= linesMax) complain(`${problem} (key ${key})`);
      },
    });
    say(`${rowCount.toLocaleString("en-US")} rows checked, ${problemCount} problems`);
  } finally {
    await store.close();
  }
  if (problemCount > 0) throw new Fault("E_STARTUP", `the store at ${dir} is damaged`);
}
