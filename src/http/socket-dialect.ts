/** What a sub-protocol decides about a WebSocket, and what it can do there. */
import type { JsonObject, JsonValue } from "../graphql/operation/json.ts";
import type { SubscribeOutcome } from "../graphql/service/service.ts";

export type Refused = Extract<SubscribeOutcome, { kind: "refused" }>;

export interface Dialect {
  /** The name of the sub-protocol. */
  readonly name: string;
  /** Whether queries and mutations are answered too. */
  readonly answersAll: boolean;
  hear(connection: Conversation, message: JsonObject): void;
  /** A message that is no JSON object. */
  misunderstand(connection: Conversation): void;
  /** An operation that does not begin, or breaks. */
  refuse(connection: Conversation, id: string, refused: Refused): void;
  /** What stands in front of an answer; a brace closes it. */
  answerHead(id: string): string;
  completion(id: string): object;
  /** The last word about an operation before the server goes; undefined: the closing says it. */
  farewell(id: string): object | undefined;
}

/** Why a connection is closed. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** One connection, as its dialect sees it. */
export interface Conversation {
  /** Whether the other side has introduced itself. */
  readonly isGreeted: boolean;
  greet(): void;
  /** Headers of the operations from now on: those of the upgrade, and over them the texts of `payload`. */
  introduce(payload: JsonObject): void;
  has(id: string): boolean;
  /** Begins an operation; `payload` is the body of a request. */
  start(id: string, payload: JsonValue): void;
  /** Ends an operation, if there is one of that name. Nothing of it follows. */
  stop(id: string): void;
  /** Sends a message. Who asks for more words than he reads is cut off. */
  say(message: object): void;
  close(closing: Closing): void;
  cut(): void;
}
