/** The data browser: types with their nodes, nodes with their values, edges in both directions to the next node. */
import { type FormEvent, type ReactNode, useState } from "react";
import { askQuery } from "./ask.ts";
import {
  isReserved,
  readDqlSchema,
  schemaQuery,
  type DqlSchema,
  type SchemaData,
  type StoredType,
} from "./dql-schema.ts";
import { groupTypes, parseTypedUid, printTypeCounts, readCount } from "./graph-queries.ts";
import { NodePage } from "./node-page.tsx";
import { Empty, Loading, printCount, Refusal, ViewHead } from "./parts.tsx";
import { linkTo } from "./route.ts";
import type { ViewProps } from "./shell.tsx";
import { TypePage } from "./type-page.tsx";
import { useAnswer } from "./use.ts";

export function DataView({ rest: [kind, name] }: ViewProps): ReactNode {
  const schema = useAnswer("data-schema", async (signal) =>
    readDqlSchema(await askQuery<SchemaData>(schemaQuery, signal)),
  );
  if (schema.refusal !== undefined)
    return (
      <Framed>
        <Refusal refusal={schema.refusal} />
      </Framed>
    );
  if (schema.data === undefined)
    return (
      <Framed>
        <Loading what="the schema" />
      </Framed>
    );
  return (
    <Framed>
      <div className="columns">
        <TypeList schema={schema.data} shown={kind === "type" ? name : undefined} />
        <div className="pane">
          <Page kind={kind} name={name} schema={schema.data} />
        </div>
      </div>
    </Framed>
  );
}

function Framed({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="view">
      <ViewHead title="Data">
        <UidField />
      </ViewHead>
      {children}
    </div>
  );
}

function Page({
  kind,
  name,
  schema,
}: {
  kind: string | undefined;
  name: string | undefined;
  schema: DqlSchema;
}): ReactNode {
  if (kind === "type" && name !== undefined)
    return <TypePage key={name} name={name} schema={schema} />;
  const uid = kind === "node" ? parseTypedUid(name ?? "") : undefined;
  if (uid !== undefined) return <NodePage key={uid} uid={uid} schema={schema} />;
  if (kind === "node") return <Empty>“{name}” is no uid.</Empty>;
  return <Empty>Choose a type, or name a node by its uid.</Empty>;
}

function UidField(): ReactNode {
  const [text, setText] = useState("");
  const uid = parseTypedUid(text);
  const isWrong = text.trim() !== "" && uid === undefined;
  const go = (event: FormEvent): void => {
    event.preventDefault();
    if (uid !== undefined) location.hash = linkTo("data", "node", uid);
  };
  return (
    <form className="uid-form" onSubmit={go}>
      <input
        aria-label="uid of a node"
        aria-invalid={isWrong}
        placeholder="0x1f"
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={uid === undefined}>
        Show node
      </button>
    </form>
  );
}

function TypeList({ schema, shown }: { schema: DqlSchema; shown: string | undefined }): ReactNode {
  const types = schema.types.filter(({ name }) => !isReserved(name));
  const counts = useAnswer(`counts ${types.length}`, (signal) => loadCounts(types, signal));
  if (types.length === 0) {
    return (
      <nav className="types" aria-label="Types">
        <Empty>
          There are no types. A GraphQL schema makes them, or <a href={linkTo("dql")}>Alter</a>.
        </Empty>
      </nav>
    );
  }
  return (
    <nav className="types" aria-label="Types">
      <ul>
        {types.map(({ name }, i) => (
          <li key={name}>
            <a
              href={linkTo("data", "type", name)}
              aria-current={name === shown ? "page" : undefined}
            >
              <span>{name}</span>
              <span className="count">{printTypeCount(counts.data, i)}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** In the order of the types; of the first ones alone where there are very many. */
async function loadCounts(types: readonly StoredType[], signal: AbortSignal): Promise<number[]> {
  const counts: number[] = [];
  for (const group of groupTypes(types)) {
    const data = await askQuery<Record<string, unknown>>(printTypeCounts(group), signal);
    counts.push(...group.map((_, i) => readCount(data, `t${i}`)));
  }
  return counts;
}

function printTypeCount(counts: readonly number[] | undefined, at: number): string {
  const count = counts?.[at];
  return count === undefined ? "" : printCount(count);
}
