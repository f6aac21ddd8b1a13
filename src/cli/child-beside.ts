/** A child process of `weft serve` that has nothing to do with requests: the lambda server, or what archives the store. */
import { drain } from "./drain.ts";
import { surviveLostOutput } from "./log.ts";
import type { Role, ToChild, ToSupervisor } from "./messages.ts";
import { answerOwn } from "./process-metrics.ts";
import type { Question, SurveyAnswer } from "./questions.ts";
import { giveSigns } from "./signs.ts";
import { linkSurveys } from "./survey.ts";

type Start = ToChild & { readonly kind: "start" };

/** See `loadRole`. */
export function loadRoleBeside(role: Role): Promise<(start: Start) => Promise<void>> {
  surviveLostOutput();
  return role === "lambda" ? loadLambda() : loadArchiving();
}

async function loadLambda(): Promise<(start: Start) => Promise<void>> {
  const { openLambdaBeside, reloadScript } = await import("./lambda-role.ts");
  return async ({ config }) => {
    const server = await openLambdaBeside(config);
    const surveys = linkSurveys((message) => process.send?.(message), answerOwn);
    process.on("message", (message: ToChild) => {
      if (message.kind === "drain") void drain(undefined, server);
      else if (message.kind === "reloadScript") {
        void reloadScript(server, message).then((report) => {
          process.send?.({ kind: "script", id: message.id, report } satisfies ToSupervisor);
        });
      } else if (message.kind === "asked") surveys.hear(message);
    });
    process.send?.({ kind: "ready", isEmpty: false } satisfies ToSupervisor);
    giveSigns();
  };
}

async function loadArchiving(): Promise<(start: Start) => Promise<void>> {
  const { openArchiving } = await import("./backup-role.ts");
  return async ({ config }) => {
    const archiving = openArchiving(config);
    const answer = async (question: Question): Promise<SurveyAnswer> =>
      question.kind === "archive" ? { archive: archiving.facts } : answerOwn(question);
    const surveys = linkSurveys((message) => process.send?.(message), answer);
    process.on("message", (message: ToChild) => {
      if (message.kind === "drain") void drain(undefined, archiving);
      else if (message.kind === "asked") surveys.hear(message);
    });
    process.send?.({ kind: "ready", isEmpty: false } satisfies ToSupervisor);
    giveSigns();
  };
}
