/** `--cdc "file=DIR"`, `--cdc "kafka=HOST:PORT; …"`: the reference's change data capture, to `weft changes` beside the server. */
import { resolve } from "node:path";
import { Fault } from "../model/fault.ts";
import { readMechanism } from "../sinks/kafka-sink.ts";
import { parseSuperflag, parseSwitch } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export type CdcConfig =
  | { readonly kind: "file"; readonly dir: string }
  | {
      readonly kind: "kafka";
      readonly brokers: string;
      /** As `--kafka-login` and `--kafka-tls` of `weft changes`; "" for none. */
      readonly login: string;
      readonly tls: string;
    };

const keys = [
  "file",
  "kafka",
  "sasl-user",
  "sasl-password",
  "sasl-mechanism",
  "ca-cert",
  "client-cert",
  "client-key",
  "tls",
] as const;

/** Undefined where nothing is sent. */
export function parseCdc(text: string): CdcConfig | undefined {
  const given = parseSuperflag("cdc", text, keys);
  const valueOf = (key: (typeof keys)[number]): string => given.get(key) ?? "";
  const file = valueOf("file");
  const brokers = valueOf("kafka");
  if (file !== "" && brokers !== "") {
    throw new Fault("E_USAGE", "--cdc: file or kafka, not both (run weft changes for the other)");
  }
  if (file !== "") return { kind: "file", dir: resolve(file) };
  if (brokers === "") {
    if (given.size === 0) return undefined;
    throw new Fault("E_USAGE", "--cdc: name where to, as file=/var/log/weft or kafka=HOST:9092");
  }
  const isTls = parseSwitch("--cdc tls", valueOf("tls") === "" ? "false" : valueOf("tls"));
  const files = [
    ["ca", valueOf("ca-cert")],
    ["cert", valueOf("client-cert")],
    ["key", valueOf("client-key")],
  ]
    .filter(([, name]) => name !== "")
    .map((pair) => pair.join("="))
    .join("; ");
  const user = valueOf("sasl-user");
  const mechanism = valueOf("sasl-mechanism") === "" ? "PLAIN" : valueOf("sasl-mechanism");
  readMechanism("--cdc sasl-mechanism", mechanism);
  const login = `mechanism=${mechanism}; user=${user}; password=${valueOf("sasl-password")}`;
  return {
    kind: "kafka",
    brokers,
    login: user === "" ? "" : login,
    tls: files === "" && isTls ? "on" : files,
  };
}
