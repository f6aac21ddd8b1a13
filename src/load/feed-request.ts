/** A question whose answer goes on: read as it comes. */
import { type IncomingMessage, request, type RequestOptions } from "node:http";
import { request as requestTls } from "node:https";
import type { Transport } from "./transport.ts";

export interface FeedAnswer {
  /** 0: nobody answers. */
  readonly status: number;
  /** Why there is nothing to read, where the status is not 200. */
  readonly message: string;
  readonly pieces: AsyncIterable<string>;
  close(): void;
}

/** Without a byte for so long the other side is gone: a feed tells its position every thirty seconds. */
const silenceMs = 150_000;

export async function openFeedRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  { ca, cert, certKey, socketPath }: Transport,
): Promise<FeedAnswer> {
  const isTls = url.startsWith("https:") && socketPath === undefined;
  const own = socketPath === undefined ? { ca, cert, key: certKey } : { socketPath };
  const options: RequestOptions = { ...own, headers, agent: false, timeout: silenceMs };
  const address = isTls ? url : url.replace(/^https:/, "http:");
  const asked = (isTls ? requestTls : request)(address, options);
  asked.on("timeout", () => asked.destroy(new Error("nothing came for too long")));
  asked.end();
  let answer: IncomingMessage;
  try {
    answer = await new Promise((resolve, reject) => {
      asked.once("response", resolve);
      asked.once("error", reject);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? String(error));
    return emptyAnswer(0, `no answer from ${new URL(url).origin} (${why})`);
  }
  // What breaks off later is told to who reads.
  asked.on("error", () => {});
  answer.setEncoding("utf8");
  const status = answer.statusCode ?? 0;
  if (status === 200) {
    return { status, message: "", pieces: answer, close: () => void asked.destroy() };
  }
  let text = "";
  try {
    for await (const piece of answer) if (text.length < textMax) text += String(piece);
  } catch {
    // What came says enough.
  }
  return emptyAnswer(status, messageOf(text) ?? `the server answers with status ${status}`);
}

const textMax = 64 * 1024;

function messageOf(text: string): string | undefined {
  try {
    const { errors } = JSON.parse(text) as { readonly errors?: readonly { message?: string }[] };
    return errors?.[0]?.message;
  } catch {
    return undefined;
  }
}

function emptyAnswer(status: number, message: string): FeedAnswer {
  return { status, message, pieces: nothing(), close: () => {} };
}

async function* nothing(): AsyncGenerator<string> {}
