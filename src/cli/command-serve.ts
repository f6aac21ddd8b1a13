/** `weft serve`: the supervisor, what it says, and the load of the sample on the first run. */
import { fork } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AccessTokens } from "../auth/access-token.ts";
import { systemClock } from "../base/clock.ts";
import { guardians } from "../engine/reserved-nodes.ts";
import { makeClient } from "../load/client.ts";
import { checkStoreKey } from "../stores/encryption.ts";
import { sampleHeader } from "../load/sample-sdl.ts";
import { makeSampleTokens } from "../load/sample-tokens.ts";
import type { AclConfig } from "./acl-config.ts";
import { CdcChild } from "./cdc-child.ts";
import { describeBound, urlOfAddress } from "./address.ts";
import { claimForServing } from "./claim.ts";
import { buildServeConfig, type ServeConfig, type ServeOptions } from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import { complain, makeLogger, say, surviveLostOutput } from "./log.ts";
import { mainFile } from "./places.ts";
import { openPrivateSockets } from "./private-socket.ts";
import { makeSecurity, warnOfOpenAddress } from "./security.ts";
import { waitForEnd } from "./server-end.ts";
import { describeReload, planReload } from "./settings-reload.ts";
import { startSupervisor, type Supervisor } from "./supervisor.ts";
import { readVersion } from "./version.ts";

/**
 * Runs until a signal ends it. `reread`: the settings as they stand when it is called. Fault E_STARTUP, with one line,
 * when it cannot serve.
 */
export async function runServe(options: ServeOptions, reread: () => ServeOptions): Promise<void> {
  surviveLostOutput();
  const config = buildServeConfig(options);
  // One line, before anything is touched.
  checkStoreKey(config.dataDir, readKeyFile(config.keyFile));
  const claim = await claimForServing(config.dataDir);
  await openPrivateSockets(config.dataDir).clearLeft();
  const supervisor = await startSupervisor(config, makeLogger("supervisor", config.log));
  const reload = makeReloader(config, supervisor, reread);
  const ended = waitForEnd(supervisor.whenShutDown, reload, endsWithParent());
  void supervisor.whenRefused.then(async (line) => {
    complain(`${line}\nNothing more is served from ${config.dataDir}`);
    await supervisor.kill();
    process.exit(1);
  });
  await loadSampleOnce(config, supervisor, ended.isEnding);
  if (!ended.isEnding()) {
    supervisor.open();
    const warning = warnOfOpenAddress(config);
    if (warning !== undefined) complain(warning);
    await greet(config, supervisor);
  }
  const cdc = await startCdc(config, supervisor, ended.isEnding);
  const reason = await ended.whenEnding;
  say(`${reason}: draining`);
  await cdc?.stop();
  await supervisor.stop();
  await claim.release();
  say("stopped");
  process.exit(0);
}

/** `npm exec` (npx) dies of a signal and leaves its child behind, as `npm start` does. */
function endsWithParent(): boolean {
  const { WEFT_END_WITH_PARENT: given, npm_command: npmCommand } = process.env;
  return given === undefined ? npmCommand === "exec" : given === "1";
}

/** Takes the settings that a running server can take. What is wrong in them leaves all as it was. */
function makeReloader(
  first: ServeConfig,
  supervisor: Supervisor,
  reread: () => ServeOptions,
): () => void {
  let running = first;
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const plan = planReload(running, buildServeConfig(reread()));
      // Names on the whitelist have to be found: the processes look them up for themselves.
      await makeSecurity(plan.config.security, plan.config.host);
      running = plan.config;
      supervisor.reload(running);
      say(describeReload(plan));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      complain(`SIGHUP: the settings stay as they were: ${why}`);
    }
  };
  return () => void (last = last.then(reload));
}

/** Stands in the directory while the sample is being loaded: a start that finds it loads the sample again. */
const pendingMark = "sample-pending";

/** Into an empty store only. Until it is loaded /health says that the server is not ready. */
async function loadSampleOnce(
  config: ServeConfig,
  supervisor: Supervisor,
  isEnding: () => boolean,
): Promise<void> {
  const mark = join(config.dataDir, pendingMark);
  if (!config.sample || (!supervisor.isEmpty && !existsSync(mark))) return;
  writeFileSync(mark, "");
  const args = ["sample", ...ownServerArgs(config, supervisor)];
  const env = await makeOwnEnv(config, ownTokenMs);
  const loader = fork(mainFile, args, { stdio: ["ignore", "inherit", "inherit", "ipc"], env });
  const code = await new Promise((resolve) => loader.once("exit", resolve));
  if (code === 0) rmSync(mark, { force: true });
  else if (!isEnding()) complain("the sample could not be loaded; the server goes on without it");
}

/** How commands that this server starts reach it. */
function ownServerArgs(config: ServeConfig, { address }: Supervisor): string[] {
  // Its own certificates are for others.
  const beside = config.tls === undefined ? [] : ["--beside", config.dataDir];
  return ["--to", urlOfAddress(address), ...beside];
}

/** What they show there. */
async function makeOwnEnv(config: ServeConfig, tokenMs: number): Promise<NodeJS.ProcessEnv> {
  const { acl, security, ownKeys } = config;
  return {
    ...process.env,
    ...(security.token === undefined ? {} : { WEFT_TOKEN: security.token }),
    WEFT_KEY: ownKeys.admin,
    ...(acl === undefined ? {} : { WEFT_ACCESS_TOKEN: await signOwnToken(acl, tokenMs) }),
    // What the user's own commands would show elsewhere.
    WEFT_CREDS: "",
  };
}

