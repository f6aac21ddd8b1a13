/** A question on the terminal of `weft dev`. Nothing waits for the answer: the project goes on being watched. */
import { createInterface } from "node:readline";
import { say } from "./log.ts";

export interface DevQuestions {
  /** In place of a question that is open still. `yes` is called once, when the answer is y. */
  ask(question: string, yes: () => void): void;
  /** What was asked about has changed. */
  withdraw(): void;
}

/** Undefined where nobody can answer: input that is no terminal. */
export function openQuestions(input: NodeJS.ReadStream): DevQuestions | undefined {
  if (!input.isTTY) return undefined;
  let open: (() => void) | undefined;
  const lines = createInterface({ input });
  lines.on("line", (line) => {
    const yes = open;
    open = undefined;
    if (yes === undefined) return;
    if (/^y(?:es)?$/i.test(line.trim())) yes();
    else say("not applied");
  });
  // Ctrl-C is the process's own matter.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  return {
    ask(question, yes) {
      open = yes;
      process.stdout.write(`${question} [y/N] `);
    },
    withdraw() {
      open = undefined;
    },
  };
}
