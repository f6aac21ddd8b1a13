/** The GraphQL schema as a text that is edited: its problems, what a change does to stored data, and the change. */
import { type ReactNode, useState } from "react";
import { countWords } from "../base/count-words.ts";
import { Editor } from "./editor.tsx";
import { Refusal } from "./parts.tsx";
import type { TextProblem } from "./problem-marks.ts";
import { type ShownChange, useSchemaDraft } from "./schema-draft.ts";

/** A schema is looked at against the stored data before it is set. */
export function SchemaEditor({ schema, onSet }: { schema: string; onSet: () => void }): ReactNode {
  const draft = useSchemaDraft(schema, onSet);
  const { text, state, changes, problems, refusal } = draft;
  const [sought, setSought] = useState<TextProblem>();
  const isServed = text === schema;
  return (
    <div className="fill">
      <div className="toolbar">
        <button type="button" disabled={isServed} onClick={() => void draft.plan()}>
          Plan the change
        </button>
        <button
          type="button"
          className="primary"
          disabled={isServed || changes === undefined}
          title="Plan the change first"
          onClick={() => void draft.set()}
        >
          Set
        </button>
        {!isServed && (
          <button type="button" onClick={draft.discard}>
            Discard
          </button>
        )}
        <span className="quiet">{state}</span>
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
        onChange={draft.edit}
        onRun={() => void draft.plan()}
      />
    </div>
  );
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

function Changes({ changes }: { changes: readonly ShownChange[] }): ReactNode {
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
