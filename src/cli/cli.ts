/**
 * argv → a command. In: flags, environment, a settings file. Out: one frozen record for the
 * command, and an exit code. Here alone does the program read its environment, and here alone are the modules put
 * together. Commands are loaded when they are called, so that `weft help` does not open a database.
 */
import { availableParallelism } from "node:os";
import { Command, CommanderError, Option } from "commander";
import { Fault } from "../model/fault.ts";
import { runChild } from "./child-port.ts";
import { applyConfigFile, type ServeOptions } from "./config.ts";
import type { CredentialOptions } from "./credentials.ts";
import { limitHelp } from "./limit-help.ts";
import { complain, endWithLostOutput } from "./log.ts";
import type { Role } from "./messages.ts";
import { describeShown, resolveSecrets } from "./secrets.ts";
import { addEncryption } from "./encryption-commands.ts";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";
import { keepProjectMask } from "./project-mask.ts";
import { addToken, addTypes } from "./project-commands.ts";
import { addDev, addInit } from "./dev-commands.ts";
import { addSchema } from "./schema-commands.ts";
import { addImport } from "./import-command.ts";
import { addServer } from "./server-flags.ts";
import { addChanges } from "./changes-commands.ts";
import { addBackup, addRestore } from "./backup-commands.ts";
import { addCertify } from "./certify-command.ts";
import { addCluster } from "./cluster-commands.ts";
import { addBulk, addCompact, addExport } from "./store-commands.ts";
import { readVersion } from "./version.ts";

