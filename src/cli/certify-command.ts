/** `weft certify`. */
import type { Command } from "commander";

/** The options of `weft certify`. */
export interface CertifyFlags {
  readonly log: string;
  readonly for: string;
  readonly unsafeSingle: boolean;
  readonly json: boolean;
}

export function addCertify(program: Command): void {
  program
    .command("certify")
    .description("try whether a PostgreSQL keeps what a log of several machines asks of it")
    .requiredOption(
      "--log <url>",
      "postgres://USER@HOST:PORT/DATABASE, dir:PATH, or @FILE with one",
    )
    .option("--for <duration>", "how long to write under changing leaders", "30s")
    .option("--unsafe-single", "take a PostgreSQL that has no synchronous standby", false)
    .option("--json", "print JSON instead of lines", false)
    .addHelpText(
      "after",
      `
The contract of reference/log 1, part by part; then writes under changing leaders, while you end what the log runs on:
the primary, a standby, the network. Exit code 1 where a promise is broken. It works in a log of its own, beside those
that are there, and removes it. The password comes from PGPASSWORD, a password file, or @FILE.

Examples:
  weft certify --log postgres://weft@db.example.com/weft --for 5m
  weft certify --log dir:/mnt/second-disk/weft-log --for 10s`,
    )
    .action(async (options: CertifyFlags) => {
      const { runCertify } = await import("./command-certify.ts");
      await runCertify(options);
    });
}
