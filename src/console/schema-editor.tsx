/** The GraphQL schema as a text that is edited: its problems, what a change does to stored data, and the change. */
import { type ReactNode, useRef, useState } from "react";
import { countWords } from "../base/count-words.ts";
import { askAdmin } from "./ask.ts";
import { Editor } from "./editor.tsx";
import { Refusal } from "./parts.tsx";
import type { TextProblem } from "./problem-marks.ts";
import type { RefusedByServer } from "./refused.ts";
import { makeStored } from "./stored.ts";
import { toRefusal, useEvery, useStored } from "./use.ts";

interface Change {
  readonly effect: string;
  readonly text: string;
  readonly typeName: string;
  readonly field: string | null;
  readonly hint: string | null;
  readonly nodes: number;
}

const problemsQuery =
  "query($schema: String!) { schemaProblems(schema: $schema) { message line column } }";
const planQuery =
  "query($schema: String!) { schemaPlan(schema: $schema) { changes { effect typeName field text hint nodes } } }";
const setQuery =
  "mutation($schema: String!) { updateGQLSchema(input: { set: { schema: $schema } }) { gqlSchema { id } } }";

/** What somebody has begun to write, and the schema that it was made of: kept from view to view. */
interface Draft {
  readonly base: string;
  readonly text: string;
}

const drafts = makeStored<Draft | undefined>(
  () => sessionStorage,
  "weft-schema",
  (kept) => (isDraft(kept) ? kept : undefined),
);

function isDraft(kept: unknown): kept is Draft {
  const { base, text } = (kept ?? {}) as Partial<Record<string, unknown>>;
  return typeof base === "string" && typeof text === "string";
}

/** A schema is looked at against the stored data before it is set. */
export function SchemaEditor({ schema, onSet }: { schema: string; onSet: () => void }): ReactNode {
  const [draft, keep] = useStored(drafts);
  const text = draft?.text ?? schema;
  const [changes, setChanges] = useState<readonly Change[]>();
  const [problems, setProblems] = useState<readonly TextProblem[]>([]);
  const [sought, setSought] = useState<TextProblem>();
  const [refusal, setRefusal] = useState<RefusedByServer>();
  useEvery(problems.length === 0 ? 0 : lookAgainMs, () => void lookAgain());
  const looked = useRef(text);
  const findProblems = async (): Promise<readonly TextProblem[]> => {
    looked.current = text;
    const found = await askAdmin<{ schemaProblems: readonly TextProblem[] }>(problemsQuery, {
      schema: text,
    });
    setProblems(found.schemaProblems);
    return found.schemaProblems;
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setRefusal(undefined);
    try {
      await work();
    } catch (error) {
      setChanges(undefined);
      setRefusal(toRefusal(error));
    }
  };
  // Who mends one of several sees which are left.
  const lookAgain = async (): Promise<void> => {
    if (looked.current !== text) await attempt(async () => void (await findProblems()));
  };
  const plan = attempt.bind(undefined, async () => {
    if ((await findProblems()).length > 0) {
      setChanges(undefined);
      return;
    }
    const { schemaPlan } = await askAdmin<{ schemaPlan: { changes: readonly Change[] } }>(
      planQuery,
      { schema: text },
    );
    setChanges(schemaPlan.changes);
  });
  const set = attempt.bind(undefined, async () => {
    await askAdmin(setQuery, { schema: text });
    keep(undefined);
    onSet();
  });
  const edit = (next: string): void => {
    keep(next === schema ? undefined : { base: draft?.base ?? schema, text: next });
    setChanges(undefined);
  };
  const discard = (): void => {
    edit(schema);
    setProblems([]);
    setRefusal(undefined);
  };
  const isServed = text === schema;
  return (
    <div className="fill">
      <div className="toolbar">
        <button type="button" disabled={isServed} onClick={() => void plan()}>
          Plan the change
        </button>
        <button
          type="button"
          className="primary"
          disabled={isServed || changes === undefined}
          title="Plan the change first"
          onClick={() => void set()}
        >
          Set
        </button>
        {!isServed && (
          <button type="button" onClick={discard}>
            Discard
          </button>
        )}
        <span className="quiet">{describe(schema, draft)}</span>
      </div>
      {refusal !== undefined && <Refusal refusal={refusal} />}
      {problems.length > 0 && <Problems problems={problems} onSeek={setSought} />}
      {changes !== undefined && <Changes changes={changes} />}
      <Editor
        label="GraphQL schema"
        mode="sdl"
        value={text}
        problems={problems}
        sought={sought}
        onChange={edit}
        onRun={() => void plan()}
      />
    </div>
  );
}

const lookAgainMs = 700;

function describe(schema: string, draft: Draft | undefined): string {
  if (draft === undefined || draft.text === schema) return "The schema that is served";
  return draft.base === schema ? "Edited" : "Edited; another schema is served since";
}

function Problems({
  problems,
  onSeek,
}: {
  problems: readonly TextProblem[];
  onSeek: (problem: TextProblem) => void;
}): ReactNode {
  return (
    <div className="notice is-bad scroll" role="alert">
      <div>{countWords(problems.length, "problems")}</div>
      <ul className="problems">
        {problems.map((problem) => (
          <li key={`${problem.line ?? ""}:${problem.column ?? ""} ${problem.message}`}>
            {problem.line !== null && (
              <button type="button" className="link" onClick={() => onSeek({ ...problem })}>
                Line {problem.line}, column {problem.column}
              </button>
            )}
            <code>{problem.message}</code>
          </li>
        ))}
      </ul>
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
                {nodes > 0 && ` (${countWords(nodes, "nodes")})`}
                {hint !== null && <div className="quiet">{hint}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
