// A client, for Node, browsers and edge runtimes: `data` is typed by the text of the query.
import { connect } from "weft-graph/client";
import type { Schema } from "./weft/schema.js";

export async function listTasks(url: string, words: string): Promise<readonly string[]> {
  const db = connect<Schema>({ url });
  const { queryTask } = await db.request(
    `query ($words: String!) {
      queryTask(filter: { title: { anyofterms: $words } }, order: { asc: title }) { label owner { name } }
    }`,
    { words },
  );
  return queryTask.map(({ label, owner }) => `${label ?? "?"} (${owner?.name ?? "nobody"})`);
}
