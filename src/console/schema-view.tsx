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
import { linkTo } from "./route.ts";
import { SchemaEditor } from "./schema-editor.tsx";
import { useAnswer } from "./use.ts";

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
