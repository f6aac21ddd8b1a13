/** What editors of DQL complete: the words of the language, and the predicates and types of this server. */
import { askQuery, send } from "./ask.ts";
import type { Completion } from "./editor.tsx";
import { readDqlSchema, schemaQuery, type SchemaData } from "./dql-schema.ts";

interface Keyword {
  readonly name: string;
  readonly type?: string;
}

/** Words of the server that cannot be had are left out: an editor works without. */
export async function loadWords(signal: AbortSignal): Promise<readonly Completion[]> {
  const keywords = await send("ui/keywords", { method: "GET", signal });
  const { keywords: list = [] } = (keywords.json ?? {}) as { keywords?: readonly Keyword[] };
  const words = list.map(({ name, type }): Completion => ({
    text: name,
    kind: type === undefined || type === "" ? kindOf(name) : type,
  }));
  try {
    const { predicates, types } = readDqlSchema(await askQuery<SchemaData>(schemaQuery, signal));
    return [
      ...predicates.map(({ name, type }): Completion => ({ text: name, kind: type })),
      ...types.map(({ name }): Completion => ({ text: name, kind: "type" })),
      ...words,
    ];
  } catch {
    return words;
  }
}

function kindOf(name: string): string {
  return name.startsWith("@") ? "directive" : "keyword";
}
