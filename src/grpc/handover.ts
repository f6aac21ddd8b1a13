/** Hands a call, whole, to the process that holds its transaction, and its answer back. */
import type { Buffer } from "node:buffer";
import { Client, credentials, type Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { firstSenderKey } from "./sender.ts";
import { CallRefusal } from "./status.ts";

/** Whoever follows an owner that has died listens at the same place soon. */
const options = {
  "grpc.initial_reconnect_backoff_ms": 20,
  "grpc.max_reconnect_backoff_ms": 200,
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
};

interface HandedOver {
  readonly path: string;
  readonly bytes: Buffer;
  readonly metadata: Metadata;
  readonly address: string;
  /** When the client stops waiting; Infinity: never. */
  readonly deadlineMs: number;
  readonly mayCommit: boolean;
}

export class Handover {
  readonly #clients = new Map<string, Client>();

  /** The bytes of the answer. Throws CallRefusal, in the owner's words; without an owner the transaction is gone. */
  send(owner: string, call: HandedOver): Promise<Buffer> {
    const { path, bytes, deadlineMs } = call;
    const metadata = call.metadata.clone();
    metadata.set(firstSenderKey, call.address);
    return new Promise((resolve, reject) => {
      this.#clientOf(owner).makeUnaryRequest<Buffer, Buffer>(
        path,
        asIs,
        asIs,
        bytes,
        metadata,
        { deadline: deadlineMs },
        (error, answer) => {
          if (error === null && answer !== undefined) resolve(answer);
          else reject(explain(error, call));
        },
      );
    });
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #clientOf(owner: string): Client {
    let client = this.#clients.get(owner);
    if (client === undefined) {
      client = new Client(`unix:${owner}`, credentials.createInsecure(), options);
      this.#clients.set(owner, client);
    }
    return client;
  }
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** The owner did not answer: nobody else tells of the call. */
export class OwnerLost extends CallRefusal {}

function explain(error: ServiceError | null, { mayCommit }: HandedOver): CallRefusal {
  if (error === null) return new CallRefusal(status.INTERNAL, "an answer without a message");
  if (error.code !== status.UNAVAILABLE) return new CallRefusal(error.code, error.details);
  const isReached = !error.details.includes("No connection established");
  return isReached && mayCommit
    ? new OwnerLost(status.UNKNOWN, "the outcome of the transaction is unknown")
    : new OwnerLost(status.ABORTED, "Transaction has been aborted. Please retry");
}
