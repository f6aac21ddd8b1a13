/** Whether the server is well, what it is, and what it does in the background. */
import type { ReactNode } from "react";
import { askQuery, findRefusal, send } from "./ask.ts";
import { isReserved, readDqlSchema, schemaQuery, type SchemaData } from "./dql-schema.ts";
import { Loading, printCount, Refusal, ViewHead } from "./parts.tsx";
import { RefusedByServer } from "./refused.ts";
import { useAnswer, useEvery } from "./use.ts";

interface Health {
  readonly status: string;
  readonly address: string;
  readonly version: string;
  readonly uptime: number;
  readonly ongoing?: readonly string[];
  readonly indexing?: readonly string[];
  readonly max_assigned?: number;
}

interface State {
  readonly maxUID?: string;
  readonly maxTxnTs?: string;
  readonly maxNsID?: string;
}

const everyMs = 5000;

export function HealthView(): ReactNode {
  const health = useAnswer("health", loadHealth);
  const state = useAnswer("state", loadState);
  const schema = useAnswer("health-schema", async (signal) =>
    readDqlSchema(await askQuery<SchemaData>(schemaQuery, signal)),
  );
  useEvery(everyMs, () => {
    health.reload();
    state.reload();
  });
  return (
    <div className="view">
      <ViewHead title="Health" />
      {health.refusal !== undefined && <Refusal refusal={health.refusal} />}
      {health.data === undefined && health.refusal === undefined && (
        <Loading what="the server's health" />
      )}
      {health.data?.map((one) => (
        <Server key={one.address} health={one} />
      ))}
      {state.data !== undefined && <Numbers state={state.data} names={countNames(schema.data)} />}
      {state.refusal !== undefined && <Refusal refusal={state.refusal} />}
    </div>
  );
}

/** A server that is draining, or opens its store, says so in plain words. */
async function loadHealth(signal: AbortSignal): Promise<readonly Health[]> {
  const answer = await send("health", { method: "GET", signal });
  if (answer.status !== 200) throw new RefusedByServer(answer.text, false);
  return answer.json as readonly Health[];
}

async function loadState(signal: AbortSignal): Promise<State> {
  const answer = await send("state", { method: "GET", signal });
  const refusal = findRefusal(answer);
  if (refusal !== undefined) throw refusal;
  return answer.json as State;
}

function Server({ health }: { health: Health }): ReactNode {
  const { status, address, version, uptime, ongoing = [], indexing = [] } = health;
  return (
    <section className="card" aria-label="Server">
      <h2>
        <i className={status === "healthy" ? "lamp is-good" : "lamp is-bad"} aria-hidden="true" />{" "}
        {status}
      </h2>
      <dl>
        <Figure name="Address">{address}</Figure>
        <Figure name="Version">{version}</Figure>
        <Figure name="Up for">{printUptime(uptime)}</Figure>
        <Figure name="At work">
          {ongoing.length === 0 ? "nothing in the background" : ongoing.join(", ")}
        </Figure>
        {indexing.length > 0 && <Figure name="Indexing">{indexing.join(", ")}</Figure>}
      </dl>
    </section>
  );
}

function Numbers({ state, names }: { state: State; names: Names | undefined }): ReactNode {
  return (
    <section className="card" aria-label="The store">
      <h2>Store</h2>
      <dl>
        {names !== undefined && <Figure name="Types">{printCount(names.types)}</Figure>}
        {names !== undefined && <Figure name="Predicates">{printCount(names.predicates)}</Figure>}
        <Figure name="Highest uid">{state.maxUID ?? "–"}</Figure>
        <Figure name="Newest transaction">{state.maxTxnTs ?? "–"}</Figure>
        <Figure name="Highest namespace">{state.maxNsID ?? "0"}</Figure>
      </dl>
    </section>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface Names {
  readonly types: number;
  readonly predicates: number;
}

function countNames(schema: ReturnType<typeof readDqlSchema> | undefined): Names | undefined {
  if (schema === undefined) return undefined;
  const count = (list: readonly { readonly name: string }[]): number =>
    list.filter(({ name }) => !isReserved(name)).length;
  return { types: count(schema.types), predicates: count(schema.predicates) };
}

function printUptime(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return first < 0
    ? "0 s"
    : parts
        .slice(first, first + 2)
        .map(([count, unit]) => `${count} ${unit}`)
        .join(" ");
}
