import { queryDefaults, type Engine } from "../../src/engine/engine.ts";

/** DQL to an engine, by itself and without a limit of time; the text of its `data`. */
export async function askEngine(engine: Pick<Engine, "query">, text: string): Promise<string> {
  const answer = await engine.query({ ...queryDefaults, namespace: 0, text });
  return new TextDecoder().decode(answer.data);
}
