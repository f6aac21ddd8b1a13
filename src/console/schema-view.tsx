/** The schemas: GraphQL's as it was set and as it was generated, and DQL's predicates and types. */
import { type ReactNode, useState } from "react";
import { askAdmin, askQuery } from "./ask.ts";
import {
  isReserved,
  readDqlSchema,
  schemaQuery,
  type DqlSchema,
  type SchemaData,
} from "./dql-schema.ts";
import { Editor } from "./editor.tsx";
import { Empty, TextField, Loading, printCount, Refusal, Tabs, ViewHead } from "./parts.tsx";
import type { RefusedByServer } from "./refused.ts";
import { linkTo } from "./route.ts";
import { toRefusal, useAnswer } from "./use.ts";

type Part = "sdl" | "generated" | "predicates" | "types";

const parts = [
  { name: "sdl", label: "GraphQL schema" },
  { name: "generated", label: "Generated API" },
  { name: "predicates", label: "Predicates" },
  { name: "types", label: "Types" },
] as const;

export function SchemaView(): ReactNode {
  const [part, setPart] = useState<Part>("sdl");
  return (
    <div className="view">
      <ViewHead title="Schema">
        <Tabs label="Part of the schema" tabs={parts} shown={part} onShow={setPart} />
      </ViewHead>
      {part === "sdl" || part === "generated" ? (
        <GraphqlSchema part={part} />
      ) : (
        <StoredSchema part={part} />
      )}
    </div>
  );
}

interface GqlSchemaData {
  readonly getGQLSchema: {
    readonly schema: string;
    readonly generatedSchema: string;
    readonly warnings: readonly string[];
  } | null;
}

function GraphqlSchema({ part }: { part: "sdl" | "generated" }): ReactNode {
  const { data, refusal, isLoading, reload } = useAnswer("gql-schema", (signal) =>
    askAdmin<GqlSchemaData>("{ getGQLSchema { schema generatedSchema warnings } }", {}, signal),
  );
  if (refusal !== undefined) return <Refusal refusal={refusal} />;
  if (data === undefined) return isLoading ? <Loading what="the schema" /> : null;
  const { schema = "", generatedSchema = "", warnings = [] } = data.getGQLSchema ?? {};
  if (part === "generated") {
    if (generatedSchema === "") return <Empty>No GraphQL schema is set.</Empty>;
    return <Editor label="The generated API" mode="sdl" value={generatedSchema} />;
  }
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} className="notice">
          {warning}
        </p>
      ))}
      <SchemaEditor key={schema} schema={schema} onSet={reload} />
    </>
  );
}

interface Change {
  readonly effect: string;
  readonly text: string;
  readonly typeName: string;
  readonly field: string | null;
  readonly hint: string | null;
  readonly nodes: number;
}

const planQuery =
  "query($schema: String!) { schemaPlan(schema: $schema) { changes { effect typeName field text hint nodes } } }";
const setQuery =
  "mutation($schema: String!) { updateGQLSchema(input: { set: { schema: $schema } }) { gqlSchema { id } } }";

/** A schema is looked at against the stored data before it is set. */
function SchemaEditor({ schema, onSet }: { schema: string; onSet: () => void }): ReactNode {
  const [draft, setDraft] = useState(schema);
  const [changes, setChanges] = useState<readonly Change[]>();
  const [refusal, setRefusal] = useState<RefusedByServer>();
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setRefusal(undefined);
    try {
      await work();
    } catch (error) {
      setChanges(undefined);
      setRefusal(toRefusal(error));
    }
  };
  const plan = attempt.bind(undefined, async () => {
    const { schemaPlan } = await askAdmin<{ schemaPlan: { changes: readonly Change[] } }>(
      planQuery,
      { schema: draft },
    );
    setChanges(schemaPlan.changes);
  });
  const set = attempt.bind(undefined, async () => {
    await askAdmin(setQuery, { schema: draft });
    onSet();
  });
  const edit = (text: string): void => {
    setDraft(text);
    setChanges(undefined);
  };
  return (
    <div className="fill">
      <div className="toolbar">
        <button type="button" disabled={draft === schema} onClick={() => void plan()}>
          Plan the change
        </button>
        <button
          type="button"
          className="primary"
          disabled={draft === schema || changes === undefined}
          title="Plan the change first"
          onClick={() => void set()}
        >
          Set
        </button>
        <span className="quiet">{draft === schema ? "The schema that is served" : "Edited"}</span>
      </div>
      {refusal !== undefined && <Refusal refusal={refusal} />}
      {changes !== undefined && <Changes changes={changes} />}
      <Editor
        label="GraphQL schema"
        mode="sdl"
        value={draft}
        onChange={edit}
        onRun={() => void plan()}
      />
    </div>
  );
}

