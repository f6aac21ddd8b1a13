/** Several real servers over one log, each with a directory and ports of its own. */
import { join } from "node:path";
import {
  findFreePort,
  makeFolder,
  post,
  rdf,
  root,
  runWeft,
  startServer,
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
  readonly machines: readonly TestMachine[];
  /** Starts one more, or one that has ended, by its name. */
  start(name: string, settings?: string): Promise<TestMachine>;
}

/** Begins a log and starts so many machines over it. `settings`: of `--cluster`, beside those that all need. */
export async function startCluster(
  count: number,
  { settings = "", flags = [], log = `dir:${join(makeFolder(), "log")}` }: ClusterOptions = {},
): Promise<TestCluster> {
  const begun = await runWeft(["cluster", "init", "--log", log]);
  if (begun.code !== 0) throw new Error(begun.stderr);
  const places = new Map<string, { dir: string; port: number; peerPort: number }>();
  const start = async (name: string, more = settings): Promise<TestMachine> => {
    let place = places.get(name);
    if (place === undefined) {
      const dir = join(makeFolder(), name);
      place = { dir, port: await findFreePort(), peerPort: await findFreePort() };
      places.set(name, place);
    }
    const { dir, port, peerPort } = place;
    const cluster = `log=${log}; node=${name}; address=127.0.0.1:${peerPort}; ${plainTls}; ${more}`;
    const own = ["--workers", "1", "--cluster", cluster, ...flags];
    const server = await startServer({ dataDir: dir, port, flags: own });
    return { name, server, dir };
  };
  const names = ["a", "b", "c", "d"].slice(0, count);
  const machines: TestMachine[] = await Promise.all(names.map((name) => start(name)));
  return { log, machines, start };
}

interface ClusterOptions {
  readonly settings?: string;
  readonly flags?: readonly string[];
  readonly log?: string;
}

export interface MachineStatus {
  readonly node: string;
  readonly role: string;
  readonly leader: string | null;
  readonly applied: number;
  readonly kept: number;
  readonly problem: string | null;
  readonly members: readonly { readonly node: string; readonly leads: boolean }[];
}

export async function statusOf({ server }: TestMachine): Promise<MachineStatus> {
  const query =
    "{ cluster { node role leader applied kept problem members { node address leads } } }";
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
