/** The command `weft check`. */
import type { Command } from "commander";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

/** The options of `weft check`. */
export interface CheckOptions {
  readonly data: string;
  readonly encryption: string;
  readonly repair: boolean;
}

export function addCheck(program: Command): void {
  program
    .command("check")
    .description("verify a store against itself: records, indexes, counts, checksums")
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .option("--repair", "save what is sound into a new store in its place", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Reads only, also beside a running server. Exit code 1 when something is wrong.
With --repair no server may run: all that is sound becomes a new store in the
same directory, everything that is not is listed, and the old files are kept in
a directory damaged-1 (2, …) beside it. Then the new store is checked.

Examples:
  weft check --data ./weft-data
  weft check --data ./weft-data --repair`,
    )
    .action(async (options: CheckOptions) => {
      const { runCheck } = await import("./command-check.ts");
      await runCheck(options);
    });
}