async function startCdc(
  config: ServeConfig,
  supervisor: Supervisor,
  isEnding: () => boolean,
): Promise<CdcChild | undefined> {
  const { cdc, dataDir } = config;
  if (cdc === undefined || isEnding()) return undefined;
  const child = new CdcChild({
    cdc,
    dataDir,
    serverArgs: ownServerArgs(config, supervisor),
    makeEnv: () => makeOwnEnv(config, cdcTokenMs),
  });
  await child.start();
  return child;
}

/** Then it is started again, with another. */
const cdcTokenMs = 30 * 24 * 3_600_000;

/** Of no user: a guardian of namespace 0 for a while, signed here with the server's own secret. */
async function signOwnToken(acl: AclConfig, accessTtlMs: number): Promise<string> {
  const tokens = new AccessTokens({
    ...acl,
    secrets: acl.secrets.map((secret) => Buffer.from(secret, "base64")),
    accessTtlMs,
    clock: systemClock,
  });
  return tokens.issuePlain("weft", 0, [guardians]);
}

const ownTokenMs = 10 * 60_000;

/** What was bound, and how to reach it from this machine. */
async function greet(config: ServeConfig, supervisor: Supervisor): Promise<void> {
  const isTls = config.tls !== undefined;
  const url = urlOfAddress(supervisor.address, isTls);
  const endpoints = `
Weft ${readVersion()} serves ${config.dataDir} on ${describeBound(supervisor.bound, isTls)}

  Console         ${config.ui ? `${url}/` : "off"}
  GraphQL         ${url}/graphql
  DQL             ${url}/query  /mutate  /commit  /alter
  gRPC            ${describeGrpc(supervisor.grpc, isTls)}
  Administration  ${url}/admin  /admin/schema
  Health          ${url}/health
${lambdaLine(config)}`;
  process.stdout.write(
    `${endpoints}\nTo paste into another terminal:\n\n${listCommands(config, url)}\n${await listTokens(config, url)}`,
  );
}

function describeGrpc(grpc: Supervisor["grpc"], isTls: boolean): string {
  if (grpc === undefined) return "off";
  if (typeof grpc === "string") return `not served: ${grpc}`;
  return `${urlOfAddress(grpc).replace(/^http:\/\//, "")}${isTls ? " (TLS)" : ""}`;
}

/** How a command to paste begins: where users log in, with what the one above it has kept. */
function curlOf({ acl, tls }: ServeConfig): string {
  const curl = tls === undefined ? "curl" : `curl --cacert ${tls.cert}`;
  return acl === undefined ? curl : `${curl} -H "X-Dgraph-AccessToken: $ACCESS"`;
}

function showLogin({ acl }: ServeConfig, url: string): string {
  if (acl === undefined) return "";
  const pick = String.raw`sed 's/.*"accessJWT":"\([^"]*\)".*/\1/'`;
  return `  ACCESS=$(curl -s ${url}/login -d '{"userid":"groot","password":"…"}' | ${pick})\n`;
}

function lambdaLine({ lambda }: ServeConfig): string {
  const place = lambda.script ?? lambda.url;
  return place === undefined ? "" : `  Lambda          ${place}\n`;
}

function listCommands(config: ServeConfig, url: string): string {
  const curl = `  ${curlOf(config)}`;
  const to = `-H 'content-type: application/`;
  const lines = config.sample
    ? [
        `${curl} ${url}/graphql ${to}graphql' -d '{ queryPackage(order: {desc: sizeBytes}, first: 3) { name version sizeBytes bytesBelow } }'`,
        `${curl} ${url}/query ${to}dql' -d '{ q(func: eq(Package.name, "fastify")) @recurse(depth: 3) { Package.name Package.dependencies } }'`,
        `${curl} ${url}/graphql ${to}graphql' -d '{ why(from: "fastify", to: "atomic-sleep") { name version } }'`,
      ]
    : [
        `${curl} ${url}/alter -d 'name: string @index(term) .'`,
        `${curl} '${url}/mutate?commitNow=true' ${to}rdf' -d '{ set { _:a <name> "Ada" . } }'`,
        `${curl} ${url}/query ${to}dql' -d '{ q(func: anyofterms(name, "ada")) { uid name } }'`,
      ];
  return `${showLogin(config, url)}${lines.join("\n")}\n`;
}

/** The sample's users, each with a token, and what they can do with it. */
async function listTokens(config: ServeConfig, url: string): Promise<string> {
  if (!config.sample) return "";
  const credentials = {
    token: config.security.token,
    key: config.ownKeys.admin,
    accessToken: config.acl === undefined ? undefined : await signOwnToken(config.acl, ownTokenMs),
  };
  const socketPath =
    config.tls === undefined ? undefined : openPrivateSockets(config.dataDir).pathOf("own");
  const client = makeClient(url, credentials, { socketPath });
  const tokens = await makeSampleTokens(client, systemClock.nowMs());
  if (tokens === undefined) return "";
  const lines = [...tokens].map(
    ([user, token]) => `  ${user.toUpperCase()}='${sampleHeader}: ${token}'\n`,
  );
  const curl = curlOf(config);
  return `Notes are for the eyes of their writer; two users, and a subscription to watch:

${lines.join("")}  ${curl} ${url}/graphql -H "$DEV" -H 'content-type: application/graphql' -d '{ queryNote { user text about { name } } }'
  ${curl} -N ${url}/graphql -H "$DEV" -H 'accept: text/event-stream' -H 'content-type: application/graphql' -d 'subscription { queryNote { text } }'
`;
}
