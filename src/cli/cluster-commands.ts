/** `weft cluster`. */
import type { Command } from "commander";

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
}

function addLogOptions(command: Command): Command {
  return command
    .requiredOption(
      "--log <url>",
      "postgres://USER@HOST:PORT/DATABASE, dir:PATH, or @FILE with one",
    )
    .option("--cell <number>", "which of several logs in one database", "0")
    .option("--unsafe-single", "take a PostgreSQL that has no synchronous standby", false);
}
