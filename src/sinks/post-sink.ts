/**
 * Events as POST to an HTTP endpoint, lines of JSON in each. Signed: `Weft-Signature: v1=` with HMAC-SHA-256, in
 * hexadecimal, of the timestamp, a dot and the body, by the secret; the timestamp, in seconds since 1970, stands in
 * `Weft-Timestamp` (docs/changes.md).
 */
import { createHmac } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { SinkRefusal, type FeedLine, type Sink } from "./sink.ts";

interface PostSinkOptions {
  readonly url: string;
  /** undefined: not signed. */
  readonly secret: string | undefined;
  readonly clock: Clock;
  readonly print: (line: FeedLine) => readonly string[];
}

/** For an answer. */
const waitMs = 30_000;
/** Statuses that another try may change. */
const passing = new Set([408, 425, 429]);

export function openPostSink({ url, secret, clock, print }: PostSinkOptions): Sink {
  return {
    async deliver(lines) {
      const body = lines.flatMap((line) => print(line).map((one) => `${one}\n`)).join("");
      if (body === "") return;
      const timestamp = String(Math.floor(clock.nowMs() / 1000));
      const signature = secret === undefined ? {} : signatureOf(secret, timestamp, body);
      const headers = {
        "content-type": "application/x-ndjson",
        "weft-position": lines.at(-1)?.position ?? "",
        "weft-timestamp": timestamp,
        ...signature,
      };
      const signal = AbortSignal.timeout(waitMs);
      // What a redirection names was not chosen by who signs.
      const answer = await fetch(url, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal,
      });
      await answer.body?.cancel();
      if (answer.ok) return;
      const text = `it answers with status ${answer.status}`;
      if (answer.status >= 500 || passing.has(answer.status)) throw new Error(text);
      throw new SinkRefusal(text);
    },
    close: () => Promise.resolve(),
  };
}

function signatureOf(secret: string, timestamp: string, body: string): Record<string, string> {
  const hash = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "weft-signature": `v1=${hash}` };
}
