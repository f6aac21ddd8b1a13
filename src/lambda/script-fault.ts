/** A script that does not compile, or does not load: all that is wrong with it, with the places in its files. */
import { Fault } from "../model/fault.ts";
import type { SourcePlace } from "./source-places.ts";

export interface ScriptProblem {
  readonly text: string;
  readonly place: SourcePlace | undefined;
  /** The line at that place. */
  readonly lineText: string | undefined;
}

/** Code E_STARTUP; the message is the first problem on one line. */
export class ScriptFault extends Fault {
  readonly problems: readonly ScriptProblem[];

  constructor(problems: readonly ScriptProblem[]) {
    super("E_STARTUP", summarize(problems));
    this.problems = problems;
  }
}

function summarize([first, ...rest]: readonly ScriptProblem[]): string {
  if (first === undefined) return "";
  const more = rest.length === 0 ? "" : ` (and ${rest.length} more)`;
  return `${printPlace(first.place)}${first.text}${more}`;
}

function printPlace(place: SourcePlace | undefined): string {
  return place === undefined ? "" : `${place.file}:${place.line}:${place.column}: `;
}