/** Runs one command to its end. `mask`: the user's, for files of projects. Whatever it throws becomes one line and exit code 1. */
export async function runCli(argv: readonly string[], mask: number): Promise<void> {
  keepProjectMask(mask);
  if (argv[2] === "__child" && argv[3] === "snapshot") {
    const { runSnapshotChild } = await import("./snapshot-child.ts");
    runSnapshotChild();
    return;
  }
  if (argv[2] === "__child") {
    runChild(argv[3] as Role);
    return;
  }
  endWithLostOutput();
  try {
    await makeProgram(argv.slice(3)).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** The exit code. What is the user's to put right takes one line; our own mistakes come with their trace. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof Fault) complain(error.message);
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

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

/** What a command is given beside its flags: a settings file, and files of secrets. */
function prepareOptions(command: Command): void {
  applyConfigFile(command);
  const shown = resolveSecrets(command);
  if (shown.length > 0) complain(describeShown(shown));
}

function toOneLine(text: string): string {
  return text
    .replace(/^error: /, "")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
}

/** In this order in the help. */
function addServeOptions(command: Command): Command {
  addAddress(command);
  addApiAccess(command);
  addStorage(command);
  addAccounts(command);
  addResolvers(command);
  addProcesses(command);
  return command;
}

/** The settings of `weft serve` as they stand now, of the same flags. Throws Fault E_STARTUP, with one line. */
function readServeOptions(flags: readonly string[]): ServeOptions {
  const command = addServeOptions(new Command("serve"));
  command.parse([...flags], { from: "user" });
  prepareOptions(command);
  return command.opts<ServeOptions>();
}

function addServe(program: Command, flags: readonly string[]): void {
  const command = addServeOptions(program.command("serve").description("serve a database"));
  command
    .addHelpText(
      "after",
      `
${limitHelp}

Examples:
  weft serve --data ./weft-data --http 127.0.0.1:8080
  weft serve --data ./weft-data --sample --workers 2
  weft serve --lambda ./resolvers.ts --lambda-limit "fetch=api.example.com"
  weft serve --http 0.0.0.0:8080 --anonymous on --security "token=secret; whitelist=10.0.0.0/8"
  weft serve --limit "query-timeout=20s; query-edge=100000; result-bytes=64MB"
  weft serve --http 0.0.0.0:8080 --anonymous off
  WEFT_DATA=/var/lib/weft weft serve --config /etc/weft.json`,
    )
    .action(async (options: ServeOptions) => {
      const { runServe } = await import("./command-serve.ts");
      await runServe(options, () => readServeOptions(flags));
    });
}

function addConfig(program: Command): void {
  const config = program
    .command("config")
    .description("check and print the settings of a server, without starting it");
  const print = config
    .command("print")
    .description("every setting of weft serve, its value, and where that was said; no secrets")
    .action(async (_options: ServeOptions, command: Command) => {
      const { runConfigPrint } = await import("./command-config.ts");
      runConfigPrint(command);
    });
  const check = config
    .command("check")
    .description("read all that a start would read; exit code 1 where something is wrong")
    .action(async (options: ServeOptions) => {
      const { runConfigCheck } = await import("./command-config.ts");
      await runConfigCheck(options);
    });
  for (const command of [print, check]) {
    addServeOptions(command).addHelpText("after", configCommandHelp).copyInheritedSettings(program);
  }
}

const configCommandHelp = `
They take what weft serve takes: flags, the environment, and --config.

Examples:
  weft config check --config /etc/weft.json
  WEFT_DATA=/var/lib/weft weft config print --config /etc/weft.json`;

/** Where the store lies, and where it is served. */
function addAddress(command: Command): void {
  command
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .addOption(setting("--export <dir>", "where exports of /admin go; default: export in --data"))
    .addOption(setting("--http <host:port>", "where to listen").default("127.0.0.1:8080"))
    .addOption(
      setting("--grpc <host:port>", "where to take calls of gRPC; default: 1000 above --http"),
    )
    .addOption(new Option("--no-grpc", "the same as --grpc off"))
    .addOption(
      setting(
        "--tls <settings>",
        'HTTPS: "cert=FILE; key=FILE; client-ca=FILE; client-auth=requireandverify; min=1.2"',
      ).default(""),
    )
    .addOption(setting("--workers <n>", "processes that answer requests").default(defaultWorkers))
    .addOption(setting("--sample", "load the sample into an empty store").default(false))
    .addOption(new Option("--no-sample", "start empty"));
}

/** What the APIs show, and to whom. */
function addApiAccess(command: Command): void {
  command
    .addOption(
      setting(
        "--graphql <settings>",
        '"introspection=true; debug=false; extensions=true; strict-rules=false; data-check=true; batch=0; int64=number; error-details=false; lambda-url="',
      ).default(""),
    )
    .addOption(
      setting(
        "--security <settings>",
        '"token=…; whitelist=ADDR,CIDR,A:B; hosts=NAME; origins=URL; anonymous=on"',
      ).default(""),
    )
    .addOption(
      setting("--anonymous <on|off>", "whether data may be used without a key (weft help key)"),
    )
    .addOption(new Option("--no-anonymous", "the same as --anonymous off"));
}

/** Limits, the store, and memory. */
function addStorage(command: Command): void {
  command
    .addOption(
      setting("--limit <settings>", '"query-timeout=20s; body-bytes=64MB; …", see below').default(
        "",
      ),
    )
    .addOption(
      setting(
        "--store <settings>",
        '"map-bytes=64GB; min-free=512MB; log-bytes=64MB; log-minutes=10; scrub-percent=2; scrub-hours=24"',
      ).default(""),
    )
    .addOption(
      setting(
        "--cache <settings>",
        '"size-mb=256": memory for decoded data, in each process',
      ).default(""),
    )
    .addOption(
      setting(
        "--memory <size>",
        "of all processes together; default: three quarters of what is there",
      ),
    );
}

/** Users, records, rates. */
function addAccounts(command: Command): void {
  command
    .addOption(
      setting(
        "--acl <settings>",
        'users and groups: "secret-file=FILE,…; access-ttl=6h; refresh-ttl=30d; password-file=FILE; …"',
      ).default(""),
    )
    .addOption(
      setting(
        "--audit <settings>",
        'who did what: FILE, or "file=…; max-size=100MB; max-files=10; queries=off; on-failure=continue"',
      ).default(""),
    )
    .addOption(
      setting(
        "--cdc <settings>",
        'what is committed, as Dgraph sends it: "file=DIR", or "kafka=HOST:PORT; sasl-user=…; sasl-password=…; ca-cert=…"',
      ).default(""),
    )
    .addOption(
      setting(
        "--rate <settings>",
        'requests a second: "address=100/s; key=500/s; user=100/s; burst=2s"',
      ).default(""),
    );
}

/** Custom logic, and what may be asked of other hosts. */
function addResolvers(command: Command): void {
  command
    .addOption(
      setting(
        "--backup <settings>",
        'archive what is committed: "to=dir:PATH or s3://BUCKET; every=10s; full=24h; keep=7; key-file=FILE"',
      ).default(""),
    )
    .addOption(
      setting(
        "--cluster <settings>",
        'one of several machines: "log=postgres://…; node=a; address=HOST:7443; ca=FILE; cert=FILE; key=FILE; lease=3s; reads=strict; read-wait=6s"',
      ).default(""),
    )
    .addOption(setting("--lambda <script>", "JavaScript or TypeScript with resolvers, run beside"))
    .addOption(
      setting("--lambda-url <url>", "another lambda server, as http://host:8686/graphql-worker"),
    )
    .addOption(setting("--lambda-limit <settings>", lambdaLimitHelp).default(""))
    .addOption(
      setting(
        "--outgoing <settings>",
        '"hosts=NAME,*.NAME; private=ADDR,CIDR; time=60s; answer-bytes=16MB; running=16; level=1000; requests=5000": whom the server may ask because a schema names them (key sets, @custom), and how much',
      ).default(""),
    );
}

/** The processes. */
function addProcesses(command: Command): void {
  command
    .addOption(
      setting("--drain <duration>", "time for requests under way at the end").default("10s"),
    )
    .addOption(
      setting("--hang <duration>", "silence after which a process is replaced; 0: never").default(
        "30s",
      ),
    )
    .addOption(
      setting(
        "--log <settings>",
        'LEVEL, or "level=info; format=json; access=on; slow=200ms"',
      ).default("info"),
    )
    .addOption(
      setting(
        "--metrics <admin|open|off>",
        "who may read /metrics; off: nothing is counted",
      ).default("admin"),
    )
    .addOption(setting("--ui <on|off>", "whether browsers are shown the console").default("on"))
    .addOption(new Option("--no-ui", "the same as --ui off"))
    .addOption(
      setting(
        "--otel <settings>",
        'traces and metrics by OTLP: URL, or "url=http://127.0.0.1:4318; sample=1; every=30s"',
      ).default(""),
    )
    .addOption(setting(configFlag, configHelp));
}

/** One for each core, up to four: on two cores two workers answered reads 1.3 to 2 times as fast as one (decision 0007). */
const defaultWorkers = String(Math.min(availableParallelism(), 4));

const lambdaLimitHelp =
  '"time=50s; block=5s; memory=256MB; script-bytes=500KB; running=2; processes=16; fetch=HOST,…; errors=own"';

/** The options of `weft lambda`. */
export interface LambdaOptions {
  readonly http: string;
  readonly graphql: string;
  readonly token: string | undefined;
  readonly limit: string;
  readonly log: string;
}

function addLambda(program: Command): void {
  const { PORT: port, SCRIPT_PATH: path, DGRAPH_URL: url } = process.env;
  program
    .command("lambda")
    .description("run a script's resolvers for a database")
    .argument("[script]", "JavaScript or TypeScript (SCRIPT_PATH)", path ?? "./script/script.js")
    .addOption(
      setting("--http <host:port>", "where to listen (PORT)").default(`127.0.0.1:${port ?? 8686}`),
    )
    .addOption(
      setting("--graphql <url>", "the database (DGRAPH_URL)").default(
        url ?? "http://127.0.0.1:8080",
      ),
    )
    .addOption(setting("--token <token>", "sent as X-Auth-Token (DGRAPH_TOKEN)"))
    .addOption(setting("--limit <settings>", lambdaLimitHelp).default(""))
    .addOption(setting("--log <settings>", 'LEVEL, or "level=info; format=json"').default("info"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Answers POST /graphql-worker. A database calls it when it is started with --lambda-url.

Examples:
  weft lambda ./resolvers.ts --http 127.0.0.1:8686 --graphql http://127.0.0.1:8080
  SCRIPT_PATH=./resolvers.js PORT=8686 DGRAPH_URL=http://127.0.0.1:8080 weft lambda`,
    )
    .action(async (script: string, options: LambdaOptions) => {
      const { runLambda } = await import("./command-lambda.ts");
      await runLambda(script, options);
    });
}

/** The options of `weft live`. */
export interface LiveOptions extends CredentialOptions {
  readonly files: string;
  readonly schema: string | undefined;
  readonly graphqlSchema: string | undefined;
  readonly format: "rdf" | "json" | undefined;
  readonly xidmap: string | undefined;
  readonly upsertPredicate: string | undefined;
  readonly batch: string;
  readonly inFlight: string;
}

function addLive(program: Command): void {
  addServer(program.command("live"))
    .description("load RDF or JSON files into a running server")
    .requiredOption("--files <file,…>", "files and folders: .rdf or .json, plain or .gz")
    .addOption(new Option("--format <format>", "of all files").choices(["rdf", "json"]))
    .option("--schema <file>", "DQL schema to set first, plain or .gz")
    .option("--graphql-schema <file>", "GraphQL schema to set first, or as an export has it")
    .option("--xidmap <file>", "keeps the uids of labels, and goes on where a load was ended")
    .option("--upsert-predicate <name>", "its values are keys, as those of @id and @unique")
    .addOption(setting("--batch <n>", "facts in a request").default("1000"))
    .addOption(setting("--in-flight <n>", "requests under way at once").default("8"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Blank nodes are the same nodes through the whole load, over all its files.

Examples:
  weft live --files film.rdf.gz --schema film.schema --to http://127.0.0.1:8080
  weft live --files people.json,more.rdf --graphql-schema schema.graphql --token secret
  WEFT_CREDS="user=groot; password=…" weft live --files film.rdf.gz`,
    )
    .action(async (options: LiveOptions) => {
      const { runLive } = await import("./command-live.ts");
      await runLive(options);
    });
}

/** The options of `weft sample`. */
export interface SampleOptions extends CredentialOptions {
  /** undefined: the packages that come with Weft. */
  readonly npm: string | undefined;
}

function addSample(program: Command): void {
  addServer(program.command("sample"))
    .description("load a graph of npm packages into a running server")
    .addOption(setting("--npm <dir>", "project whose node_modules to read instead of Weft's own"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft sample --to http://127.0.0.1:8080
  weft sample --npm . --to http://127.0.0.1:8080
  weft sample --npm ~/projects/shop --token secret`,
    )
    .action(async (options: SampleOptions) => {
      const { runSample } = await import("./command-sample.ts");
      await runSample(options);
    });
}

/** The options of `weft check`. */
export interface CheckOptions {
  readonly data: string;
  readonly encryption: string;
  readonly repair: boolean;
}

function addCheck(program: Command): void {
  program
    .command("check")
    .description("verify a store against itself: records, indexes, counts, checksums")
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .option("--repair", "save what is sound into a new store in its place", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Reads only, also beside a running server. Exit code 1 when something is wrong.
With --repair no server may run: all that is sound becomes a new store in the
same directory, everything that is not is listed, and the old files are kept in
a directory damaged-1 (2, …) beside it. Then the new store is checked.

Examples:
  weft check --data ./weft-data
  weft check --data ./weft-data --repair`,
    )
    .action(async (options: CheckOptions) => {
      const { runCheck } = await import("./command-check.ts");
      await runCheck(options);
    });
}

/** The options of `weft top`. */
export interface TopOptions extends CredentialOptions {
  readonly tag: string | undefined;
  readonly every: string | undefined;
  readonly json: boolean;
}

function addTop(program: Command): void {
  addServer(program.command("top"))
    .description("show the requests that run on a server now, the longest first")
    .option("--tag <tag>", "those with this tag alone (header X-Weft-Tag, or ?tag= of the request)")
    .option("--every <duration>", "again and again, until it is interrupted")
    .option("--json", "print JSON instead of a table", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft top
  weft top --every 2s --tag nightly-report`,
    )
    .action(async (options: TopOptions) => {
      const { runTop } = await import("./command-top.ts");
      await runTop(options);
    });
}

/** The options of `weft kill`. */
export interface KillOptions extends CredentialOptions {
  readonly tag: string | undefined;
}

function addKill(program: Command): void {
  addServer(program.command("kill"))
    .description("end requests that run on a server")
    .argument("[id...]", "ids, as weft top shows them")
    .option("--tag <tag>", "all requests with this tag")
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft kill cy7-mwtgyh6y-1
  weft kill --tag nightly-report`,
    )
    .action(async (ids: string[], options: KillOptions) => {
      const { runKill } = await import("./command-top.ts");
      await runKill(ids, options);
    });
}

/** The options of `weft explain`. */
export interface ExplainFlags extends CredentialOptions {
  readonly header: readonly string[];
  readonly profile: boolean;
  readonly json: boolean;
  readonly graphql: boolean;
  readonly variables: string | undefined;
}

function addExplain(program: Command): void {
  addServer(program.command("explain"))
    .description("show how a running server would run a query, or with --profile, how it did")
    .argument("<file>", "the query; - for standard input")
    .option("--profile", "run the query and measure its steps", false)
    .option("--json", "print JSON instead of a table", false)
    .option("--graphql", "the query is GraphQL, not DQL", false)
    .option("--variables <json>", "values of the query's variables, as a JSON object")
    .option(
      "--header <name: value>",
      "sent along, such as an application's token; may be repeated",
      collect,
      [],
    )
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
GraphQL is explained to administrators alone: the numbers tell of nodes that rules hide.

Examples:
  weft explain query.dql
  weft explain --profile --to http://127.0.0.1:8080 query.dql
  echo '{ q(func: has(name), first: 5) { name } }' | weft explain --profile -
  weft explain --graphql --variables '{"city": "Oslo"}' --key KEY query.graphql`,
    )
    .action(async (file: string, options: ExplainFlags) => {
      const { runExplain } = await import("./command-explain.ts");
      await runExplain(file, options);
    });
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

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

function addKey(program: Command): void {
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
