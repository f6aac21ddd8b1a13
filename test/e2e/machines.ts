/** Several real servers over one log, each with a directory and ports of its own. */
import { join } from "node:path";
import { findFreePort } from "../support/free-port.ts";
import {
  makeFolder,
  post,
  rdf,
  root,
  runWeft,
  startServer,
  type ServerOptions,
  type TestServer,
  type Told,
} from "./server.ts";

const certificates = join(root, "test", "certificates");
const plainTls = `ca=${join(certificates, "cluster-authority.pem")}; cert=${join(certificates, "cluster-node.pem")}; key=${join(certificates, "cluster-node.key")}`;

export interface TestMachine {
  readonly name: string;
  readonly server: TestServer;
  readonly dir: string;
}

export interface TestCluster {
  readonly log: string;
  /** Of `--cluster`: the certificates. */
  readonly tls: string;
  readonly machines: readonly TestMachine[];
  /** Starts one more, or one that has ended, by its name. */
  start(name: string, options?: StartOptions): Promise<TestMachine>;
}

interface StartOptions extends Pick<ServerOptions, "isAnyHealth"> {
  /** Where its store is; default: a directory of its own. */
  readonly dir?: string;
}

interface ClusterOptions {
  /** Of `--cluster`, beside those that all need. */
  readonly settings?: string;
  readonly flags?: readonly string[];
  readonly log: string;
  /** Of its processes, by its name. */
  readonly envOf?: (name: string) => Record<string, string>;
}

/** Machines over a log that is begun; none is started yet. */
export function openCluster({
  settings = "",
  flags = [],
  log,
  envOf = () => ({}),
}: ClusterOptions): TestCluster {
  const places = new Map<string, { dir: string; port: number; peerPort: number }>();
  const machines: TestMachine[] = [];
  return {
    log,
    tls: plainTls,
    machines,
    async start(name, given) {
      let place = places.get(name);
      if (place === undefined) {
        const dir = given?.dir ?? join(makeFolder(), name);
        place = { dir, port: await findFreePort(), peerPort: await findFreePort() };
        places.set(name, place);
      }
      const { dir, port, peerPort } = place;
      const cluster = `log=${log}; node=${name}; address=127.0.0.1:${peerPort}; ${plainTls}; ${settings}`;
      const own = ["--workers", "1", "--cluster", cluster, ...flags];
      const server = await startServer({
        dataDir: dir,
        port,
        flags: own,
        env: envOf(name),
        isAnyHealth: given?.isAnyHealth === true,
      });
      const machine = { name, server, dir };
      machines.push(machine);
      return machine;
    },
  };
}

/** Begins a log and starts so many machines over it. */
export async function startCluster(
  count: number,
  options: Partial<ClusterOptions> = {},
): Promise<TestCluster> {
  const log = options.log ?? `dir:${join(makeFolder(), "log")}`;
  const begun = await runWeft(["cluster", "init", "--log", log]);
  if (begun.code !== 0) throw new Error(begun.stderr);
  const cluster = openCluster({ ...options, log });
  await Promise.all(["a", "b", "c", "d"].slice(0, count).map((name) => cluster.start(name)));
  return cluster;
}

export interface MachineStatus {
  readonly node: string;
  readonly role: string;
  readonly term: number;
  readonly leader: string | null;
  readonly applied: number;
  readonly kept: number;
  readonly problem: string | null;
  readonly members: readonly {
    readonly node: string;
    readonly address: string;
    readonly leads: boolean;
    readonly isAway: boolean;
  }[];
}

export async function statusOf({ server }: TestMachine): Promise<MachineStatus> {
  const query =
    "{ cluster { node role term leader applied kept problem members { node address leads isAway } } }";
  const { json } = await post(`${server.url}/admin`, { query });
  return json["data"]?.["cluster"] as unknown as MachineStatus;
}

/** Facts, in a transaction of their own. */
export function write({ server }: TestMachine, facts: string): Promise<Told> {
  return post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts} } }`, rdf);
}

export async function read({ server }: TestMachine, query: string): Promise<Told["json"]> {
  const { json } = await post(`${server.url}/query`, query);
  if (json["errors"] !== undefined) throw new Error(JSON.stringify(json["errors"]));
  return json["data"] as Told["json"];
}
