/**
 * Events to a subject of NATS. Each is a request that a stream of JetStream answers when it has kept it; its
 * `Nats-Msg-Id` is the position, by which a stream leaves out what comes twice within its window.
 */
import { readFileSync } from "node:fs";
import type { NatsConnection } from "@nats-io/transport-node";
import { Fault } from "../model/fault.ts";
import { loadOptional } from "./optional-package.ts";
import { SinkRefusal, type FeedLine, type Sink } from "./sink.ts";

interface NatsSinkOptions {
  /** `nats://HOST:PORT`, several parted by commas; a user and a password may stand before the first host. */
  readonly url: string;
  readonly subject: string;
  /** A file of credentials, as `nsc` makes it. */
  readonly credsFile: string | undefined;
  /** Certificate of an authority, in PEM. */
  readonly ca: string | undefined;
  readonly print: (line: FeedLine) => readonly string[];
}

const ackMs = 10_000;

/** Fault E_USAGE where the client's package is missing, or an address is none. */
export async function openNatsSink(options: NatsSinkOptions): Promise<Sink> {
  const { connect, credsAuthenticator, headers, RequestError } = await loadOptional(
    "--nats",
    "@nats-io/transport-node",
    () => import("@nats-io/transport-node"),
  );
  const { servers, login } = readServers(options.url);
  const { credsFile, ca, subject, print } = options;
  const authenticator =
    credsFile === undefined ? {} : { authenticator: credsAuthenticator(readFileSync(credsFile)) };
  let connection: NatsConnection | undefined;
  const open = async (): Promise<NatsConnection> => {
    const tls = ca === undefined ? {} : { tls: { ca } };
    return await connect({
      servers: [...servers],
      name: "weft changes",
      maxReconnectAttempts: 0,
      ...login,
      ...authenticator,
      ...tls,
    });
  };
  return {
    async deliver(lines) {
      if (connection === undefined || connection.isClosed()) connection = await open();
      for (const line of lines) {
        for (const [i, text] of print(line).entries()) {
          const own = headers();
          own.set("Nats-Msg-Id", `${line.position}.${line.part}.${i}`);
          const request = { timeout: ackMs, headers: own };
          const answer = await connection.request(subject, text, request).catch(explainSilence);
          checkAck(answer.string(), subject);
        }
      }
    },
    async close() {
      await connection?.close();
    },
  };

  function explainSilence(error: unknown): never {
    if (error instanceof RequestError && error.isNoResponders()) {
      throw new SinkRefusal(`no stream of JetStream takes the subject ${subject}`);
    }
    throw error;
  }
}

interface Servers {
  readonly servers: readonly string[];
  readonly login: { readonly user?: string; readonly pass?: string };
}

function readServers(text: string): Servers {
  let login: Servers["login"] = {};
  const servers = text.split(",").map((part) => {
    const url = URL.canParse(part.trim()) ? new URL(part.trim()) : undefined;
    if (url === undefined || !/^(?:nats|tls):$/.test(url.protocol) || url.hostname === "") {
      throw new Fault("E_USAGE", `--nats: "${part.trim()}" is not of the form nats://HOST:PORT`);
    }
    if (url.username !== "") {
      login = { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
    }
    return `${url.protocol}//${url.hostname}:${url.port === "" ? "4222" : url.port}`;
  });
  return { servers, login };
}

function checkAck(text: string, subject: string): void {
  let ack: { readonly stream?: unknown; readonly error?: { readonly description?: string } };
  try {
    ack = JSON.parse(text) as typeof ack;
  } catch {
    ack = {};
  }
  if (ack.error !== undefined) throw new Error(ack.error.description ?? "the stream refuses it");
  if (typeof ack.stream !== "string") {
    throw new SinkRefusal(`what answers at the subject ${subject} is no stream of JetStream`);
  }
}
