/** One node: its types, its values, and its edges with the nodes at their other ends. */
import { type ReactNode, useState } from "react";
import { askQuery } from "./ask.ts";
import type { DqlSchema } from "./dql-schema.ts";
import {
  type EdgeName,
  findEdges,
  findPredicates,
  type NodeLine,
  printEdges,
  printNode,
  printTypesOf,
  printStored,
  readFacets,
  readLine,
  type NodeMembers,
} from "./graph-queries.ts";
import { PagerBar, usePager } from "./pager.tsx";
import { Empty, Loading, printCount, Refusal } from "./parts.tsx";
import { linkTo } from "./route.ts";
import { useAnswer } from "./use.ts";

interface NodeFacts {
  readonly line: NodeLine;
  readonly values: readonly (readonly [name: string, value: unknown])[];
  readonly edges: readonly (EdgeName & { readonly count: number })[];
}

export function NodePage({ uid, schema }: { uid: string; schema: DqlSchema }): ReactNode {
  const { data, refusal } = useAnswer(`node ${uid}`, (signal) => loadNode(uid, schema, signal));
  if (refusal !== undefined) return <Refusal refusal={refusal} />;
  if (data === undefined) return <Loading what={uid} />;
  const { line, values, edges } = data;
  return (
    <article>
      <h2>
        {line.label === "" ? (
          <code>{uid}</code>
        ) : (
          <>
            {line.label} <code className="quiet">{uid}</code>
          </>
        )}{" "}
        {line.types.map((type) => (
          <a key={type} className="badge" href={linkTo("data", "type", type)}>
            {type}
          </a>
        ))}
      </h2>
      {values.length === 0 && edges.length === 0 && <Empty>Nothing is said of this node.</Empty>}
      {values.length > 0 && (
        <table className="facts">
          <tbody>
            {values.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{printStored(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {edges.map((edge) => (
        <EdgeList
          key={`${edge.isBackwards ? "~" : ""}${edge.predicate}`}
          uid={uid}
          edge={edge}
          schema={schema}
        />
      ))}
    </article>
  );
}

async function loadNode(uid: string, schema: DqlSchema, signal: AbortSignal): Promise<NodeFacts> {
  const first = await askQuery<{ q: readonly NodeMembers[] }>(printTypesOf(uid), signal);
  const typed = first.q[0] ?? {};
  const predicates = findPredicates(schema, readLine(typed).types);
  if (predicates.length === 0) return { line: { ...readLine(typed), uid }, values: [], edges: [] };
  const data = await askQuery<{ values: readonly NodeMembers[]; counts: readonly NodeMembers[] }>(
    printNode(uid, predicates),
    signal,
  );
  const values = data.values[0] ?? {};
  const counts = data.counts[0] ?? {};
  const edges = findEdges(predicates).map((edge, i) => {
    const count = counts[`c${i}`];
    return { ...edge, count: typeof count === "number" ? count : 0 };
  });
  return {
    line: readLine({ ...values, ...typed, uid }),
    values: Object.entries(values),
    edges: edges.filter(({ count }) => count > 0),
  };
}

interface EdgesOfNode {
  readonly uid: string;
  readonly edge: NodeFacts["edges"][number];
  readonly schema: DqlSchema;
}

/** Lists that are long are folded until somebody asks. */
const openMax = 20;

function EdgeList({ uid, edge, schema }: EdgesOfNode): ReactNode {
  const [isOpen, setOpen] = useState(edge.count <= openMax);
  return (
    <details
      className="edges"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span aria-hidden="true">{edge.isBackwards ? "←" : "→"}</span>{" "}
        <code>{edge.isBackwards ? `~${edge.predicate}` : edge.predicate}</code>{" "}
        <span className="count">{printCount(edge.count)}</span>
      </summary>
      {isOpen && <EdgeLines uid={uid} edge={edge} schema={schema} />}
    </details>
  );
}

function EdgeLines({ uid, edge, schema }: EdgesOfNode): ReactNode {
  const pager = usePager();
  const name = `edges ${uid} ${edge.isBackwards} ${edge.predicate} ${pager.after}`;
  const { data, refusal } = useAnswer(name, (signal) =>
    askQuery<{ q: readonly { readonly e?: readonly NodeMembers[] | NodeMembers }[] }>(
      printEdges(uid, edge, schema, pager.after),
      signal,
    ),
  );
  if (refusal !== undefined) return <Refusal refusal={refusal} />;
  if (data === undefined) return <Loading what={edge.predicate} />;
  const found = data.q[0]?.e ?? [];
  const nodes = Array.isArray(found) ? (found as readonly NodeMembers[]) : [found as NodeMembers];
  return (
    <>
      <ul className="nodes">
        {nodes.map((node) => (
          <NodeItem key={readLine(node).uid} node={node} />
        ))}
      </ul>
      <PagerBar
        pager={pager}
        count={nodes.length}
        total={edge.count}
        last={nodes.length === 0 ? undefined : readLine(nodes.at(-1) ?? {}).uid}
        what={edge.predicate}
      />
    </>
  );
}

function NodeItem({ node }: { node: NodeMembers }): ReactNode {
  const { uid, label, types } = readLine(node);
  const facets = readFacets(node);
  return (
    <li>
      <a href={linkTo("data", "node", uid)}>{label === "" ? <code>{uid}</code> : label}</a>{" "}
      {label !== "" && <code className="quiet">{uid}</code>}{" "}
      {types.map((type) => (
        <span key={type} className="badge is-plain">
          {type}
        </span>
      ))}{" "}
      {facets.map(([name, value]) => (
        <span key={name} className="facet">
          {name}: {printStored(value)}
        </span>
      ))}
    </li>
  );
}
