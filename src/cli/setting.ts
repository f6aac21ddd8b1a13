/** What the flags of commands have in common. */
import { Option } from "commander";

/** A flag that the environment may set too: `--map-bytes` is WEFT_MAP_BYTES. */
export function setting(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.env(`WEFT_${option.name().replaceAll("-", "_").toUpperCase()}`);
}

/** Of every command that opens a store. */
export function encryptionSetting(): Option {
  return setting(
    "--encryption <settings>",
    'of a store that is encrypted: "key-file=FILE", with its key',
  ).default("");
}

export const configFlag = "--config <file>";
export const configHelp = "JSON file with settings, named as the flags are";
