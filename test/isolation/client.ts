/** Clients of the suite: each request on a connection of its own, so that every process answers some of each transaction. */
import { request } from "node:http";

export interface Txn {
  readonly start_ts: number;
  readonly keys?: readonly string[];
  readonly preds?: readonly string[];
}

export interface Answer {
  readonly data: Record<string, unknown>;
  readonly txn: Txn;
}

/** The server said that nothing was done. */
export class Aborted extends Error {}

const timeoutMs = 8000;

/** Throws Aborted, or any other error when nothing is known. */
export function ask(url: string, path: string, type: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
    const asked = request(url + path, { method: "POST", agent: false, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        try {
          resolve(readAnswer(Buffer.concat(chunks).toString()));
        } catch (error) {
          reject(error);
        }
      });
    });
    asked.setTimeout(timeoutMs, () => asked.destroy(new Error("no answer")));
    asked.on("error", reject);
    asked.end(body);
  });
}

function readAnswer(text: string): Answer {
  const json = JSON.parse(text) as {
    data: Record<string, unknown>;
    errors?: readonly { message: string }[];
    extensions?: { txn?: Txn };
  };
  const [error] = json.errors ?? [];
  if (error === undefined) return { data: json.data, txn: json.extensions?.txn ?? { start_ts: 0 } };
  if (/aborted/i.test(error.message)) throw new Aborted(error.message);
  throw new Error(error.message);
}

export function query(url: string, text: string, startTs = 0): Promise<Answer> {
  return ask(url, startTs === 0 ? "/query" : `/query?startTs=${startTs}`, "application/dql", text);
}

export function mutate(url: string, body: string, parameters: string): Promise<Answer> {
  return ask(url, `/mutate?${parameters}`, "application/rdf", body);
}

export function commit(url: string, startTs: number, txns: readonly Txn[]): Promise<Answer> {
  const body = {
    keys: txns.flatMap(({ keys }) => keys ?? []),
    preds: txns.flatMap(({ preds }) => preds ?? []),
  };
  return ask(url, `/commit?startTs=${startTs}`, "application/json", JSON.stringify(body));
}

export function graphql(url: string, text: string): Promise<Answer> {
  return ask(url, "/graphql", "application/graphql", text);
}
