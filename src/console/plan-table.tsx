/** How a query is run, or was: a row for each step, inside those that it belongs to. */
import type { ReactNode } from "react";
import { printCount } from "./parts.tsx";

export interface ShownPlan {
  readonly kind: "explain" | "profile";
  /** Records, as expected. */
  readonly cost: number;
  /** Records, as read. */
  readonly costRead?: number;
  readonly ms?: number;
  readonly steps: readonly PlanStep[];
}

interface PlanStep {
  readonly step: string;
  readonly text: string;
  readonly estimated?: number;
  readonly in?: number;
  readonly out?: number;
  readonly times?: number;
  readonly ms?: number;
  readonly reads?: Readonly<Record<string, number>>;
  readonly notes?: readonly string[] | string;
  readonly steps?: readonly PlanStep[];
}

interface Row {
  readonly path: string;
  readonly depth: number;
  readonly step: PlanStep;
}

const readNames = ["records", "lists", "tokens", "uids"] as const;

export function PlanTable({ plan }: { plan: ShownPlan }): ReactNode {
  const isProfile = plan.kind === "profile";
  const rows = [...listRows(plan.steps, 0, "")];
  return (
    <div className="plan scroll" tabIndex={0} role="region" aria-label="Plan">
      <p>
        Cost: {printCount(plan.cost)} expected
        {plan.costRead !== undefined && `, ${printCount(plan.costRead)} read`}{" "}
        <span className="quiet">(records that are looked at)</span>
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="number">
              Estimated
            </th>
            {isProfile &&
              ["In", "Out", "ms", "Records", "Lists", "Tokens", "Uids"].map((name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, depth, step }) => (
            <tr key={path}>
              <th scope="row">
                <span className="indent" data-depth={Math.min(depth, depthMax)}>
                  <code>{step.text}</code>
                  {printNotes(step) !== "" && <em className="quiet"> {printNotes(step)}</em>}
                </span>
              </th>
              <td className="number">{printNumber(step.estimated)}</td>
              {isProfile && (
                <>
                  <td className="number">{printNumber(step.in)}</td>
                  <td className="number">{printNumber(step.out)}</td>
                  <td className="number">{step.ms?.toFixed(3) ?? ""}</td>
                  {readNames.map((name) => (
                    <td key={name} className="number">
                      {printNumber(step.reads?.[name])}
                    </td>
                  ))}
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Deeper ones stand under each other: the style sheet has so many steps. */
const depthMax = 12;

function* listRows(steps: readonly PlanStep[], depth: number, above: string): Generator<Row> {
  for (const [at, step] of steps.entries()) {
    const path = `${above}/${at}`;
    yield { path, depth, step };
    yield* listRows(step.steps ?? [], depth + 1, path);
  }
}

function printNotes({ notes }: PlanStep): string {
  return typeof notes === "string" ? notes : (notes ?? []).join("; ");
}

function printNumber(value: number | undefined): string {
  return value === undefined || value === 0 ? "" : printCount(value);
}
