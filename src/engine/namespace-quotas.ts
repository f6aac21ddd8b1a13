/**
 * What each namespace may hold and ask for. Quotas and what was counted are rows of the server's own; each process keeps
 * them in a table, which it reads anew within a tenth of a second of a change. A namespace without a quota costs its
 * requests one look into an empty table.
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import type { Store } from "../store/store.ts";
import type { Edit } from "../write/edit.ts";
import type { SystemRows } from "./system-rows.ts";

/** undefined: no bound. */
export interface NamespaceQuota {
  readonly facts?: number | undefined;
  /** Of its rows: keys and values, indexes included. */
  readonly bytes?: number | undefined;
  /** A second, of the whole server. */
  readonly requests?: number | undefined;
}

/** What a namespace held when it was counted last. */
export interface NamespaceUsage {
  readonly facts: number;
  readonly bytes: number;
  /** Since 1970. */
  readonly countedMs: number;
}

export interface KnownNamespace {
  readonly quota: NamespaceQuota;
  /** undefined: not counted yet. */
  readonly usage: NamespaceUsage | undefined;
}

/** null takes a quota away, undefined leaves it as it is. */
export type QuotaChange = { readonly [K in keyof NamespaceQuota]: number | null | undefined };

const quotaPrefix = "quota/";
const usagePrefix = "usage/";
/** Rewritten with each change of the others. */
const markName = "quotas";

/** After a commit the table is looked at within so many milliseconds. */
const lookMs = 100;

export const quotaNames = ["facts", "bytes", "requests"] as const;

export class NamespaceQuotas {
  readonly #rows: SystemRows;
  readonly #stopListening: () => void;
  #table: ReadonlyMap<number, KnownNamespace> = new Map();
  #mark: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  private constructor(rows: SystemRows, store: Store) {
    this.#rows = rows;
    this.#stopListening = store.onCommit(() => this.#lookSoon());
  }

  static async open(rows: SystemRows, store: Store): Promise<NamespaceQuotas> {
    const quotas = new NamespaceQuotas(rows, store);
    await quotas.refresh();
    return quotas;
  }

  /** Namespaces that have a quota or were counted. */
  get table(): ReadonlyMap<number, KnownNamespace> {
    return this.#table;
  }

  /** Throws E_QUOTA where what is set has no room. Deletions are never refused. `before`: of the same transaction. */
  checkWrite(namespace: number, edits: readonly Edit[], before?: readonly Edit[]): void {
    if (this.#table.size === 0) return;
    const known = this.#table.get(namespace);
    if (known?.usage === undefined) return;
    const { quota, usage } = known;
    if (quota.facts === undefined && quota.bytes === undefined) return;
    let added = countSets(edits);
    if (added === 0) return;
    if (before !== undefined) added += countSets(before);
    if (quota.facts !== undefined && usage.facts + added > quota.facts) {
      const held = `it holds ${usage.facts}, and this request sets ${added}`;
      throw quotaFault(namespace, "facts", quota.facts, held);
    }
    if (quota.bytes !== undefined && usage.bytes >= quota.bytes) {
      throw quotaFault(namespace, "bytes", quota.bytes, `it holds ${usage.bytes}`);
    }
  }

  /** Durable, and in this process's table, when it resolves. */
  async change(namespace: number, change: QuotaChange): Promise<NamespaceQuota> {
    const name = quotaPrefix + namespace;
    for (;;) {
      const stored = await this.#rows.read(name);
      const quota = applyChange(
        stored === undefined ? {} : (decode(stored) as NamespaceQuota),
        change,
      );
      const isEmpty = quotaNames.every((one) => quota[one] === undefined);
      const row = isEmpty ? undefined : encodeUtf8(JSON.stringify(quota));
      if (!(await this.#rows.write(name, row, stored))) continue;
      if (quota.facts === undefined && quota.bytes === undefined) {
        await this.#rows.write(usagePrefix + namespace, undefined, "any");
      }
      await this.#tellAll();
      return quota;
    }
  }

  async noteUsage(namespace: number, usage: NamespaceUsage): Promise<void> {
    await this.#rows.write(usagePrefix + namespace, encodeUtf8(JSON.stringify(usage)), "any");
    await this.#tellAll();
  }

  /** The namespace is gone. */
  async forget(namespace: number): Promise<void> {
    if (!this.#table.has(namespace)) return;
    await this.#rows.write(quotaPrefix + namespace, undefined, "any");
    await this.#rows.write(usagePrefix + namespace, undefined, "any");
    await this.#tellAll();
  }

  /** Reads what other processes have changed. */
  async refresh(): Promise<void> {
    const row = await this.#rows.read(markName);
    const mark = row === undefined ? "" : decodeUtf8(row);
    if (mark === this.#mark) return;
    const quotas = await this.#rows.list(quotaPrefix);
    const usages = await this.#rows.list(usagePrefix);
    const table = new Map<number, KnownNamespace>();
    for (const [name, bytes] of quotas) {
      const namespace = Number(name.slice(quotaPrefix.length));
      const counted = usages.get(usagePrefix + namespace);
      const usage = counted === undefined ? undefined : (decode(counted) as NamespaceUsage);
      table.set(namespace, { quota: decode(bytes) as NamespaceQuota, usage });
    }
    this.#table = table;
    this.#mark = mark;
  }

  close(): void {
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  async #tellAll(): Promise<void> {
    for (;;) {
      const row = await this.#rows.read(markName);
      const count = row === undefined ? 0 : Number(decodeUtf8(row));
      if (await this.#rows.write(markName, encodeUtf8(String(count + 1)), row)) break;
    }
    await this.refresh();
  }

  #lookSoon(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // What cannot be read now is read after the next commit.
      this.refresh().catch(() => {});
    }, lookMs);
    this.#timer.unref();
  }
}

function countSets(edits: readonly Edit[]): number {
  let count = 0;
  for (const { kind } of edits) if (kind === "setValue" || kind === "setEdge") count++;
  return count;
}

/** `held`: what stands against it. */
export function quotaFault(
  namespace: number,
  name: (typeof quotaNames)[number],
  bound: number,
  held: string,
): Fault {
  const message = `namespace ${namespace} has a quota of ${bound} ${name}: ${held} (setNamespaceQuota ${name})`;
  return new Fault("E_QUOTA", message);
}

function applyChange(quota: NamespaceQuota, change: QuotaChange): NamespaceQuota {
  const next: { -readonly [K in keyof NamespaceQuota]: NamespaceQuota[K] } = { ...quota };
  for (const name of quotaNames) {
    const value = change[name];
    if (value === null) delete next[name];
    else if (value !== undefined) next[name] = value;
  }
  return next;
}

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(decodeUtf8(bytes));
}
