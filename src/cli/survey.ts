/** Questions to all processes of the server: a process asks the supervisor, which asks everyone and gathers what they say. */
import type { SurveyAnswer, Question, SurveyReport } from "./questions.ts";
import type { ToChild, ToSupervisor } from "./messages.ts";

export interface Surveys {
  /** Resolves with what the processes have said that answered in time. */
  ask(question: Question): Promise<readonly SurveyReport[]>;
  /** What the supervisor says. */
  hear(message: ToChild): void;
}

/** `answer`: what this process says for itself. */
export function linkSurveys(
  send: (message: ToSupervisor) => void,
  answer: (question: Question) => Promise<SurveyAnswer>,
): Surveys {
  let lastId = 0;
  const waiting = new Map<number, (reports: readonly SurveyReport[]) => void>();
  return {
    ask: (question) =>
      new Promise((resolve) => {
        waiting.set(++lastId, resolve);
        send({ kind: "survey", id: lastId, question });
      }),
    hear(message) {
      if (message.kind === "surveyed") {
        waiting.get(message.id)?.(message.reports);
        waiting.delete(message.id);
      } else if (message.kind === "asked") {
        const { id } = message;
        answer(message.question).then(
          (told) => send({ kind: "report", id, answer: told }),
          () => send({ kind: "report", id, answer: {} }),
        );
      }
    },
  };
}
