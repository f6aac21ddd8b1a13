/** A child process of `weft serve` that has to do with the store: the writer, a worker, a worker that is the writer, too. */
import type { Socket } from "node:net";
import { ClosingNotice } from "./closing-notice.ts";
import { linkControls } from "./controls.ts";
import { scrubOf, type ServeConfig } from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import { ExchangeNotice } from "./exchange-notice.ts";
import { drain } from "./drain.ts";
import type { connectStore } from "../stores/open.ts";
import type { Logger } from "../base/log.ts";
import { LeadDuty } from "./lead-duty.ts";
import { makeLogger, setLogLevel, surviveLostOutput } from "./log.ts";
import type { Role, ToChild, ToSupervisor } from "./messages.ts";
import { answerOwn } from "./process-metrics.ts";
import { giveSigns } from "./signs.ts";
import { linkSurveys } from "./survey.ts";
import type { Worker } from "./worker.ts";

type Start = ToChild & { readonly kind: "start" };

/** What a role needs is loaded before the supervisor says that the writer is ready: most of a start is loading. */
export async function loadRole(role: Role): Promise<(start: Start) => Promise<void>> {
  surviveLostOutput();
  if (role === "node") return loadNode();
  const writing = role === "worker" ? undefined : await import("./writer.ts");
  const working = role === "writer" ? undefined : await import("./worker.ts");
  const { connectStore: connect } = await import("../stores/open.ts");
  return async ({ number, config, run, identity, tls }) => {
    const logger = makeLogger(role === "writer" ? "writer" : `worker ${number}`, config.log);
    const say = (message: ToSupervisor): unknown => process.send?.(message);
    const exchange = new ExchangeNotice(say);
    const writer = await writing?.openStoreForWriting(config, logger, { run, identity, exchange });
    const lead = config.cluster === undefined ? undefined : new LeadDuty(number === 1);
    const store =
      writer?.store ?? (await connect(connectionOf(config, { identity, logger, lead })));
    const controls = linkControls(say, config.memory.cacheMb);
    const surveys = linkSurveys(say, async (question) => {
      return (await worker?.answer(question)) ?? answerOwn(question);
    });
    const parts = { config, store, logger, number, controls, surveys, tls, lead };
    const worker = await working?.openWorker(parts);
    process.on("message", (message: ToChild, socket?: Socket) => {
      switch (message.kind) {
        case "start":
        case "reloadScript":
        case "closingKnown":
          return;
        case "connection":
          take(message, socket, worker);
          return;
        case "open":
          worker?.open();
          return;
        case "tls":
          worker?.server.reloadTls(message.material);
          worker?.grpc?.reloadTls(message.material);
          return;
        case "settings":
          setLogLevel(message.config.log.level);
          void worker?.reload(message.config).catch((error: unknown) => {
            logger.error("settings cannot be taken", { why: String(error) });
          });
          return;
        case "moved":
          worker?.noteMove(message.move);
          return;
        case "childEnded":
          writer?.checkReaders();
          return;
        case "exchangeKnown":
          exchange.hear();
          return;
        case "switches":
        case "turned":
          controls.hear(message);
          return;
        case "asked":
        case "surveyed":
          surveys.hear(message);
          return;
        case "drain":
          void drain(worker, writer ?? store);
      }
    });
    say({ kind: "ready", isEmpty: (await worker?.isEmpty()) ?? false });
    giveSigns();
  };
}

/** How a process beside the writer opens the store. */
function connectionOf(
  { dataDir: dir, keyFile, store, cluster }: ServeConfig,
  {
    identity,
    logger,
    lead,
  }: Pick<Start, "identity"> & { logger: Logger; lead?: LeadDuty | undefined },
): Parameters<typeof connectStore>[0] {
  const plain = { dir, identity, logger, scrub: scrubOf(store), encryption: readKeyFile(keyFile) };
  if (cluster === undefined || lead === undefined) return plain;
  const onLead = (leads: boolean): void => lead.turn(leads);
  if (cluster.reads === "local" || cluster.reads === "session") return { ...plain, onLead };
  // A little longer than its node waits, which says why.
  return { ...plain, onLead, currentMs: cluster.readWaitMs + 500 };
}

/**
 * Nothing of a connection is read before the supervisor has been told that it is this process's: what it was not told
 * of it hands to another.
 */
function take(
  { id, from, isTls, isGrpc }: ToChild & { readonly kind: "connection" },
  socket: Socket | undefined,
  worker: Worker | undefined,
): void {
  const took: ToSupervisor = { kind: "took", id };
  process.send?.(took, undefined, undefined, (error) => {
    // One that went away on its way here comes as undefined.
    if (socket === undefined) return;
    if (error !== null) socket.destroy();
    else if (isGrpc) worker?.grpc?.accept(socket, from, isTls);
    else if (isTls) worker?.server.acceptTls(socket);
    else worker?.server.accept(socket, { kind: "network", address: from });
  });
}

/** In place of the writer, where the server is one of several machines. */
async function loadNode(): Promise<(start: Start) => Promise<void>> {
  const { openNodeRole } = await import("./node-role.ts");
  return async ({ config, run, identity }) => {
    const logger = makeLogger("node", config.log);
    const closing = new ClosingNotice((message) => process.send?.(message));
    process.on("message", (message: ToChild) => {
      if (message.kind === "closingKnown") closing.hear();
    });
    const node = await openNodeRole(config, logger, { run, identity, closing });
    const surveys = linkSurveys(
      (message) => process.send?.(message),
      async (question) => (await node.answer(question)) ?? answerOwn(question),
    );
    process.on("message", (message: ToChild) => {
      if (message.kind === "drain") void drain(undefined, node);
      else if (message.kind === "asked") surveys.hear(message);
      else if (message.kind === "childEnded") node.checkReaders();
      else if (message.kind === "settings") setLogLevel(message.config.log.level);
    });
    process.send?.({ kind: "ready", isEmpty: false } satisfies ToSupervisor);
    giveSigns();
  };
}
