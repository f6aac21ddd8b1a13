/** The flags of `weft serve`, which `weft dev` and `weft config` take as well. */
import { Command, Option } from "commander";
import { availableParallelism } from "node:os";
import type { ServeOptions } from "./config.ts";
import { lambdaLimitHelp } from "./lambda-command.ts";
import { prepareOptions } from "./prepare-options.ts";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

/** In this order in the help. */
export function addServeOptions(command: Command): Command {
  addAddress(command);
  addApiAccess(command);
  addStorage(command);
  addAccounts(command);
  addResolvers(command);
  addProcesses(command);
  return command;
}

/** The settings of `weft serve` as they stand now, of the same flags. Throws Fault E_STARTUP, with one line. */
export function readServeOptions(flags: readonly string[]): ServeOptions {
  const command = addServeOptions(new Command("serve"));
  command.parse([...flags], { from: "user" });
  prepareOptions(command);
  return command.opts<ServeOptions>();
}

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
      ),
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
