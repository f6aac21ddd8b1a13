/** `weft key`: keys of a running server, through /admin, or of a store that no server serves. */
import { type ShownKey, showKey } from "../admin/key-fields.ts";
import { type KeyRing, type KeyWish, openKeyRing } from "../auth/key-ring.ts";
import { type KeyScope, keyScopes } from "../auth/access-key.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openSystemRows } from "../engine/system-rows.ts";
import { Fault } from "../model/fault.ts";
import { explainDirectory } from "../stores/claim.ts";
import { openWriter } from "../stores/open.ts";
import { checkStoreKey, type UserKey } from "../stores/encryption.ts";
import { deriveFill } from "../write/fill.ts";
import { claimForServing } from "./claim.ts";
import type { KeyCreateOptions, KeyOptions } from "./key-commands.ts";
import { openClient } from "./credentials.ts";
import { readEncryption } from "./encryption.ts";
import { parseLifetimeMs } from "./duration.ts";

/** What both ways can do. */
interface Keys {
  create(wish: KeyWish): Promise<{ key: ShownKey; secret: string }>;
  list(): Promise<readonly ShownKey[]>;
  revoke(id: string): Promise<void>;
}

/** The key goes to stdout alone, so that a script can keep it; what is said about it to stderr. */
export async function runKeyCreate(options: KeyCreateOptions): Promise<void> {
  const lifetimeMs =
    options.expires === undefined ? Infinity : parseLifetimeMs("--expires", options.expires);
  const { key, secret } = await withKeys(options, (keys) =>
    keys.create({
      name: options.name,
      ...readOpened(options),
      namespace: readNamespace(options.namespace),
      expiryMs: systemClock.nowMs() + lifetimeMs,
    }),
  );
  const end = key.expiresAt === null ? "does not expire" : `expires at ${key.expiresAt}`;
  process.stderr.write(
    `weft: ${key.kind.toLowerCase()} key ${key.id} "${key.name}" ${end}; it is shown this once\n`,
  );
  process.stdout.write(`${secret}\n`);
}

/** A kind, or scopes. */
function readOpened({ kind, scope }: KeyCreateOptions): Pick<KeyWish, "kind" | "scopes"> {
  if (scope === undefined) return { kind: kind ?? "client" };
  if (kind !== undefined) {
    throw new Fault("E_USAGE", "--kind and --scope: a key has one or the other");
  }
  const scopes = scope.split(",").map((word) => word.trim().toLowerCase());
  const unknown = scopes.find((word) => !keyScopes.some((known) => known === word));
  if (unknown === undefined) return { kind: "scoped", scopes: scopes as KeyScope[] };
  throw new Fault("E_USAGE", `--scope: one of ${keyScopes.join(", ")}, not "${unknown}"`);
}

function readNamespace(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Fault("E_USAGE", `--namespace: "${text}" is not the number of a namespace`);
}

export async function runKeyList(options: KeyOptions): Promise<void> {
  const keys = await withKeys(options, (all) => all.list());
  const rows = keys.map((key) => [
    key.id,
    key.kind.toLowerCase(),
    describeOpened(key),
    key.createdAt,
    (key.expiresAt ?? "never") + (key.isExpired ? " (expired)" : ""),
    key.name,
  ]);
  const table = [["ID", "KIND", "OPENS", "CREATED", "EXPIRES", "NAME"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  for (const row of table) {
    const cells = row.map((cell, i) => cell.padEnd(widths[i] ?? 0));
    process.stdout.write(`${cells.join("  ").trimEnd()}\n`);
  }
}

/** `graphql,query in 7`; the kinds of old say it by themselves. */
function describeOpened({ kind, scopes, namespace }: ShownKey): string {
  if (kind !== "SCOPED") return kind === "ADMIN" ? "everything" : "data";
  const where = namespace === null ? "" : ` in ${namespace}`;
  return scopes.join(",").toLowerCase() + where;
}

export async function runKeyRevoke(ids: readonly string[], options: KeyOptions): Promise<void> {
  await withKeys(options, async (keys) => {
    for (const id of ids) {
      await keys.revoke(id);
      process.stdout.write(`weft: key ${id} is revoked\n`);
    }
  });
}

async function withKeys<T>(options: KeyOptions, use: (keys: Keys) => Promise<T>): Promise<T> {
  if (options.data === undefined) return await use(reachServer(options));
  return await withStore(options.data, readEncryption(options.encryption), use);
}

const shownFields = "{ id name kind scopes namespace createdAt expiresAt isExpired }";

function reachServer(options: KeyOptions): Keys {
  const client = openClient(options);
  const ask = async <T>(query: string, variables: object = {}): Promise<T> => {
    const body = JSON.stringify({ query, variables });
    const { messages, json } = await client.post("/admin", "application/json", body);
    const [message] = messages;
    if (message !== undefined) throw new Fault("E_STARTUP", message);
    return (json as { data: T }).data;
  };
  return {
    async create({ name, kind, scopes, namespace, expiryMs }) {
      const input = {
        name,
        kind: kind.toUpperCase(),
        scopes: scopes?.map((scope) => scope.toUpperCase()) ?? null,
        namespace: namespace ?? null,
        expiresAt: Number.isFinite(expiryMs) ? new Date(expiryMs).toISOString() : null,
      };
      const query = `mutation($input: CreateKeyInput!) { createKey(input: $input) { key ${shownFields} secret } }`;
      const data = await ask<{ createKey: { key: ShownKey; secret: string } }>(query, { input });
      return data.createKey;
    },
    async list() {
      return (await ask<{ listKeys: ShownKey[] }>(`{ listKeys ${shownFields} }`)).listKeys;
    },
    async revoke(id) {
      await ask(`mutation($id: ID!) { revokeKey(input: { id: $id }) { key { id } } }`, { id });
    },
  };
}

/** Claims the directory as a server would, so that none can start meanwhile; makes the store when it is missing. */
async function withStore<T>(
  dir: string,
  encryption: UserKey | undefined,
  use: (keys: Keys) => Promise<T>,
): Promise<T> {
  checkStoreKey(dir, encryption);
  const claim = await claimForServing(dir).catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    throw new Fault("E_STARTUP", `${error.message}; reach a running one with --to URL`);
  });
  try {
    const writer = await openWriter({
      dir,
      encryption,
      clock: systemClock,
      logger: silentLogger,
      derive: deriveFill,
      isLinked: false,
    });
    try {
      const rows = await openSystemRows(writer.store);
      return await use(wrapRing(openKeyRing({ rows, clock: systemClock })));
    } finally {
      await writer.close();
    }
  } catch (error) {
    throw explainDirectory(dir, error) ?? error;
  } finally {
    await claim.release();
  }
}

function wrapRing(ring: KeyRing): Keys {
  return {
    async create(wish) {
      const { key, text } = await ring.create(wish);
      return { key: showKey(key, systemClock.nowMs()), secret: text };
    },
    list: async () => (await ring.list()).map((key) => showKey(key, systemClock.nowMs())),
    async revoke(id) {
      if ((await ring.revoke(id)) === undefined) {
        throw new Fault("E_STARTUP", `there is no key ${id}`);
      }
    },
  };
}
