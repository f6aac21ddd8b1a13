/** The two schemas of namespaces: of the predicates, as `alter` reads it, and the GraphQL one as its user gave it. */
import type { MaybePromise } from "../base/maybe.ts";
import { openReader } from "../graph/open-reader.ts";
import { isReservedName } from "../graph/reserved.ts";
import { SchemaCache } from "../graph/schema-rows.ts";
import type { Schema } from "../graph/schema.ts";
import { printSchemaText } from "../graph/schema-text.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot } from "../store/store.ts";

/** Of a namespace at a snapshot, with users and groups whether the server has them or not. Fault E_STARTUP for none. */
export async function readSchema(snapshot: Snapshot, namespace: number): Promise<Schema> {
  const known = await new SchemaCache({ acl: true }).read(snapshot, namespace);
  if (known === undefined) throw new Fault("E_STARTUP", `there is no namespace ${namespace}`);
  return known.schema;
}

/** What is reserved is there wherever it is loaded. */
export function printSchemas(schemas: readonly Schema[]): string {
  const texts = schemas.map((schema) => {
    const predicates = schema.predicates.map(({ definition }) => definition);
    const own = {
      predicates: predicates.filter(({ name }) => !isReservedName(name)),
      types: schema.types.filter(({ name }) => !isReservedName(name)),
    };
    return printSchemaText(own, `[0x${schema.namespace.toString(16)}] `);
  });
  return texts.join("");
}

/** `[{"namespace": 0, "schema": "…"}]`, of the namespaces that have one. */
export async function printGraphqlSchemas(
  snapshot: Snapshot,
  schemas: readonly Schema[],
): Promise<string> {
  const found: { readonly namespace: number; readonly schema: string }[] = [];
  for (const schema of schemas) {
    const text = await readGraphqlSchema(snapshot, schema);
    if (text !== undefined && text !== "") {
      found.push({ namespace: schema.namespace, schema: text });
    }
  }
  return `[${found.map((one) => JSON.stringify(one)).join(",\n")}]\n`;
}

async function readGraphqlSchema(snapshot: Snapshot, schema: Schema): Promise<string | undefined> {
  const predicate = schema.predicate("dgraph.graphql.schema");
  if (predicate === undefined) return undefined;
  const { ts } = snapshot;
  const shared = { ...snapshotOf(snapshot), close() {} };
  const reader = openReader({
    snapshot: shared,
    schema,
    cache: undefined,
    fillsCache: false,
    delta: undefined,
    ts,
  });
  const [uids] = await reader.readLists([{ kind: "presence", predicate: predicate.id }]);
  const uid = uids?.[0];
  if (uid === undefined) return undefined;
  const request = { kind: "cells", predicate: predicate.id } as const;
  const [column] = await reader.readLevel(Float64Array.of(uid), [request]);
  return column?.kind === "cells" ? column.cells[0]?.[0]?.text : undefined;
}

/** A reader closes its snapshot; this one is used on. */
function snapshotOf(snapshot: Snapshot): Omit<Snapshot, "close"> {
  return {
    ts: snapshot.ts,
    fence: snapshot.fence,
    slotsVersion: snapshot.slotsVersion,
    readMany: (keys, visit): MaybePromise<void> => snapshot.readMany(keys, visit),
    scan: (range, visit): MaybePromise<void> => snapshot.scan(range, visit),
  };
}
