/** argv → a command: a program of commands, run to its end. */
import { Command, CommanderError } from "commander";
import { Fault } from "../model/fault.ts";
import { complain, endWithLostOutput } from "./log.ts";
import { prepareOptions } from "./prepare-options.ts";
import { readVersion } from "./version.ts";

/** Gives a program its commands. `flags`: what stands behind the name of the command. */
type AddCommands = (program: Command, flags: readonly string[]) => void;

/** Runs one command to its end. Whatever it throws becomes one line and an exit code: 2 where it was called wrongly, else 1. */
export async function runProgram(argv: readonly string[], addCommands: AddCommands): Promise<void> {
  endWithLostOutput();
  try {
    await makeProgram(argv.slice(3), addCommands).parseAsync([...argv]);
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

function makeProgram(flags: readonly string[], addCommands: AddCommands): Command {
  const program = new Command("weft");
  program
    .description("A graph database service: GraphQL from your schema, DQL, transactions.")
    .version(readVersion(), "-v, --version", "print the version")
    .helpCommand("help [command]", "print help for a command")
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`weft: ${toOneLine(text)}\n`) });
  addCommands(program, flags);
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
