/**
 * argv → a command. In: flags, environment, a settings file. Out: one frozen record for the
 * command, and an exit code. Here alone does the program read its environment, and here alone are the modules put
 * together. Commands are loaded when they are called, so that `weft help` does not open a database.
 */
import { Command, CommanderError } from "commander";
import { Fault } from "../model/fault.ts";
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
import { complain, endWithLostOutput } from "./log.ts";
import { prepareOptions } from "./prepare-options.ts";
import { addToken, addTypes } from "./project-commands.ts";
import { keepProjectMask } from "./project-mask.ts";
import { addTop, addKill, addExplain } from "./request-commands.ts";
import { addSchema } from "./schema-commands.ts";
import { addServe } from "./serve-command.ts";
import { addServeOptions } from "./serve-flags.ts";
import { addBulk, addCompact, addExport } from "./store-commands.ts";
import { readVersion } from "./version.ts";

/** Runs one command to its end. `mask`: the user's, for files of projects. Whatever it throws becomes one line and an exit code: 2 where it was called wrongly, else 1. */
export async function runCli(argv: readonly string[], mask: number): Promise<void> {
  keepProjectMask(mask);
  endWithLostOutput();
  try {
    await makeProgram(argv.slice(3)).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** The exit code. What is the user's to put right takes one line; our own mistakes come with their trace. */
function report(error: unknown): number {
  // Help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit;
  if (error instanceof Fault) complain(error.message);
  else if (isDiskFull(error)) complain(`the disk is full: ${error.message}`);
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return error instanceof Fault && error.code === "E_USAGE" ? usageExit : 1;
}

const usageExit = 2;

function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && "code" in error && fullCodes.includes(error.code);
}

const fullCodes: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** `flags`: what stands behind the name of the command. */
function makeProgram(flags: readonly string[]): Command {
  const program = new Command("weft");
  program
    .description("A graph database service: GraphQL from your schema, DQL, transactions.")
    .version(readVersion(), "-v, --version", "print the version")
    .helpCommand("help [command]", "print help for a command")
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`weft: ${toOneLine(text)}\n`) });
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
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    // Of commands below it as well.
    command.hook("preAction", (_one, action) => prepareOptions(action));
  }
  return program;
}

function toOneLine(text: string): string {
  return text
    .replace(/^error: /, "")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
}
