/** The requests of a worker as its operators see them, and what all processes say together. */
import { systemClock } from "../base/clock.ts";
import { metrics } from "../base/metrics.ts";
import { describeSender } from "../http/describe-sender.ts";
import type { Processes } from "../http/processes.ts";
import { RequestWatch } from "../http/request-watch.ts";
import type { ServerContext } from "../http/server-context.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import type { Telemetry } from "../telemetry/tracer.ts";
import { makeTracer } from "./otel.ts";
import type { ServeConfig } from "./config.ts";
import type { Logger } from "../base/log.ts";
import type { SurveyAnswer, Question } from "./questions.ts";
import type { ArchiveFacts } from "../http/node-facts.ts";
import type { Surveys } from "./survey.ts";

export function openWatch(
  { config, logger }: { readonly config: ServeConfig; readonly logger: Logger },
  telemetry: Telemetry | undefined,
): RequestWatch {
  return new RequestWatch({
    clock: systemClock,
    logger,
    logsAccess: config.log.access,
    slowMs: config.log.slowMs,
    counts: config.metrics !== "off",
    tracer: telemetry && makeTracer(telemetry),
  });
}

export function askProcesses(surveys: Surveys): Processes {
  return {
    async readings() {
      const reports = await surveys.ask({ kind: "metrics" });
      return reports.map(({ process, answer }) => ({ process, readings: answer.readings ?? [] }));
    },
    async running() {
      const reports = await surveys.ask({ kind: "running" });
      return reports.flatMap(({ process, answer }) =>
        (answer.running ?? []).map((one) => ({ process, ...one })),
      );
    },
    async cancel(id, tag) {
      const reports = await surveys.ask({ kind: "cancel", id, tag });
      return reports.reduce((sum, { answer }) => sum + (answer.cancelled ?? 0), 0);
    },
  };
}

/** Of the process that archives; undefined where there shall be none. */
export async function askArchive(
  surveys: Surveys,
  { backup }: ServeConfig,
): Promise<ArchiveFacts | undefined> {
  if (backup === undefined) return undefined;
  const reports = await surveys.ask({ kind: "archive" });
  const found = reports.find(({ answer }) => answer.archive !== undefined)?.answer.archive;
  return found ?? { archivedCommit: 0, lastSuccess: undefined, problem: "it is being started" };
}

/** Of the process that keeps this machine among the others; undefined where it is alone. */
export async function askCluster(
  surveys: Surveys,
  { cluster }: ServeConfig,
): Promise<ClusterFacts | undefined> {
  if (cluster === undefined) return undefined;
  const reports = await surveys.ask({ kind: "cluster" });
  const found = reports.find(({ answer }) => answer.cluster !== undefined)?.answer.cluster;
  const failure = reports.find(({ answer }) => answer.nodeFailure !== undefined)?.answer;
  return found ?? { ...startingNode, node: cluster.node, problem: failure?.nodeFailure };
}

/** While its process is started. */
const startingNode: Omit<ClusterFacts, "node"> = {
  role: "restoring",
  term: 0,
  applied: 0,
  kept: 0,
  format: 0,
  leader: undefined,
  members: [],
  problem: undefined,
};

/** false: it does not lead. */
export async function askToResign(surveys: Surveys): Promise<boolean> {
  const reports = await surveys.ask({ kind: "resign" });
  return reports.some(({ answer }) => answer.hasResigned === true);
}

/** In words what was done. Fault E_CLUSTER where it was not. */
export async function askToAct(
  surveys: Surveys,
  question: Question & { readonly kind: "finalize" | "evict" },
): Promise<string> {
  const reports = await surveys.ask(question);
  const act = reports.find(({ answer }) => answer.act !== undefined)?.answer.act;
  if (act?.isDone === true) return act.words;
  throw new Fault(
    "E_CLUSTER",
    act?.words ??
      "the machine's node does not answer: whether it was done, weft cluster status says",
  );
}

/** What a worker says for itself. */
export async function answerOf(question: Question, context: ServerContext): Promise<SurveyAnswer> {
  switch (question.kind) {
    case "metrics":
      return { readings: await metrics.read() };
    case "running":
      return { running: await context.watch.list((watched) => describeSender(watched, context)) };
    case "archive":
    case "cluster":
    case "resign":
    case "finalize":
    case "evict":
      return {};
    case "cancel":
      return { cancelled: context.watch.cancel(question) };
  }
}
