/** `weft changes`: which sink, from where, until when. */
import { readFileSync } from "node:fs";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { deliverFeed } from "../sinks/delivery.ts";
import { openFileSink, openTextSink } from "../sinks/file-sink.ts";
import { openKafkaSink, readMechanism } from "../sinks/kafka-sink.ts";
import { openNatsSink } from "../sinks/nats-sink.ts";
import { openPostSink } from "../sinks/post-sink.ts";
import { printReferenceForm, printReferenceLine } from "../sinks/reference-form.ts";
import type { FeedLine, Sink } from "../sinks/sink.ts";
import { readState, type SinkState } from "../sinks/state-file.ts";
import type { ChangesFlags } from "./changes-commands.ts";
import { openClient } from "./credentials.ts";
import { complain } from "./log.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

export async function runChanges(options: ChangesFlags): Promise<void> {
  checkSinks(options);
  const client = openClient(options);
  const state = options.state === undefined ? undefined : await readState(options.state);
  const sink = await openSink(options, state);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => ending.abort());
  }
  await deliverFeed({
    open: (from) => client.open(pathOf(options, from)),
    sink,
    from: state?.position ?? options.from,
    stateFile: options.state,
    follows: options.follow,
    clock: systemClock,
    complain,
    signal: ending.signal,
  });
}

const sinkFlags = ["out", "post", "nats", "kafka"] as const;

function checkSinks(options: ChangesFlags): void {
  const given = sinkFlags.filter((name) => options[name] !== undefined);
  if (given.length > 1) {
    const flags = given.map((name) => `--${name}`).join(" and ");
    throw new Fault("E_USAGE", `${flags}: one at a time, each with a state of its own`);
  }
  checkPair(options, "nats", "subject");
  checkPair(options, "kafka", "topic");
}

function checkPair(options: ChangesFlags, sink: "nats" | "kafka", name: "subject" | "topic"): void {
  if ((options[sink] === undefined) === (options[name] === undefined)) return;
  throw new Fault("E_USAGE", `--${sink} and --${name} belong together`);
}

function pathOf(options: ChangesFlags, from: string | undefined): string {
  const params = new URLSearchParams();
  if (from !== undefined) params.set("from", from);
  if (!options.follow) params.set("follow", "false");
  for (const name of ["predicate", "type", "namespace"] as const) {
    for (const one of options[name] ?? []) params.append(name, one);
  }
  return `/changes?${params.toString()}`;
}

async function openSink(options: ChangesFlags, state: SinkState | undefined): Promise<Sink> {
  const { out, post, nats, kafka } = options;
  const isReference = options.form === "dgraph";
  const asTold = ({ text }: FeedLine): readonly string[] => [text];
  const print = isReference ? printReferenceForm : asTold;
  const printLine = isReference ? printReferenceLine : asTold;
  if (out !== undefined) {
    const bytesMax =
      options.rotate === undefined ? Infinity : parseCount("--rotate", options.rotate);
    return await openFileSink({ file: out, bytesMax, mark: state?.mark, print: printLine });
  }
  if (post !== undefined) {
    if (!URL.canParse(post) || !/^https?:$/.test(new URL(post).protocol)) {
      throw new Fault("E_USAGE", `--post: "${post}" is no address of HTTP`);
    }
    return openPostSink({ url: post, secret: options.postSecret, clock: systemClock, print });
  }
  if (nats !== undefined) {
    const { subject = "", natsCreds: credsFile, ca } = options;
    const pem = ca === undefined ? undefined : readFileSync(ca, "utf8");
    return await openNatsSink({ url: nats, subject, credsFile, ca: pem, print });
  }
  if (kafka !== undefined) return await openKafka(options, kafka, print);
  return openTextSink(writeToStdout, printLine);
}

const loginKeys = ["mechanism", "user", "password"] as const;
const tlsKeys = ["ca", "cert", "key"] as const;

async function openKafka(
  { topic = "", kafkaLogin, kafkaTls }: ChangesFlags,
  brokers: string,
  print: (line: FeedLine) => readonly string[],
): Promise<Sink> {
  const login = parseSuperflag("kafka-login", kafkaLogin ?? "", loginKeys);
  const sasl = {
    mechanism: readMechanism("--kafka-login mechanism", login.get("mechanism") ?? "plain"),
    user: login.get("user") ?? "",
    password: login.get("password") ?? "",
  };
  if (login.size > 0 && (sasl.user === "" || sasl.password === "")) {
    throw new Fault("E_USAGE", '--kafka-login: a user and its password, as "user=…; password=…"');
  }
  return await openKafkaSink({
    brokers: brokers.split(",").map((one) => one.trim()),
    topic,
    sasl: login.size === 0 ? undefined : sasl,
    tls: kafkaTls === undefined ? undefined : readTlsFiles(kafkaTls),
    print,
  });
}

function readTlsFiles(text: string): Record<string, string> {
  if (text === "on") return {};
  const files: Record<string, string> = {};
  for (const [name, file] of parseSuperflag("kafka-tls", text, tlsKeys)) {
    try {
      files[name] = readFileSync(file, "utf8");
    } catch (error) {
      throw new Fault("E_USAGE", `--kafka-tls ${name}: ${file} cannot be read`, { cause: error });
    }
  }
  return files;
}

async function writeToStdout(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}
