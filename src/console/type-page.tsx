/** The nodes of a type, a page at a time: their values, and how many edges each has. */
import type { ReactNode } from "react";
import { askQuery } from "./ask.ts";
import type { DqlSchema, StoredType } from "./dql-schema.ts";
import {
  findColumns,
  printTypeCounts,
  printTypePage,
  printStored,
  readCount,
  type NodeMembers,
  type TypeColumns,
} from "./graph-queries.ts";
import { PagerBar, usePager } from "./pager.tsx";
import { Empty, Loading, printCount, Refusal } from "./parts.tsx";
import { linkTo } from "./route.ts";
import { useAnswer } from "./use.ts";

export function TypePage({ name, schema }: { name: string; schema: DqlSchema }): ReactNode {
  const type = schema.types.find((one) => one.name === name);
  if (type === undefined) return <Empty>There is no type {name}.</Empty>;
  return <NodeTable type={type} schema={schema} />;
}

function NodeTable({ type, schema }: { type: StoredType; schema: DqlSchema }): ReactNode {
  const columns = findColumns(schema, type);
  const pager = usePager();
  const total = useAnswer(`total ${type.name}`, async (signal) =>
    readCount(await askQuery<Record<string, unknown>>(printTypeCounts([type]), signal), "t0"),
  );
  const page = useAnswer(`${type.name} ${pager.after}`, (signal) =>
    askQuery<{ q: readonly NodeMembers[] }>(printTypePage(type.name, columns, pager.after), signal),
  );
  if (page.refusal !== undefined) return <Refusal refusal={page.refusal} />;
  if (page.data === undefined) return <Loading what={type.name} />;
  const nodes = page.data.q;
  return (
    <>
      <h2>
        {type.name}{" "}
        <span className="count">{total.data === undefined ? "" : printCount(total.data)}</span>
      </h2>
      {nodes.length === 0 && <Empty>There is no node of this type.</Empty>}
      {nodes.length > 0 && <Lines label={type.name} columns={columns} nodes={nodes} />}
      <PagerBar
        pager={pager}
        count={nodes.length}
        total={total.data ?? 0}
        last={uidOf(nodes.at(-1))}
        what={type.name}
      />
    </>
  );
}

function Lines({
  label,
  columns: { values, edges },
  nodes,
}: {
  label: string;
  columns: TypeColumns;
  nodes: readonly NodeMembers[];
}): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={`Nodes of ${label}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">uid</th>
            {values.map(({ name }) => (
              <th key={name} scope="col" title={name}>
                {shorten(name, label)}
              </th>
            ))}
            {edges.map(({ name }) => (
              <th key={name} scope="col" className="number" title={name}>
                {shorten(name, label)} →
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr key={uidOf(node)}>
              <th scope="row">
                <a href={linkTo("data", "node", uidOf(node) ?? "")}>
                  <code>{uidOf(node)}</code>
                </a>
              </th>
              {values.map(({ name, type }, i) => (
                <td
                  key={name}
                  className={/^(?:int|float|bigfloat)$/.test(type) ? "number" : "cut"}
                  title={printStored(node[`v${i}`])}
                >
                  {printStored(node[`v${i}`])}
                </td>
              ))}
              {edges.map(({ name }, i) => (
                <td key={name} className="number">
                  {printEdgeCount(node[`c${i}`])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Predicates of a GraphQL type begin with its name, which stands above the table. */
function shorten(name: string, type: string): string {
  return name.startsWith(`${type}.`) ? name.slice(type.length + 1) : name;
}

function uidOf(node: NodeMembers | undefined): string | undefined {
  const uid = node?.["uid"];
  return typeof uid === "string" ? uid : undefined;
}

function printEdgeCount(count: unknown): string {
  return typeof count === "number" && count > 0 ? printCount(count) : "";
}