function Changes({ changes }: { changes: readonly Change[] }): ReactNode {
  if (changes.length === 0)
    return <p className="notice">Nothing that is stored or served changes.</p>;
  return (
    <div className="notice scroll" role="status">
      <table>
        <tbody>
          {changes.map(({ effect, typeName, field, text, hint, nodes }) => (
            <tr key={`${typeName}.${field ?? ""} ${text}`}>
              <td>
                <span className={`badge is-${effect}`}>{effect}</span>
              </td>
              <th scope="row">
                <code>{field === null ? typeName : `${typeName}.${field}`}</code>
              </th>
              <td>
                {text}
                {nodes > 0 && ` (${printCount(nodes)} nodes)`}
                {hint !== null && <div className="quiet">{hint}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function StoredSchema({ part }: { part: "predicates" | "types" }): ReactNode {
  const [wanted, setWanted] = useState("");
  const [withOwn, setWithOwn] = useState(false);
  const { data, refusal } = useAnswer("dql-schema", async (signal) =>
    readDqlSchema(await askQuery<SchemaData>(schemaQuery, signal)),
  );
  if (refusal !== undefined) return <Refusal refusal={refusal} />;
  if (data === undefined) return <Loading what="the schema" />;
  const isShown = ({ name }: { readonly name: string }): boolean =>
    (withOwn || !isReserved(name)) && name.toLowerCase().includes(wanted.toLowerCase());
  const shown: DqlSchema = {
    predicates: data.predicates.filter(isShown),
    types: data.types.filter(isShown),
  };
  return (
    <>
      <div className="toolbar">
        <TextField label="Names with" type="search" value={wanted} onChange={setWanted} />
        <label className="check">
          <input type="checkbox" checked={withOwn} onChange={() => setWithOwn(!withOwn)} /> the
          server’s own, too
        </label>
        <span className="grow" />
        <span className="quiet">
          {printCount(shown[part].length)} {part}
        </span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={part}>
        {part === "predicates" ? <PredicateTable schema={shown} /> : <TypeTable schema={shown} />}
      </div>
    </>
  );
}

function PredicateTable({ schema: { predicates } }: { schema: DqlSchema }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Predicate</th>
          <th scope="col">Type</th>
          <th scope="col">Index</th>
          <th scope="col">Directives</th>
        </tr>
      </thead>
      <tbody>
        {predicates.map(({ name, type, isList, tokenizers, traits }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <code>{isList ? `[${type}]` : type}</code>
            </td>
            <td>
              {tokenizers.map((one) => (
                <span key={one} className="badge">
                  {one}
                </span>
              ))}
            </td>
            <td>
              {traits.map((one) => (
                <span key={one} className="badge is-plain">
                  @{one}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function TypeTable({ schema: { types } }: { schema: DqlSchema }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Fields</th>
        </tr>
      </thead>
      <tbody>
        {types.map(({ name, fields }) => (
          <tr key={name}>
            <th scope="row">
              <a href={linkTo("data", "type", name)}>{name}</a>
            </th>
            <td>
              {fields.map((field) => (
                <span key={field} className="badge is-plain">
                  {field}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
