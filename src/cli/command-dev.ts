/** `weft dev`: the server of `weft serve` with one process that answers, and a session that watches the project. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CompiledSchema, FieldDefinition } from "../graphql/schema/compiled-schema.ts";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { Fault } from "../model/fault.ts";
import { describeBound, urlOfAddress } from "./address.ts";
import { claimForServing } from "./claim.ts";
import { buildServeConfig, type ServeConfig } from "./config.ts";
import type { CredentialOptions } from "./credentials.ts";
import type { DevOptions } from "./dev-commands.ts";
import { DevProject } from "./dev-project.ts";
import { openQuestions } from "./dev-questions.ts";
import { DevSession } from "./dev-session.ts";
import { DevWatch } from "./dev-watch.ts";
import { complain, makeLogger, say, surviveLostOutput } from "./log.ts";
import { waitForEnd } from "./server-end.ts";
import { startSupervisor, type Supervisor } from "./supervisor.ts";
import { readVersion } from "./version.ts";

/** Runs until a signal, or the end of its parent, ends it. Fault E_STARTUP, with one line, when it cannot serve. */
export async function runDev(dir: string, options: DevOptions): Promise<void> {
  surviveLostOutput();
  enter(dir);
  const project = new DevProject({ ...options, script: options.lambda });
  const config = buildDevConfig(options, project);
  const { dataDir } = config;
  const claim = await claimDirectory(dataDir, options.reset);
  const isNew = readdirSync(dataDir).length === 0;
  const supervisor = await startSupervisor(config, makeLogger("supervisor", config.log));
  if (isNew) markDirectory(dataDir);
  const ended = waitForEnd(supervisor.whenShutDown, () => {}, true);
  void supervisor.whenRefused.then(async (line) => {
    complain(line);
    await supervisor.kill();
    process.exit(1);
  });
  const session = openSession(options, config, { project, supervisor });
  await session.start(supervisor.isEmpty);
  const watch = new DevWatch({
    files: () => session.files(),
    folders: () => project.folders(),
    changed: (files) => void session.changed(files),
  });
  const looking = setInterval(() => void session.look(), lookMs);
  if (!ended.isEnding()) {
    supervisor.open();
    greet({ config, supervisor, project }, session.sdl);
  }
  const reason = await ended.whenEnding;
  say(`${reason}: ending`);
  clearInterval(looking);
  watch.close();
  await supervisor.stop();
  await claim.release();
  process.exit(0);
}

/** How often a refused schema is looked for on the server: somebody may set it with other commands. */
const lookMs = 1_000;

function enter(dir: string): void {
  try {
    process.chdir(dir);
  } catch (error) {
    throw new Fault("E_STARTUP", `${dir} is no folder: weft init ${dir} makes a project there`, {
      cause: error,
    });
  }
}

function buildDevConfig(options: DevOptions, project: DevProject): ServeConfig {
  for (const name of ["acl", "tls"] as const) {
    if (options[name] !== "")
      throw new Fault("E_USAGE", `--${name} is for weft serve: weft dev serves without`);
  }
  if (options.lambdaUrl !== undefined) {
    throw new Fault("E_STARTUP", "weft dev runs resolvers itself: --lambda-url is for weft serve");
  }
  // A lambda server is there in any case: resolvers may be written while it runs.
  const config = buildServeConfig({ ...options, lambda: project.script() ?? "resolvers.ts" });
  const format = options.log.includes("format=") ? config.log.format : "dev";
  return { ...config, isDevelopment: true, log: { ...config.log, format } };
}

/** In a directory that `weft dev` has made: it may empty it again. */
const mark = "made-by-weft-dev";

async function claimDirectory(
  dir: string,
  isReset: boolean,
): Promise<Awaited<ReturnType<typeof claimForServing>>> {
  if (isReset && existsSync(dir)) {
    if (!existsSync(join(dir, mark))) {
      throw new Fault("E_USAGE", `--reset: ${dir} was not made by weft dev; remove it yourself`);
    }
    // Refused while another serves it.
    await (await claimForServing(dir)).release();
    rmSync(dir, { recursive: true });
  }
  return await claimForServing(dir);
}

