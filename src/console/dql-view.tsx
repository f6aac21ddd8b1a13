/** DQL: queries with their answers and plans, mutations, and changes of the schema. */
import { type ReactNode, useState } from "react";
import { type HttpAnswer, findRefusal, send } from "./ask.ts";
import { Editor } from "./editor.tsx";
import { Icon } from "./icons.tsx";
import { indentJson } from "./json-text.ts";
import { Empty, printBytes, printMs, Refusal, Tabs, ViewHead } from "./parts.tsx";
import { PlanTable, type ShownPlan } from "./plan-table.tsx";
import { RefusedByServer } from "./refused.ts";
import { linkTo } from "./route.ts";
import { makeStored } from "./stored.ts";
import { toRefusal, useAnswer, useStored } from "./use.ts";
import { loadWords } from "./words.ts";

type Task = "query" | "mutate" | "alter";

const tasks = [
  { name: "query", label: "Query" },
  { name: "mutate", label: "Mutate" },
  { name: "alter", label: "Alter" },
] as const;

interface Texts {
  readonly task: Task;
  readonly query: string;
  readonly variables: string;
  readonly mutate: string;
  readonly alter: string;
}

const firstTexts: Texts = {
  task: "query",
  query:
    "{\n  nodes(func: has(dgraph.type), first: 10) @filter(not type(dgraph.graphql)) {\n    uid\n    dgraph.type\n    expand(_all_)\n  }\n}\n",
  variables: "",
  mutate: '{\n  set {\n    _:ann <name> "Ann" .\n    _:ann <dgraph.type> "Person" .\n  }\n}\n',
  alter: "name: string @index(term) .\n\ntype Person {\n  name\n}\n",
};

const texts = makeStored<Texts>(
  () => sessionStorage,
  "weft-dql",
  (kept) => (typeof kept === "object" && kept !== null ? { ...firstTexts, ...kept } : firstTexts),
);

/** What was answered. */
interface Outcome {
  readonly answer: HttpAnswer;
  readonly refusal: RefusedByServer | undefined;
}

/** What came of the last run: an answer, or why there is none. */
type Ended = Outcome | RefusedByServer;

export function DqlView(): ReactNode {
  const [kept, keep] = useStored(texts);
  // Each tab has its own: an answer of one says nothing of another.
  const [ended, setEnded] = useState<Partial<Record<Task, Ended>>>({});
  const [isRunning, setRunning] = useState(false);
  const words = useAnswer("words", loadWords);
  const { task } = kept;
  const run = async (how: Run): Promise<void> => {
    if (!confirmDrop(kept, how)) return;
    setRunning(true);
    const end = (next: Ended): void => setEnded((before) => ({ ...before, [task]: next }));
    try {
      const answer = await ask(kept, how);
      end({ answer, refusal: findRefusal(answer) });
      if (task !== "query") words.reload();
    } catch (error) {
      end(toRefusal(error));
    } finally {
      setRunning(false);
    }
  };
  return (
    <div className="view dql">
      <ViewHead title="DQL">
        <Tabs
          label="What to do"
          tabs={tasks}
          shown={task}
          onShow={(next) => keep({ ...kept, task: next })}
        />
      </ViewHead>
      <div className="split">
        <section aria-label="Request">
          <Toolbar task={task} isRunning={isRunning} onRun={(how) => void run(how)} />
          <Editor
            key={task}
            label={labels[task]}
            mode="dql"
            value={kept[task]}
            words={words.data ?? []}
            onChange={(text) => keep({ ...texts.get(), [task]: text })}
            onRun={() => void run("run")}
          />
          {task === "query" && <Variables />}
        </section>
        <section aria-label="Answer" aria-live="polite" aria-busy={isRunning}>
          <EndedPane key={task} task={task} ended={ended[task]} />
        </section>
      </div>
    </div>
  );
}

const labels: Readonly<Record<Task, string>> = {
  query: "DQL query",
  mutate: "Mutation, in RDF, in JSON or as an upsert",
  alter: "Predicates and types",
};

/** run: as any client would. */
type Run = "run" | "explain" | "profile";

const looks = [
  {
    how: "explain",
    label: "Explain",
    title: "The plan, with what each step is expected to give; nothing runs",
  },
  {
    how: "profile",
    label: "Profile",
    title: "The answer, and the plan with what each step gave, took and read",
  },
] as const;

