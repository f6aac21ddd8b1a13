/** The commands `weft config print` and `weft config check`. */
import type { Command } from "commander";
import type { ServeOptions } from "./config.ts";
import { addServeOptions } from "./serve-flags.ts";

export function addConfig(program: Command): void {
  const config = program
    .command("config")
    .description("check and print the settings of a server, without starting it");
  const print = config
    .command("print")
    .description("every setting of weft serve, its value, and where that was said; no secrets")
    .action(async (_options: ServeOptions, command: Command) => {
      const { runConfigPrint } = await import("./command-config.ts");
      runConfigPrint(command);
    });
  const check = config
    .command("check")
    .description("read all that a start would read; exit code 1 where something is wrong")
    .action(async (options: ServeOptions) => {
      const { runConfigCheck } = await import("./command-config.ts");
      await runConfigCheck(options);
    });
  for (const command of [print, check]) {
    addServeOptions(command).addHelpText("after", configCommandHelp).copyInheritedSettings(program);
  }
}

const configCommandHelp = `
They take what weft serve takes: flags, the environment, and --config.

Examples:
  weft config check --config /etc/weft.json
  WEFT_DATA=/var/lib/weft weft config print --config /etc/weft.json`;
