/** What every command is given beside its flags: a settings file, and files of secrets. */
import type { Command } from "commander";
import { applyConfigFile } from "./config.ts";
import { complain } from "./log.ts";
import { describeShown, resolveSecrets } from "./secrets.ts";

/** What a command is given beside its flags: a settings file, and files of secrets. */
export function prepareOptions(command: Command): void {
  applyConfigFile(command);
  const shown = resolveSecrets(command);
  if (shown.length > 0) complain(describeShown(shown));
}
