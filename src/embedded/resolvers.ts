/**
 * Resolvers of an embedded database: they run in processes of their own, as beside a server, and what they ask of the
 * database is answered in this process.
 */
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Engine } from "../engine/engine.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import { bundleScript } from "../lambda/bundle.ts";
import type { LambdaClient } from "../lambda/client.ts";
import { openGateway } from "../lambda/gateway.ts";
import { defaultLambdaLimits } from "../lambda/limits.ts";
import type { AskAnswer, AskCall } from "../lambda/messages.ts";
import { openPool } from "../lambda/pool.ts";
import { Fault } from "../model/fault.ts";
import { printUid } from "../model/uid.ts";
import { DqlSession } from "./dql-session.ts";

interface AskedDatabase {
  readonly engine: Engine;
  readonly graphql: GraphqlService;
}

export interface Resolvers {
  readonly client: LambdaClient;
  /** Whom they ask from now on. */
  attach(database: AskedDatabase): void;
  close(): Promise<void>;
}

/** Throws Fault E_STARTUP with what is wrong in the script, by file and line. */
export async function openResolvers(script: string): Promise<Resolvers> {
  const limits = defaultLambdaLimits;
  const code = await bundleScript(script, limits.scriptBytesMax);
  let asked: AskedDatabase | undefined;
  // No host is on the list: what tests and programs want of others they do themselves.
  const refuse = openGateway({
    databaseUrl: "",
    token: undefined,
    hosts: [],
    timeoutMs: limits.wallMs,
    bodyBytesMax: limits.bodyBytesMax,
  });
  const pool = await openPool({
    code,
    limits,
    options: { shows: "own", tracesConsole: true },
    clock: systemClock,
    logger: scriptLogger,
    answerAsk: (call, leftMs) =>
      call.to === "database" && asked !== undefined
        ? answerCall(asked, call)
        : refuse(call, leftMs),
  });
  return {
    client: {
      call: (_namespace, body, leftMs) => {
        const { resolver } = JSON.parse(body) as { readonly resolver: string };
        return pool.run({ resolver, body, leftMs, isPartial: true });
      },
      close: () => {},
    },
    attach: (database) => void (asked = database),
    close: () => pool.close(),
  };
}

/** What a script prints goes where its program's own console goes. */
const scriptLogger: Logger = {
  info: (_message, fields) => print(process.stdout, fields),
  warn: (_message, fields) => print(process.stderr, fields),
  error: (message, fields) => print(process.stderr, { line: message, ...fields }),
};

function print(
  stream: NodeJS.WriteStream,
  { at, line, fault }: Readonly<Record<string, unknown>> = {},
): void {
  stream.write(`${typeof at === "string" ? `${at}  ` : ""}${String(fault ?? line)}\n`);
}

async function answerCall(database: AskedDatabase, call: AskCall): Promise<AskAnswer> {
  const { pathname, searchParams } = new URL(call.url, "http://database");
  const body = call.body ?? "";
  try {
    switch (pathname) {
      case "/graphql":
        return reply(await askGraphql(database, call.headers, body));
      case "/query":
        return reply(await askDql(database, body));
      case "/mutate":
        return reply(await mutate(database, call.headers, body, searchParams));
      case "/commit":
        return reply(await commit(database, body, searchParams));
      default:
        return { ok: false, message: `there is no ${pathname} in an embedded database` };
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return reply(JSON.stringify({ errors: [{ message: error.message }] }));
  }
}

function reply(body: string): AskAnswer {
  const headers = [["content-type", "application/json"]] as const;
  return { ok: true, status: 200, statusText: "OK", url: "", headers, body, isBase64: false };
}

type AskHeaders = AskCall["headers"];

async function askGraphql(
  { graphql }: AskedDatabase,
  headers: AskHeaders,
  body: string,
): Promise<string> {
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const answer = await graphql.handle({
    kind: "json",
    body,
    headers: Object.fromEntries(lower),
    remoteAddress: "127.0.0.1",
    timeoutMs: 0,
  });
  return new TextDecoder().decode(answer.body);
}

async function askDql({ engine }: AskedDatabase, body: string): Promise<string> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: object };
  const data: unknown = await new DqlSession(engine).dql(query, variables as never);
  return JSON.stringify({ data });
}

async function mutate(
  { engine }: AskedDatabase,
  headers: AskHeaders,
  text: string,
  search: URLSearchParams,
): Promise<string> {
  const isRdf = headers.some(([, value]) => value === "application/rdf");
  const answer = await engine.mutate({
    namespace: 0,
    body: isRdf ? { kind: "rdf", text } : { kind: "json", text },
    startTs: 0,
    commitNow: search.get("commitNow") === "true",
    timeoutMs: 0,
  });
  const { startTs, commitTs, keys = [], preds } = answer;
  const uids = [...(answer.uids ?? [])].map(([label, uid]) => [label, printUid(uid)]);
  return JSON.stringify({
    data: { code: "Success", message: "Done", uids: Object.fromEntries(uids) as object },
    extensions: { txn: { start_ts: startTs, commit_ts: commitTs, keys, preds } },
  });
}

async function commit(
  { engine }: AskedDatabase,
  body: string,
  search: URLSearchParams,
): Promise<string> {
  const { keys, preds } = JSON.parse(body) as { keys?: string[]; preds?: string[] };
  const startTs = Number(search.get("startTs"));
  if (!Number.isSafeInteger(startTs)) throw new Fault("E_PARAMETER", "startTs is not a number");
  const given = { keys: keys ?? [], preds: preds ?? [] };
  const done = await engine.commit({ namespace: 0, startTs, abort: false, ...given });
  const txn = { start_ts: startTs, commit_ts: done.commitTs };
  return JSON.stringify({ data: { code: "Success", message: "Done" }, extensions: { txn } });
}
