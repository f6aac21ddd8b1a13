import type { Engine } from "../../src/engine/engine.ts";

/** DQL to an engine, by itself and without a limit of time; the text of its `data`. */
export async function askEngine(engine: Pick<Engine, "query">, text: string): Promise<string> {
  const answer = await engine.query({
    namespace: 0,
    text,
    variables: new Map(),
    startTs: 0,
    readOnly: true,
    bestEffort: false,
    debug: false,
    format: "json",
    timeoutMs: 0,
  });
  return new TextDecoder().decode(answer.data);
}
