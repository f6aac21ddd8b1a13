/** `weft encryption …`. */
import type { Command } from "commander";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

interface StoreFlags {
  readonly data: string;
  readonly encryption: string;
}

export interface RotateFlags extends StoreFlags {
  readonly newEncryption: string;
}

export interface CopyFlags extends RotateFlags {
  readonly to: string;
}

function addStore(command: Command): Command {
  return command
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .addOption(setting(configFlag, configHelp));
}

export function addEncryption(program: Command): void {
  const group = program
    .command("encryption")
    .description(
      "exchange the key of an encrypted store, write it anew, copy it under another one",
    );
  addStore(group.command("rotate"))
    .description("the store is opened by another key from now on; no server may run")
    .requiredOption("--new-encryption <settings>", '"key-file=FILE" with the new key')
    .addHelpText(
      "after",
      `
Writes weft.keys anew, in one rename: the data is sealed by a key of its own, which that file holds.

Examples:
  openssl rand -hex 32 > new.key
  weft encryption rotate --encryption "key-file=old.key" --new-encryption "key-file=new.key"`,
    )
    .action(async (options: RotateFlags) => {
      const { runRotate } = await import("./command-encryption.ts");
      await runRotate(options);
    });
  addStore(group.command("rewrite"))
    .description("seal all of the store anew, under a new data key; no server may run")
    .addHelpText(
      "after",
      `
Writes the store anew as weft compact does. A stop at any moment leaves a store that opens.

Examples:
  weft encryption rewrite --data ./weft-data --encryption "key-file=weft.key"`,
    )
    .action(async (options: StoreFlags) => {
      const { runRewrite } = await import("./command-encryption.ts");
      await runRewrite(options);
    });
  addStore(group.command("copy"))
    .description("a copy of the store that is encrypted, or is not any more")
    .requiredOption("--to <dir>", "directory of the copy, empty or not there")
    .option("--new-encryption <settings>", '"key-file=FILE" of the copy; without it: plain', "")
    .addHelpText(
      "after",
      `
One state of the store, also beside a running server. What is written after it is not in the copy: end the server first
where the copy is to take its place.

Examples:
  weft encryption copy --data ./weft-data --to ./sealed --new-encryption "key-file=weft.key"
  weft encryption copy --data ./sealed --encryption "key-file=weft.key" --to ./plain`,
    )
    .action(async (options: CopyFlags) => {
      const { runCopy } = await import("./command-encryption.ts");
      await runCopy(options);
    });
  for (const command of group.commands) command.copyInheritedSettings(program);
}
