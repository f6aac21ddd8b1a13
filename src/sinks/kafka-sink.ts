/**
 * Events to a topic of Kafka, acknowledged by all replicas in sync. The key is the namespace, so that the events of one
 * stay in their order; the header `position` tells what came twice.
 */
import type { SASLOptions } from "kafkajs";
import { Fault } from "../model/fault.ts";
import { loadOptional } from "./optional-package.ts";
import type { FeedLine, Sink } from "./sink.ts";

type SaslMechanism = "plain" | "scram-sha-256" | "scram-sha-512";

interface KafkaSinkOptions {
  /** `HOST:PORT`. */
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly sasl:
    | { readonly mechanism: SaslMechanism; readonly user: string; readonly password: string }
    | undefined;
  /** In PEM; undefined: no TLS. */
  readonly tls:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
  readonly print: (line: FeedLine) => readonly string[];
}

/** Fault E_STARTUP where the client's package is missing. */
export async function openKafkaSink(options: KafkaSinkOptions): Promise<Sink> {
  const { brokers, topic, sasl, tls, print } = options;
  const name = "kafkajs";
  const { Kafka, logLevel } = (await loadOptional("--kafka", name, () => import("kafkajs")))
    .default;
  const kafka = new Kafka({
    clientId: "weft-changes",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    // Who calls tries again, and says so.
    retry: { retries: 1 },
    ...(tls === undefined ? {} : { ssl: { ...tls } }),
    ...(sasl === undefined ? {} : { sasl: { ...sasl, username: sasl.user } as SASLOptions }),
  });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  let isConnected = false;
  return {
    async deliver(lines) {
      if (!isConnected) await producer.connect();
      isConnected = true;
      const messages = lines.flatMap((line) =>
        print(line).map((value) => ({
          key: String(line.namespace),
          value,
          headers: { position: line.position, kind: line.kind },
        })),
      );
      if (messages.length > 0) await producer.send({ topic, messages, acks: -1 });
    },
    close: () => producer.disconnect(),
  };
}

const mechanisms: readonly SaslMechanism[] = ["plain", "scram-sha-256", "scram-sha-512"];

/** Fault E_USAGE for one that is not known here. */
export function readMechanism(flag: string, text: string): SaslMechanism {
  const found = mechanisms.find((one) => one === text.toLowerCase());
  if (found !== undefined) return found;
  const known = mechanisms.map((one) => one.toUpperCase()).join(", ");
  throw new Fault("E_USAGE", `${flag}: one of ${known}, not "${text}"`);
}
