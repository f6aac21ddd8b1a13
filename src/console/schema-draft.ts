/** A GraphQL schema that is edited: what is wrong with it, what it would change, and its being set. */
import { useRef, useState } from "react";
import { askAdmin } from "./ask.ts";
import type { TextProblem } from "./problem-marks.ts";
import type { RefusedByServer } from "./refused.ts";
import { makeStored } from "./stored.ts";
import { toRefusal, useEvery, useStored } from "./use.ts";

/** Of stored data, and of what is served. */
export interface ShownChange {
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
  if (typeof kept !== "object" || kept === null || !("base" in kept && "text" in kept))
    return false;
  return typeof kept.base === "string" && typeof kept.text === "string";
}

interface EditedSchema {
  readonly text: string;
  /** How it stands to the one that is served, in words. */
  readonly state: string;
  /** undefined: they were not asked for since the last edit. */
  readonly changes: readonly ShownChange[] | undefined;
  readonly problems: readonly TextProblem[];
  readonly refusal: RefusedByServer | undefined;
  readonly edit: (text: string) => void;
  readonly discard: () => void;
  readonly plan: () => Promise<void>;
  readonly set: () => Promise<void>;
}

/** `schema`: the one that is served. */
export function useSchemaDraft(schema: string, onSet: () => void): EditedSchema {
  const [draft, keep] = useStored(drafts);
  const text = draft?.text ?? schema;
  const [changes, setChanges] = useState<readonly ShownChange[]>();
  const [problems, setProblems] = useState<readonly TextProblem[]>([]);
  const [refusal, setRefusal] = useState<RefusedByServer>();
  useEvery(problems.length === 0 ? 0 : lookAgainMs, () => void lookAgain());
  const looked = useRef(text);
  // What comes late says nothing of a text that was edited meanwhile.
  const latest = useRef(text);
  latest.current = text;
  const findProblems = async (): Promise<readonly TextProblem[]> => {
    looked.current = text;
    const found = await askAdmin<{ schemaProblems: readonly TextProblem[] }>(problemsQuery, {
      schema: text,
    });
    if (latest.current === text) setProblems(found.schemaProblems);
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
    const { schemaPlan } = await askAdmin<{ schemaPlan: { changes: readonly ShownChange[] } }>(
      planQuery,
      { schema: text },
    );
    if (latest.current === text) setChanges(schemaPlan.changes);
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
  const state = describe(schema, draft);
  return { text, state, changes, problems, refusal, edit, discard, plan, set };
}

const lookAgainMs = 700;

function describe(schema: string, draft: Draft | undefined): string {
  if (draft === undefined || draft.text === schema) return "The schema that is served";
  return draft.base === schema ? "Edited" : "Edited; another schema is served since";
}
