/** A GraphQL service over an engine in memory, for tests: one schema, requests as text, answers as JSON. */
import { systemClock } from "../../src/base/clock.ts";
import type { OpenEngine } from "../../src/engine/open.ts";
import { openEngine } from "../../src/engine/open.ts";
import { openGraphqlService } from "../../src/graphql/service/open-service.ts";
import type { Identify } from "../../src/graphql/service/sender.ts";
import type { GraphqlService } from "../../src/graphql/service/service.ts";
import type { VectorLimits } from "../../src/graph/vector-indexes.ts";
import { openMemoryStore } from "../../src/stores/open.ts";
import { deriveFill } from "../../src/write/fill.ts";
import { askEngine } from "./ask-engine.ts";

export interface GraphqlContext {
  readonly engine: OpenEngine;
  readonly service: GraphqlService;
  /** The answer without its extensions. */
  ask(query: string, variables?: unknown, operationName?: string): Promise<unknown>;
  /** The answer to a body as it is. */
  send(body: string, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  /** DQL over the same data. */
  dql(text: string): Promise<unknown>;
  close(): Promise<void>;
}

/** `identify`: who sends a request, where users log in. `vectors`: how vector indexes are kept, unless as usual. */
export async function openGraphqlContext(
  sdl?: string,
  identify?: Identify,
  vectors?: VectorLimits,
): Promise<GraphqlContext> {
  const store = openMemoryStore({ derive: deriveFill });
  const engine = await openEngine({ store, ...(vectors === undefined ? {} : { vectors }) });
  const service = openGraphqlService({ engine, clock: systemClock, extensions: false, identify });
  if (sdl !== undefined) await service.updateSchema(0, sdl);
  const send = async (
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> => {
    const answer = await service.handle({
      kind: "json",
      body,
      headers,
      remoteAddress: "127.0.0.1",
      timeoutMs: 0,
    });
    return JSON.parse(new TextDecoder().decode(answer.body));
  };
  return {
    engine,
    service,
    send,
    ask: (query, variables, operationName) =>
      send(JSON.stringify({ query, variables, operationName })),
    async dql(text) {
      return JSON.parse(await askEngine(engine, text)) as unknown;
    },
    close: () => engine.close(),
  };
}
