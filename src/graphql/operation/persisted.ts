/** Persisted queries: a request may name its text by a hash (reference/graphql 4.3). */
import type { Engine } from "../../engine/engine.ts";
import type { Reader } from "../../graph/reader.ts";
import { sha256Tokens } from "../../tokens/text-tokens.ts";
import { refuseRequest } from "./errors.ts";
import type { RequestFields } from "./body.ts";
import { isJsonObject, type JsonValue } from "./json.ts";

const predicateName = "dgraph.graphql.p_query";
const typeName = "dgraph.graphql.persisted_query";
/** A stored value is the hash and then the text. */
const hashLength = 64;

/** The request with its text, which may be stored here for the first time. Throws RequestRefused. */
export async function resolvePersisted(
  fields: RequestFields,
  namespace: number,
  reader: Reader,
  engine: Engine,
): Promise<RequestFields> {
  const hash = hashOf(fields);
  if (hash === "") return fields;
  const stored = await findStored(reader, hash);
  if (stored.length > 1) throw refuseRequest(`same sha returned ${stored.length} queries`);
  const [text] = stored;
  if (fields.query === "") {
    if (text === undefined) throw refuseRequest("PersistedQueryNotFound");
    return { ...fields, query: text };
  }
  if ((await sha256(fields.query)) !== hash)
    throw refuseRequest("provided sha does not match query");
  if (text === undefined) await store(engine, namespace, hash + fields.query);
  else if (text !== fields.query) throw refuseRequest("query does not match persisted query");
  return fields;
}

function hashOf(fields: RequestFields): string {
  const hash = memberOf(memberOf(fields.extensions, "persistedQuery"), "sha256Hash");
  return typeof hash === "string" ? hash : "";
}

/** In any case of letters, as the reference reads JSON: clients in Go print the names of their types. */
function memberOf(given: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isJsonObject(given)) return undefined;
  if (Object.hasOwn(given, name)) return given[name];
  const folded = name.toLowerCase();
  const found = Object.keys(given).find((key) => key.toLowerCase() === folded);
  return found === undefined ? undefined : given[found];
}

async function findStored(reader: Reader, hash: string): Promise<string[]> {
  const predicate = reader.schema.predicate(predicateName);
  const index = predicate?.indexes.find((candidate) => candidate.tokenizer === "sha256");
  const [token] = sha256Tokens(hash);
  if (predicate === undefined || index?.state !== "ready" || token === undefined) return [];
  const [uids] = await reader.readLists([{ kind: "token", index: index.id, token }]);
  if (uids.length === 0) return [];
  const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate: predicate.id }]);
  const cells = column.cells.flatMap((each) => each ?? []);
  return cells
    .filter((cell) => cell.text.startsWith(hash))
    .map((cell) => cell.text.slice(hashLength));
}

async function store(engine: Engine, namespace: number, text: string): Promise<void> {
  await engine.transact(namespace, (txn) =>
    txn.apply({
      set: [fact("dgraph.type", typeName), fact(predicateName, text)],
      delete: [],
    }),
  );
}

function fact(predicate: string, text: string) {
  return {
    subject: { kind: "blank" as const, label: "query" },
    predicate,
    language: "",
    object: { kind: "value" as const, value: { kind: "string" as const, text } },
    facets: undefined,
  };
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)),
  );
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
