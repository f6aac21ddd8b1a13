/** The command `weft serve`. */
import type { Command } from "commander";
import type { ServeOptions } from "./config.ts";
import { limitHelp } from "./limit-help.ts";
import { addServeOptions, readServeOptions } from "./serve-flags.ts";

export function addServe(program: Command, flags: readonly string[]): void {
  const command = addServeOptions(program.command("serve").description("serve a database"));
  command
    .addHelpText(
      "after",
      `
${limitHelp}

Examples:
  weft serve --data ./weft-data --http 127.0.0.1:8080
  weft serve --data ./weft-data --sample --workers 2
  weft serve --lambda ./resolvers.ts --lambda-limit "fetch=api.example.com"
  weft serve --http 0.0.0.0:8080 --anonymous on --security "token=secret; whitelist=10.0.0.0/8"
  weft serve --limit "query-timeout=20s; query-edge=100000; result-bytes=64MB"
  weft serve --http 0.0.0.0:8080 --anonymous off
  WEFT_DATA=/var/lib/weft weft serve --config /etc/weft.json`,
    )
    .action(async (options: ServeOptions) => {
      const { runServe } = await import("./command-serve.ts");
      await runServe(options, () => readServeOptions(flags));
    });
}