function Toolbar({
  task,
  isRunning,
  onRun,
}: {
  task: Task;
  isRunning: boolean;
  onRun: (how: Run) => void;
}): ReactNode {
  return (
    <div className="toolbar">
      <button type="button" className="primary" disabled={isRunning} onClick={() => onRun("run")}>
        <Icon name="play" />
        {{ query: "Run", mutate: "Commit", alter: "Apply" }[task]}
      </button>
      {task === "query" &&
        looks.map(({ how, label, title }) => (
          <button
            key={how}
            type="button"
            disabled={isRunning}
            title={title}
            onClick={() => onRun(how)}
          >
            {label}
          </button>
        ))}
      <span className="grow" />
      <code className="quiet">POST /{task}</code>
    </div>
  );
}

function Variables(): ReactNode {
  const [kept, keep] = useStored(texts);
  return (
    <details className="variables" open={kept.variables.trim() !== ""}>
      <summary>Variables</summary>
      <Editor
        label="Variables of the query, as JSON"
        mode="json"
        value={kept.variables}
        onChange={(variables) => keep({ ...texts.get(), variables })}
      />
      <p className="quiet">An object of texts, by the names of the query: {'{"$name": "Ann"}'}</p>
    </details>
  );
}

async function ask(
  { task, query, variables, mutate, alter }: Texts,
  how: Run,
): Promise<HttpAnswer> {
  if (task === "alter") return await send("alter", { type: "text/plain", body: alter });
  if (task === "mutate") {
    const type = looksLikeJson(mutate) ? "application/json" : "application/rdf";
    return await send("mutate?commitNow=true", { type, body: mutate });
  }
  const path = how === "run" ? "query" : `query?${how}=json`;
  if (variables.trim() === "") return await send(path, { type: "application/dql", body: query });
  const body = JSON.stringify({ query, variables: JSON.parse(variables) as unknown });
  return await send(path, { type: "application/json", body });
}

/** Members of JSON are quoted; blocks of RDF are not. */
function looksLikeJson(text: string): boolean {
  return /^\s*\{\s*"/.test(text);
}

/** A body that drops something is JSON; it is the one thing here that nothing brings back. */
function confirmDrop({ task, alter }: Texts, how: Run): boolean {
  if (task !== "alter" || how !== "run" || !/"drop_?(?:all|attr|op|value)"/i.test(alter))
    return true;
  // oxlint-disable-next-line no-alert -- the browser's own question cannot be overlooked
  return confirm("This drops data, and nothing brings it back. Go on?");
}

type Pane = "answer" | "plan";

function EndedPane({ task, ended }: { task: Task; ended: Ended | undefined }): ReactNode {
  if (ended === undefined)
    return <Empty>Ctrl-Enter runs what the editor holds; Ctrl-Space completes.</Empty>;
  if (ended instanceof RefusedByServer) return <Refusal refusal={ended} />;
  return <OutcomePane task={task} outcome={ended} />;
}

function OutcomePane({ task, outcome }: { task: Task; outcome: Outcome }): ReactNode {
  const { answer, refusal } = outcome;
  const plan = findPlan(answer);
  const isPlanAlone = plan?.kind === "explain";
  const [chosen, setChosen] = useState<Pane>("answer");
  const pane: Pane = plan === undefined ? "answer" : isPlanAlone ? "plan" : chosen;
  const tabs = isPlanAlone ? [planTab] : plan === undefined ? [answerTab] : [answerTab, planTab];
  return (
    <>
      <div className="toolbar">
        <Tabs label="Answer" tabs={tabs} shown={pane} onShow={setChosen} />
        <span className="grow" />
        <span className="quiet" data-testid="figures">
          {printMs(answer.ms)} · {printBytes(answer.text.length)}
        </span>
      </div>
      {refusal !== undefined && <Refusal refusal={refusal} />}
      {pane === "plan" && plan !== undefined ? (
        <PlanTable plan={plan} />
      ) : (
        <Editor
          label="The answer, as JSON"
          mode="json"
          value={print(answer, task)}
          onUid={(uid) => (location.hash = linkTo("data", "node", uid))}
        />
      )}
    </>
  );
}

const answerTab = { name: "answer", label: "Answer" } as const;
const planTab = { name: "plan", label: "Plan" } as const;

/** More than this an editor does not show in a time that anybody waits for. */
const printedMax = 3_000_000;

function print({ text, json }: HttpAnswer, task: Task): string {
  const shown = json === undefined ? text : indentJson(text);
  if (shown.length <= printedMax) return shown;
  const told = task === "query" ? "ask for fewer with first:" : "the rest is not shown";
  return `${shown.slice(0, printedMax)}\n… ${printBytes(text.length)} in all: ${told}`;
}

function findPlan({ json }: HttpAnswer): ShownPlan | undefined {
  const { extensions } = (json ?? {}) as {
    extensions?: { explain?: ShownPlan; profile?: ShownPlan };
  };
  return extensions?.profile ?? extensions?.explain;
}
