/**
 * The two sub-protocols of GraphQL over WebSocket. `graphql-ws` is the older one (subscriptions-transport-ws 0.9), which
 * the reference speaks, with its words; `graphql-transport-ws` the newer one, which closes the socket on every fault.
 */
import { encodeJson, isJsonObject } from "../graphql/operation/json.ts";
import type { JsonObject, JsonValue } from "../graphql/operation/json.ts";
import type { Dialect } from "./socket-dialect.ts";

const complete = (id: string): object => ({ id, type: "complete" });

const older: Dialect = {
  name: "graphql-ws",
  answersAll: false,
  misunderstand: (connection) => connection.cut(),
  refuse(connection, id, { message }) {
    connection.say({ id, type: "error", payload: { message } });
    connection.say(complete(id));
  },
  answerHead: (id) => `{"id":${JSON.stringify(id)},"type":"data","payload":`,
  completion: complete,
  farewell: complete,
  hear(connection, message) {
    const { id = "", type = "", payload } = message;
    if (typeof id !== "string" || typeof type !== "string") {
      connection.cut();
      return;
    }
    const named = id === "" ? {} : { id };
    const complain = (text: string, kind = "connection_error"): void =>
      connection.say({ ...named, type: kind, payload: { message: text } });
    switch (type) {
      case "connection_init":
        if (payload === null) connection.introduce({});
        else if (isJsonObject(payload)) connection.introduce(payload);
        else {
          complain("invalid payload for type: connection_init");
          return;
        }
        connection.say({ type: "connection_ack" });
        return;
      case "start":
        if (id === "") complain("missing ID for start operation");
        else if (!isBody(payload)) complain("invalid payload for type: start");
        else {
          connection.greet();
          connection.stop(id);
          connection.start(id, payload);
        }
        return;
      case "stop":
        connection.stop(id);
        connection.say({ ...named, type: "complete" });
        return;
      case "ka":
        connection.say({ type: "ka" });
        return;
      case "connection_terminate":
        connection.cut();
        return;
      default:
        complain(`unknown operation message of type: ${type}`, "error");
    }
  },
};

const newer: Dialect = {
  name: "graphql-transport-ws",
  answersAll: true,
  misunderstand: (connection) => connection.close(invalid("no JSON object")),
  refuse: (connection, id, { errors }) => connection.say({ id, type: "error", payload: errors }),
  answerHead: (id) => `{"id":${JSON.stringify(id)},"type":"next","payload":`,
  completion: complete,
  farewell: () => undefined,
  hear(connection, message) {
    const { id, type, payload } = message;
    switch (type) {
      case "connection_init":
        if (connection.isGreeted) {
          connection.close({ code: 4429, reason: "Too many initialisation requests" });
        } else if (payload === undefined || payload === null || isJsonObject(payload)) {
          connection.introduce(payload ?? {});
          connection.say({ type: "connection_ack" });
        } else connection.close(invalid("the payload of connection_init is no object"));
        return;
      case "ping":
        connection.say({
          type: "pong",
          ...(payload === undefined ? {} : { payload: JSON.parse(encodeJson(payload)) as unknown }),
        });
        return;
      case "pong":
        return;
      case "subscribe":
        if (!connection.isGreeted) connection.close({ code: 4401, reason: "Unauthorized" });
        else if (typeof id !== "string" || id === "") connection.close(invalid("no id"));
        else if (payload === null || !isBody(payload)) {
          connection.close(invalid("the payload of subscribe is no request"));
        } else if (connection.has(id)) {
          connection.close({ code: 4409, reason: cut(`Subscriber for ${id} already exists`) });
        } else connection.start(id, payload);
        return;
      case "complete":
        if (typeof id === "string") connection.stop(id);
        return;
      default:
        connection.close(invalid("unknown type"));
    }
  },
};

/** In the order in which an offer of several is taken: the reference knows the first alone. */
export const dialects: readonly Dialect[] = [older, newer];

/** The members of a request, each of its kind, as far as they are there. */
function isBody(payload: JsonValue | undefined): payload is JsonObject | null {
  if (payload === null) return true;
  if (!isJsonObject(payload)) return false;
  const { query, operationName, variables, extensions } = payload;
  const isText = (value: JsonValue | undefined): boolean => typeof (value ?? "") === "string";
  const isMap = (value: JsonValue | undefined): boolean => isJsonObject(value ?? {});
  return isText(query) && isText(operationName) && isMap(variables) && isMap(extensions);
}

function invalid(what: string): { code: number; reason: string } {
  return { code: 4400, reason: `Invalid message: ${what}` };
}

/** The reason of a closing has room for 123 bytes. */
function cut(reason: string): string {
  return reason.replace(/[^ -~]/g, "?").slice(0, 120);
}
