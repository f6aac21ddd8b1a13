/** The fields about keys. They are this server's own: the reference has none. */
import type { AccessKey, KeyKind, KeyScope } from "../auth/access-key.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import { Fault } from "../model/fault.ts";
import type { FieldTable } from "./field.ts";

interface CreateKeyInput {
  readonly name: string;
  readonly kind?: "ADMIN" | "CLIENT" | "SCOPED" | null;
  readonly scopes?: readonly string[] | null;
  /** A number, or its digits: the scalar takes both. */
  readonly namespace?: number | string | null;
  readonly expiresAt?: string | null;
}

/** The type AccessKey of the schema. */
export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly scopes: readonly string[];
  readonly namespace: number | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly isExpired: boolean;
}

export function showKey(key: AccessKey, nowMs: number): ShownKey {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind.toUpperCase(),
    scopes: key.scopes.map((scope) => scope.toUpperCase()),
    namespace: key.namespace ?? null,
    createdAt: new Date(key.createdMs).toISOString(),
    expiresAt: Number.isFinite(key.expiryMs) ? new Date(key.expiryMs).toISOString() : null,
    isExpired: key.expiryMs <= nowMs,
  };
}

export function makeKeyFields(keys: KeyRing, nowMs: () => number): FieldTable {
  const show = (key: AccessKey): ShownKey => showKey(key, nowMs());
  return {
    "Query.listKeys": async () => (await keys.list()).map(show),
    "Mutation.createKey": async ({ input }: { input: CreateKeyInput }) => {
      const { key, text } = await keys.create({
        name: input.name,
        ...readScopes(input),
        namespace: readNamespace(input.namespace),
        expiryMs: readExpiry(input.expiresAt),
      });
      return { key: show(key), secret: text };
    },
    "Mutation.revokeKey": async ({ input }: { input: { id: string } }) => {
      const key = await keys.revoke(input.id);
      if (key === undefined) throw new Fault("E_KEY_UNKNOWN", `there is no key ${input.id}`);
      return { key: show(key) };
    },
  };
}

/** A kind, or scopes; with neither nobody knows what the key is for. */
function readScopes({ kind, scopes }: CreateKeyInput): {
  readonly kind: KeyKind;
  readonly scopes?: readonly KeyScope[];
} {
  const word = kind?.toLowerCase() as KeyKind | undefined;
  const given = (scopes ?? []).map((scope) => scope.toLowerCase() as KeyScope);
  return given.length === 0
    ? { kind: word ?? "scoped" }
    : { kind: word ?? "scoped", scopes: given };
}

function readNamespace(given: number | string | null | undefined): number | undefined {
  return given === undefined || given === null ? undefined : Number(given);
}

const datePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Milliseconds since 1970; Infinity for none. */
function readExpiry(text: string | null | undefined): number {
  if (text === null || text === undefined) return Infinity;
  const ms = datePattern.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new Fault("E_KEY", `expiresAt: "${text}" is not of the form 2030-01-31T12:00:00Z`);
}
