/** The keys of a server: made, listed, revoked, and judged when a request shows one. */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Clock } from "../base/clock.ts";
import type { SystemRows } from "../engine/system-rows.ts";
import { Fault } from "../model/fault.ts";
import {
  type AccessKey,
  decodeStoredKey,
  encodeStoredKey,
  hashKeyText,
  isTextOf,
  type KeyKind,
  type KeyScope,
  keyScopes,
  makeKeyText,
  readKeyId,
  scopesOfKind,
  type StoredKey,
} from "./access-key.ts";

export interface KeyWish {
  readonly name: string;
  readonly kind: KeyKind;
  /** Of a scoped key: at least one. */
  readonly scopes?: readonly KeyScope[];
  /** A key of any kind that is bound to a namespace becomes a scoped one. */
  readonly namespace?: number | undefined;
  /** Milliseconds since 1970; Infinity for never. */
  readonly expiryMs: number;
}

interface NewKey {
  readonly key: AccessKey;
  /** What its holder sends. It cannot be had again. */
  readonly text: string;
}

/** What a shown key is worth. `unknown`: made up, mistyped or revoked, which nobody can tell apart any more. */
export type Verdict = AccessKey | "expired" | "unknown";

export interface KeyRing {
  create(wish: KeyWish): Promise<NewKey>;
  /** By the time of their making. */
  list(): MaybePromise<readonly AccessKey[]>;
  /** Holds in every process when it resolves; undefined when there is no key of that id. */
  revoke(id: string): Promise<AccessKey | undefined>;
  judge(text: string): MaybePromise<Verdict>;
}

interface KeyRingOptions {
  readonly rows: SystemRows;
  readonly clock: Clock;
  /** Keys that stand nowhere: those by which this server's own processes call it, made anew at each start. */
  readonly unstored?: readonly { readonly text: string; readonly kind: KeyKind }[];
}

const rowPrefix = "key/";
const nameLengthMax = 100;
/** So many are listed in one answer; nobody has more. */
const keysMax = 1000;

export function openKeyRing(options: KeyRingOptions): KeyRing {
  const { rows, clock } = options;
  const unstored = new Map<string, StoredKey>();
  for (const { text, kind } of options.unstored ?? []) {
    const id = readKeyId(text) ?? "";
    const hash = hashKeyText(text);
    const scopes = scopesOfKind(kind);
    const rest = { scopes, namespace: undefined, createdMs: 0, expiryMs: Infinity, hash };
    unstored.set(id, { id, name: "server", kind, ...rest });
  }
  const weigh = (text: string, key: StoredKey | undefined): Verdict => {
    if (key === undefined || !isTextOf(text, key.hash)) return "unknown";
    return key.expiryMs <= clock.nowMs() ? "expired" : withoutHash(key);
  };
  return {
    async create(wish) {
      checkWish(wish, clock.nowMs());
      if ((await rows.list(rowPrefix)).size >= keysMax) {
        throw new Fault("E_KEYS_FULL", `there are ${keysMax} keys; revoke some first`);
      }
      const { name, namespace, expiryMs } = wish;
      const kind = namespace === undefined ? wish.kind : "scoped";
      const scopes = scopesOf(wish);
      for (;;) {
        const text = makeKeyText(kind);
        const id = readKeyId(text) ?? "";
        const createdMs = clock.nowMs();
        const key: AccessKey = { id, name, kind, scopes, namespace, createdMs, expiryMs };
        const bytes = encodeStoredKey({ ...key, hash: hashKeyText(text) });
        if (await rows.write(rowPrefix + id, bytes, undefined)) return { key, text };
      }
    },
    list: () =>
      andThen(rows.list(rowPrefix), (found) =>
        [...found.values()]
          .map((bytes) => withoutHash(decodeStoredKey(bytes)))
          .sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1)),
      ),
    async revoke(id) {
      if (!/^[a-z2-7]+$/.test(id)) return undefined;
      const bytes = await rows.read(rowPrefix + id);
      if (bytes === undefined) return undefined;
      await rows.write(rowPrefix + id, undefined, "any");
      return withoutHash(decodeStoredKey(bytes));
    },
    judge(text) {
      const id = readKeyId(text);
      if (id === undefined) return "unknown";
      const own = unstored.get(id);
      if (own !== undefined) return weigh(text, own);
      return andThen(rows.read(rowPrefix + id), (bytes) =>
        weigh(text, bytes === undefined ? undefined : decodeStoredKey(bytes)),
      );
    },
  };
}

function scopesOf({ kind, scopes = [] }: KeyWish): readonly KeyScope[] {
  return kind === "scoped" ? keyScopes.filter((one) => scopes.includes(one)) : scopesOfKind(kind);
}

function checkWish({ name, kind, scopes, namespace, expiryMs }: KeyWish, nowMs: number): void {
  if (name.trim() === "" || name.length > nameLengthMax || /\p{Cc}/u.test(name)) {
    const what = `a key needs a name of 1 to ${nameLengthMax} printable characters`;
    throw new Fault("E_KEY", what);
  }
  if (Number.isNaN(expiryMs) || expiryMs <= nowMs) {
    throw new Fault("E_KEY", "a key's expiry must lie in the future");
  }
  if ((kind === "scoped") !== (scopes !== undefined && scopes.length > 0)) {
    throw new Fault("E_KEY", "a key has a kind, admin or client, or scopes of its own");
  }
  if (namespace !== undefined && (!Number.isSafeInteger(namespace) || namespace < 0)) {
    throw new Fault("E_KEY", "a key's namespace is a whole number from 0 on");
  }
}

function withoutHash(stored: StoredKey): AccessKey {
  const { id, name, kind, scopes, namespace, createdMs, expiryMs } = stored;
  return { id, name, kind, scopes, namespace, createdMs, expiryMs };
}
