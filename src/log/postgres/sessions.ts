/**
 * Connections to PostgreSQL, each checked before its first use and every ten seconds: a server that acknowledges before it
 * is safe is refused, also where it takes over later, or is told otherwise (reference/log 6.2).
 */
import { Client, type ClientBase, type QueryResult } from "pg";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../model/fault.ts";
import { LogUnavailable } from "../replicated-log.ts";

export interface SessionOptions {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE */
  readonly url: string;
  /** Whether a server without a synchronous standby will do: what it acknowledged may be lost with its machine. */
  readonly isSingle: boolean;
  readonly clock: Clock;
}

/** What came of a statement that was answered. */
export interface SqlAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
  /** Committed here, and perhaps nowhere else: the wait for the standby was ended (notice 01000). */
  readonly isLocal: boolean;
}

const connectMs = 5000;
/** Longer than any statement takes that will still be answered; it goes on there, and may come to pass. */
const answerMs = 10_000;
const idleMax = 4;
/** A session whose machine is gone is ended by the server after some 25 s: it counts against `max_connections`. */
const keepalives =
  "set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)";
/** So long a look at the server's settings is relied on. */
const checkedMs = 10_000;

interface Session {
  readonly client: Client;
  checkedAtMs: number;
}

export class PostgresSessions {
  readonly #options: SessionOptions;
  #idle: Session[] = [];
  readonly #all = new Set<Client>();
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** One statement by itself. Rejects with what `pg` says; the connection is then not used again. */
  async run(text: string, values: readonly unknown[] = []): Promise<SqlAnswer> {
    const session = this.#idle.pop() ?? (await this.#connect());
    const { client } = session;
    try {
      await this.#check(session);
      const answer = await ask(client, text, values);
      if (this.#isClosed || this.#idle.length >= idleMax) this.#drop(client);
      else this.#idle.push(session);
      return answer;
    } catch (error) {
      this.#drop(client);
      throw error;
    }
  }

  async #check(session: Session): Promise<void> {
    const { clock, isSingle } = this.#options;
    const nowMs = clock.tickMs();
    if (nowMs - session.checkedAtMs < checkedMs) return;
    await checkServer(session.client, isSingle);
    session.checkedAtMs = nowMs;
  }

  async #connect(): Promise<Session> {
    if (this.#isClosed) throw new LogUnavailable("the log is closed");
    const client = new Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      application_name: "weft",
    });
    this.#all.add(client);
    // A connection that breaks while nobody uses it.
    client.on("error", () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    return { client, checkedAtMs: -Infinity };
  }

  #drop(client: Client): void {
    this.#idle = this.#idle.filter((other) => other.client !== client);
    if (!this.#all.delete(client)) return;
    client.end().catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const idle = this.#idle.map(({ client }) => client);
    this.#idle = [];
    for (const client of idle) this.#all.delete(client);
    await Promise.allSettled(idle.map((client) => client.end()));
  }
}

async function ask(
  client: ClientBase,
  text: string,
  values: readonly unknown[],
): Promise<SqlAnswer> {
  let isLocal = false;
  const note = ({ code }: { code?: string | undefined }): void => {
    if (code === "01000") isLocal = true;
  };
  client.on("notice", note);
  try {
    const result: QueryResult<Record<string, unknown>> = await client.query(text, [...values]);
    return { rows: result.rows, count: result.rowCount ?? 0, isLocal };
  } finally {
    client.off("notice", note);
  }
}

/** Fault E_STARTUP, one line: which promise is missing, and how it is made. */
async function checkServer(client: ClientBase, isSingle: boolean): Promise<void> {
  const { rows } = await ask(client, "SELECT version() AS version", []);
  // Others that speak the protocol commit by their own consensus.
  if (!String(rows[0]?.["version"]).startsWith("PostgreSQL")) return;
  const setting = async (name: string): Promise<string> => {
    const found = await ask(client, `SELECT current_setting('${name}') AS value`, []);
    return String(found.rows[0]?.["value"]);
  };
  const commit = await setting("synchronous_commit");
  if (commit !== "on" && commit !== "remote_apply") {
    throw refuse(`synchronous_commit is "${commit}"; it has to be "on" or "remote_apply"`);
  }
  // From here on whatever the server is told meanwhile.
  await ask(client, `SET synchronous_commit TO '${commit}'`, []);
  await ask(client, `SELECT ${keepalives}`, []);
  if ((await setting("fsync")) !== "on") throw refuse('fsync is "off"');
  if (isSingle || (await isReplicatedBelow(client))) return;
  if ((await setting("synchronous_standby_names")) !== "") return;
  throw refuse(
    "it has no synchronous standby (synchronous_standby_names is empty), so that what it acknowledged is lost with its machine; unsafe-single=true takes it nevertheless",
  );
}

/** Aurora's storage keeps each write several times, without standbys. */
async function isReplicatedBelow(client: ClientBase): Promise<boolean> {
  const found = await ask(client, "SELECT 1 FROM pg_proc WHERE proname = 'aurora_version'", []);
  return found.count > 0;
}

function refuse(why: string): Fault {
  return new Fault("E_STARTUP", `the log's PostgreSQL acknowledges before it is safe: ${why}`);
}
