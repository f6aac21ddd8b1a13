/** The command `weft key`. */
import { type Command, Option } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

/** Where keys are: behind a server, or in a directory that none serves. */
export interface KeyOptions extends CredentialOptions {
  readonly data: string | undefined;
  readonly encryption: string;
}

/** The options of `weft key create`. */
export interface KeyCreateOptions extends KeyOptions {
  readonly name: string;
  readonly kind: "admin" | "client" | undefined;
  readonly scope: string | undefined;
  readonly namespace: string | undefined;
  readonly expires: string | undefined;
}

export function addKey(program: Command): void {
  const key = program
    .command("key")
    .description("create, list and revoke keys")
    .addHelpText("after", keyHelp);
  const create = key
    .command("create")
    .description("make a key; it is printed this once")
    .requiredOption("--name <name>", "whom it is for, as lists show it")
    .addOption(
      new Option("--kind <kind>", "what it opens (client unless said)").choices([
        "client",
        "admin",
      ]),
    )
    .option("--scope <scope,…>", "what alone it opens: graphql, query, mutate, alter, admin")
    .option("--namespace <number>", "the namespace that alone it is for")
    .option("--expires <duration>", "how long it lives, as 12h, 30d or 8w; else for ever")
    .action(async (options: KeyCreateOptions) => {
      const { runKeyCreate } = await import("./command-key.ts");
      await runKeyCreate(options);
    });
  const list = key
    .command("list")
    .description("list keys, without their secrets")
    .action(async (options: KeyOptions) => {
      const { runKeyList } = await import("./command-key.ts");
      await runKeyList(options);
    });
  const revoke = key
    .command("revoke")
    .description("end keys at once")
    .argument("<id...>", "as lists show them")
    .action(async (ids: string[], options: KeyOptions) => {
      const { runKeyRevoke } = await import("./command-key.ts");
      await runKeyRevoke(ids, options);
    });
  for (const command of [create, list, revoke]) {
    addServer(command)
      // Not from the environment: WEFT_DATA names the directory of a server that runs.
      .option("--data <dir>", "directory of a store that no server serves, in place of --to")
      .addOption(encryptionSetting())
      .addOption(setting(configFlag, configHelp))
      .addHelpText("after", keyHelp)
      .copyInheritedSettings(program);
  }
}

const keyHelp = `
With \`weft serve --anonymous off\` every request needs a key in the header X-Auth-Token. A Client key reads and writes
data; an Admin key administers too, from any address. A key with --scope opens that alone: a browser's, made with
--scope graphql, sees nothing that rules hide. The server keeps only their hashes.

Examples:
  weft key create --data ./weft-data --name me --kind admin
  weft key create --name shop --expires 30d --to http://127.0.0.1:8080 --key "$ADMIN_KEY"
  weft key create --name page --scope graphql --expires 30d --key "$ADMIN_KEY"
  weft key create --name loader --scope mutate,alter --namespace 7 --key "$ADMIN_KEY"
  weft key list --key "$ADMIN_KEY"
  weft key revoke k3f9x2abqz --key "$ADMIN_KEY"`;
