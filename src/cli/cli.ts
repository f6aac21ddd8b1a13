/**
 * argv → a command. In: flags, environment, a settings file. Out: one frozen record for the
 * command, and an exit code. Here alone does the program read its environment, and here alone are the modules put
 * together. Commands are loaded when they are called, so that `weft help` does not open a database.
 */
import type { Command } from "commander";
import { addBackup, addRestore } from "./backup-commands.ts";
import { addCertify } from "./certify-command.ts";
import { addChanges } from "./changes-commands.ts";
import { addCheck } from "./check-command.ts";
import { addCluster } from "./cluster-commands.ts";
import { addConfig } from "./config-commands.ts";
import { addDev, addInit } from "./dev-commands.ts";
import { addEncryption } from "./encryption-commands.ts";
import { addImport } from "./import-command.ts";
import { addKey } from "./key-commands.ts";
import { addLambda } from "./lambda-command.ts";
import { addLive, addSample } from "./live-commands.ts";
import { runProgram } from "./program.ts";
import { addToken, addTypes } from "./project-commands.ts";
import { addTop, addKill, addExplain } from "./request-commands.ts";
import { addSchema } from "./schema-commands.ts";
import { addServe } from "./serve-command.ts";
import { addServeOptions } from "./serve-flags.ts";
import { addBulk, addCompact, addExport } from "./store-commands.ts";
import { readVersion } from "./version.ts";

/** Runs one command to its end. */
export function runCli(argv: readonly string[]): Promise<void> {
  return runProgram(argv, addCommands);
}

function addCommands(program: Command, flags: readonly string[]): void {
  addServe(program, flags);
  addInit(program);
  addDev(program, addServeOptions);
  addConfig(program);
  addLambda(program);
  addLive(program);
  addImport(program);
  addBulk(program);
  addExport(program);
  addBackup(program);
  addRestore(program);
  addChanges(program);
  addCompact(program);
  addEncryption(program);
  addCertify(program);
  addCluster(program);
  addSample(program);
  addSchema(program);
  addTypes(program);
  addToken(program);
  addCheck(program);
  addKey(program);
  addExplain(program);
  addTop(program);
  addKill(program);
  program
    .command("version")
    .description("print the version")
    .action(() => void process.stdout.write(`${readVersion()}\n`));
}
