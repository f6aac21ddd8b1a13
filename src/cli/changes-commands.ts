/** `weft changes`: the change feed into a file, an endpoint, NATS or Kafka. */
import { Option, type Command } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** The options of `weft changes`. */
export interface ChangesFlags extends CredentialOptions {
  readonly from: string | undefined;
  readonly follow: boolean;
  readonly predicate: readonly string[] | undefined;
  readonly type: readonly string[] | undefined;
  readonly namespace: readonly string[] | undefined;
  readonly state: string | undefined;
  readonly form: "weft" | "dgraph";
  readonly out: string | undefined;
  readonly rotate: string | undefined;
  readonly post: string | undefined;
  readonly postSecret: string | undefined;
  readonly nats: string | undefined;
  readonly subject: string | undefined;
  readonly natsCreds: string | undefined;
  readonly kafka: string | undefined;
  readonly topic: string | undefined;
  readonly kafkaLogin: string | undefined;
  readonly kafkaTls: string | undefined;
}

export function addChanges(program: Command): void {
  const command = program
    .command("changes")
    .description("follow what a running server commits, and bring it elsewhere");
  addServer(command)
    .option("--from <position>", "go on behind it; a position, a commit, oldest or newest")
    .option("--no-follow", "end with the newest commit of the beginning")
    .option("--predicate <names...>", "facts of these predicates alone")
    .option("--type <names...>", "facts of nodes of these types alone")
    .option("--namespace <numbers...>", "or all; the own one unless said")
    .addOption(setting("--state <file>", "where it keeps its position, and goes on from"))
    .addOption(
      new Option("--form <form>", "of what is delivered: as the feed tells it, or as Dgraph does")
        .choices(["weft", "dgraph"])
        .default("weft"),
    )
    .option("--out <file>", "append to a file, in place of standard output")
    .option("--rotate <size>", "put the file aside when it is so large, as 100MB")
    .option("--post <url>", "send to an HTTP endpoint")
    .addOption(setting("--post-secret <secret>", "by which what is sent there is signed; @FILE"))
    .option("--nats <url>", "publish to JetStream, as nats://HOST:4222")
    .option("--subject <name>", "of NATS")
    .option("--nats-creds <file>", "credentials for NATS")
    .option("--kafka <brokers>", "publish to Kafka, as HOST:9092,HOST:9092")
    .option("--topic <name>", "of Kafka")
    .addOption(
      setting("--kafka-login <login>", '"mechanism=SCRAM-SHA-256; user=…; password=@FILE"'),
    )
    .option("--kafka-tls <files>", '"ca=ca.pem; cert=…; key=…", or "on"')
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
At least once: what was delivered when the state was kept last may come again after a kill; positions tell. A file
that is written with --state has each line once.

Examples:
  weft changes --from oldest --no-follow
  weft changes --state warehouse.state --out changes.ndjson --rotate 100MB
  weft changes --state hook.state --post https://hooks.example/weft --post-secret @hook.secret --predicate Order.total
  weft changes --state nats.state --nats nats://127.0.0.1:4222 --subject weft.changes
  weft changes --state kafka.state --kafka broker1:9092,broker2:9092 --topic weft`,
    )
    .action(async (options: ChangesFlags) => {
      const { runChanges } = await import("./command-changes.ts");
      await runChanges(options);
    });
}
