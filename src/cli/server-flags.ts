/** Flags of the commands that ask a running server. */
import { Option, type Command } from "commander";
import { setting } from "./setting.ts";

/** The server that a command asks, and what it shows there. */
export function addServer(command: Command): Command {
  return command
    .addOption(setting("--to <url>", "the server").default("http://127.0.0.1:8080"))
    .addOption(setting("--token <token>", "administration token, where the server has one"))
    .addOption(setting("--key <key>", "Admin or Client key, where anonymous access is off"))
    .addOption(
      setting("--creds <login>", 'where users log in: "user=groot; password=…; namespace=0"'),
    )
    .addOption(setting("--access-token <jwt>", "of a login, in place of --creds"))
    .addOption(setting("--ca <file>", "who has signed the server's certificate, where few know it"))
    .addOption(setting("--cert <file>", "certificate, where the server asks its clients for one"))
    .addOption(setting("--cert-key <file>", "its key"))
    .addOption(new Option("--beside <dir>").hideHelp());
}
