/** `weft cluster`. */
import type { Command } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** Which log. */
export interface ClusterLogFlags {
  readonly log: string;
  readonly cell: string;
  readonly unsafeSingle: boolean;
}

export interface ClusterInitFlags extends ClusterLogFlags {
  readonly data: string | undefined;
  readonly encryption: string;
}

export interface ClusterLeaveFlags {
  readonly data: string;
  readonly encryption: string;
}

export function addCluster(program: Command): void {
  const cluster = program
    .command("cluster")
    .description("several machines over one log: begin it, look at it, hand the lead over");
  addLogOptions(
    cluster.command("init").description("begin a log, once for all machines that will share it"),
  )
    .option("--data <dir>", "the store of a server that is stopped: the machines go on with it")
    .option("--encryption <settings>", 'of that store: "key-file=FILE"', "")
    .addHelpText(
      "after",
      `
Without --data the machines begin with an empty store. With it, the store's data is what they begin with: start the
machine that has it first, and the others are given a snapshot of it.

Examples:
  weft cluster init --log postgres://weft@db.example.com/weft
  weft cluster init --log @/etc/weft/log-url --data /var/lib/weft`,
    )
    .action(async (options: ClusterInitFlags) => {
      const { runClusterInit } = await import("./command-cluster.ts");
      await runClusterInit(options);
    });
  cluster
    .command("leave")
    .description(
      "take the store of a machine that is stopped out of the log: it is a server's alone",
    )
    .option("--data <dir>", "directory of the store", "./weft-data")
    .option("--encryption <settings>", 'of that store: "key-file=FILE"', "")
    .addHelpText(
      "after",
      "\nWhat it has applied it keeps; it cannot come back to that log.\n\nExamples:\n  weft cluster leave --data /var/lib/weft",
    )
    .action(async (options: ClusterLeaveFlags) => {
      const { runClusterLeave } = await import("./command-cluster.ts");
      await runClusterLeave(options);
    });
  addQuestions(cluster);
}

/** Questions to a running machine. */
export interface ClusterAskFlags extends CredentialOptions {
  readonly json: boolean;
}

export interface ClusterEvictFlags extends CredentialOptions {
  readonly force: boolean;
}

function addQuestions(cluster: Command): void {
  addServer(cluster.command("status"))
    .description("show how a machine stands among the others")
    .option("--json", "print JSON instead of a table", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      "\nExamples:\n  weft cluster status\n  weft cluster status --to http://db2:8080",
    )
    .action(async (options: ClusterAskFlags) => {
      const { runClusterStatus } = await import("./command-cluster.ts");
      await runClusterStatus(options);
    });
  addServer(cluster.command("resign"))
    .description("have the machine that leads give the lead up; another one takes it at once")
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      "\nBefore maintenance; a server that is stopped in order does it by itself.\n\nExamples:\n  weft cluster resign --to http://db1:8080",
    )
    .action(async (options: ClusterAskFlags) => {
      const { runClusterResign } = await import("./command-cluster.ts");
      await runClusterResign(options);
    });
  addChanges(cluster);
}

/** What the machine that leads is asked to do with the others. */
function addChanges(cluster: Command): void {
  addServer(cluster.command("finalize"))
    .description("behind an upgrade of all machines: write what only the new version reads")
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
To the machine that leads. Machines announce which forms of rows they read; the log has the older one until this is
asked, so that versions may be mixed, and gone back from. Refused while a machine, also one that is away, does not read
the newer one.

Examples:
  weft cluster finalize --to http://db1:8080`,
    )
    .action(async (options: ClusterAskFlags) => {
      const { runClusterFinalize } = await import("./command-cluster.ts");
      await runClusterFinalize(options);
    });
  addServer(cluster.command("evict <machine>"))
    .description("take a machine out that is gone for good")
    .option("--force", "evict it also while it is connected", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
To the machine that leads. Nothing waits for it from then on, and its store is refused. With a new directory it is a
machine again.

Examples:
  weft cluster evict db3 --to http://db1:8080`,
    )
    .action(async (name: string, options: ClusterEvictFlags) => {
      const { runClusterEvict } = await import("./command-cluster.ts");
      await runClusterEvict(name, options);
    });
}

function addLogOptions(command: Command): Command {
  return command
    .requiredOption(
      "--log <url>",
      "where the log lies: postgres://USER@HOST:PORT/DATABASE, dir:PATH, or @FILE with one",
    )
    .option("--cell <number>", "number of the log, where one database holds several", "0")
    .option("--unsafe-single", "take a PostgreSQL that has no synchronous standby", false);
}