/** Only when the store is there: another file would make the directory one that is none. */
function markDirectory(dir: string): void {
  writeFileSync(join(dir, mark), "");
  writeFileSync(join(dir, ".gitignore"), "*\n");
}

interface DevServer {
  readonly project: DevProject;
  readonly supervisor: Supervisor;
}

function openSession(
  options: DevOptions,
  config: ServeConfig,
  { project, supervisor }: DevServer,
): DevSession {
  const credentials: CredentialOptions = {
    to: urlOfAddress(supervisor.address),
    token: config.security.token,
    key: config.ownKeys.admin,
    creds: undefined,
    accessToken: undefined,
    ca: undefined,
    cert: undefined,
    certKey: undefined,
    beside: undefined,
  };
  const { types } = options;
  const int64 = config.graphql.int64 === "text" ? "string" : "number";
  return new DevSession({
    project,
    credentials,
    reloadScript: (script) => supervisor.reloadScript(script),
    strictRules: config.graphql.strictRules,
    migrate: options.migrate,
    questions: openQuestions(process.stdin),
    types: typeof types === "string" ? { dir: types, int64 } : undefined,
  });
}

interface Greeted extends DevServer {
  readonly config: ServeConfig;
}

function greet({ config, supervisor, project }: Greeted, sdl: string | undefined): void {
  const url = urlOfAddress(supervisor.address);
  const { grpc } = supervisor;
  const watched = [project.schema, project.script() ?? "resolvers.ts", project.migrations];
  process.stdout.write(`
Weft ${readVersion()} serves this project on ${describeBound(supervisor.bound)}

  Console         ${config.ui ? `${url}/` : "off"}
  GraphQL         ${url}/graphql
  DQL             ${url}/query  /mutate  /commit  /alter
  gRPC            ${describeGrpc(grpc)}
  Administration  ${url}/admin  /admin/schema
  Data            ${config.dataDir} (weft dev --reset begins anew)
  Keys            ${describeKeys(config)}

${describeExample(sdl, url, project)}
Watching ${watched.join(", ")} and fixtures. Ctrl-C ends it.
`);
}

function describeGrpc(grpc: Supervisor["grpc"]): string {
  if (grpc === undefined) return "off";
  return typeof grpc === "string" ? `not served: ${grpc}` : urlOfAddress(grpc).slice(7);
}

function describeKeys({ security, dataDir }: ServeConfig): string {
  if (security.token !== undefined) return "the token of --security administers";
  return `none are needed on this machine; weft key create --data ${dataDir} makes one`;
}

function describeExample(sdl: string | undefined, url: string, { schema }: DevProject): string {
  if (sdl === undefined) {
    const todo = existsSync(schema) ? "what is wrong is told above" : `write ${schema}`;
    return `There is no schema yet: ${todo}\n`;
  }
  const query = exampleOf(compileSchema(sdl));
  if (query === undefined) return "";
  return `To paste into another terminal:\n\n  curl ${url}/graphql -H 'content-type: application/graphql' -d '${query}'\n`;
}

const exampleFieldsMax = 3;

/** A query of the first type, for what its nodes hold themselves. */
function exampleOf({ queries, nodes }: CompiledSchema): string | undefined {
  const [type] = nodes;
  if (type === undefined) return undefined;
  const root = [...queries.values()].find((one) => one.kind === "query" && one.of === type);
  const fields = [...type.fields.values()].filter(isPlain).slice(0, exampleFieldsMax);
  if (root === undefined || fields.length === 0) return undefined;
  return `{ ${root.name} { ${fields.map(({ name }) => name).join(" ")} } }`;
}

function isPlain({ source }: FieldDefinition): boolean {
  return source.kind === "uid" || source.kind === "value";
}
