// Goal: `weft changes` brings every transaction to where it is told, at least once, a file with state exactly once, over
// ends of the command, of the other side and of the server; what it cannot do it says in one line.
import { spawn, type ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKafkaDouble } from "./kafka-double.ts";
import { openNatsDouble } from "./nats-double.ts";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  waitUntil,
  weft,
  type Ended,
} from "./server.ts";

let url = "";
let folder = "";

beforeAll(async () => {
  folder = makeFolder();
  const flags = ["--no-sample", "--workers", "1"];
  ({ url } = await startServer({ dataDir: join(folder, "data"), flags }));
  expect((await post(`${url}/alter`, "name: string .\nbig: int .")).text).toContain("Done");
  for (const name of ["a", "b", "c"]) await write(name);
}, 60_000);
afterAll(async () => {
  for (const one of running) one.kill("SIGKILL");
  await cleanUp();
});

const running = new Set<ChildProcess>();

async function write(name: string): Promise<void> {
  const answer = await post(
    `${url}/mutate?commitNow=true`,
    `{ set { _:a <name> "${name}" .\n_:a <big> "9007199254740993" . } }`,
    rdf,
  );
  expect(answer.text).toContain("Success");
}

const changes = (...args: string[]): Promise<Ended> => runWeft(["changes", "--to", url, ...args]);
const all = ["--from", "oldest", "--no-follow"];

/** One that follows, until it is ended. */
function start(...args: string[]): ChildProcess {
  const one = spawn(process.execPath, [weft, "changes", "--to", url, ...args], { stdio: "ignore" });
  running.add(one);
  return one;
}

const ended = (one: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => one.once("exit", (code) => resolve(code)));

interface ToldEvent {
  readonly kind: string;
  readonly position: string;
  readonly facts?: readonly { readonly predicate: string; readonly after: unknown }[];
}

const eventsOf = (text: string): ToldEvent[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ToldEvent);

const namesOf = (events: readonly ToldEvent[]): unknown[] =>
  events.flatMap(({ facts = [] }) =>
    facts.filter(({ predicate }) => predicate === "name").map(({ after }) => after),
  );

describe("standard output", () => {
  test("has the events, filtered by the server, and no heartbeats", async () => {
    const { stdout, code } = await changes(...all);
    expect(code).toBe(0);
    expect(namesOf(eventsOf(stdout))).toEqual(["a", "b", "c"]);
    expect(stdout).not.toContain("heartbeat");
    const filtered = eventsOf((await changes(...all, "--predicate", "name", "nosuch")).stdout);
    expect(
      filtered.every(({ facts = [] }) => facts.every((fact) => fact.predicate === "name")),
    ).toBe(true);
  });

  test("has them in the form of Dgraph, each fact a line, with all digits", async () => {
    const { stdout } = await changes(...all, "--form", "dgraph");
    expect(stdout).toMatch(
      /\{ "key": "0", "value": \{"meta":\{"commit_ts":\d+\},"type":"mutation","event":\{"operation":"set","uid":1,"attr":"name","value":"a","value_type":"string"\}\}\}\n/,
    );
    expect(stdout).toContain('"attr":"big","value":9007199254740993,"value_type":"int"');
    expect(stdout).not.toContain('"schema"');
  });
});

describe("a file", () => {
  test("with a state has each line once, whatever was left behind it", async () => {
    const file = join(folder, "once.ndjson");
    const state = join(folder, "once.state");
    const run = (): Promise<Ended> => changes(...all, "--out", file, "--state", state);
    expect((await run()).code).toBe(0);
    const before = readFileSync(file, "utf8");
    expect((await run()).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    // As a run leaves it that was killed between a line and the state.
    appendFileSync(file, '{"kind":"transaction","position":"to');
    await write("d");
    expect((await run()).code).toBe(0);
    const events = eventsOf(readFileSync(file, "utf8"));
    expect(namesOf(events)).toEqual(["a", "b", "c", "d"]);
    const { position } = JSON.parse(readFileSync(state, "utf8")) as ToldEvent;
    expect(position).toBe(events.at(-1)?.position);
  });

  test("is put aside when it is large, under the position of its last event", async () => {
    const file = join(folder, "aside.ndjson");
    const state = join(folder, "aside.state");
    await changes(...all, "--out", file, "--state", state, "--rotate", "100");
    const aside = readdirSync(folder).filter((name) => name.startsWith("aside.ndjson."));
    expect(aside.length).toBeGreaterThan(0);
    const parts = [...aside.toSorted(), "aside.ndjson"].map((name) =>
      readFileSync(join(folder, name), "utf8"),
    );
    expect(namesOf(eventsOf(parts.join("")))).toEqual(["a", "b", "c", "d"]);
    const last = eventsOf(readFileSync(join(folder, aside[0] ?? ""), "utf8")).at(-1);
    expect(aside[0]).toBe(`aside.ndjson.${last?.position ?? ""}`);
  });

  test("grows while it follows; kills lose and double nothing", async () => {
    const file = join(folder, "kills.ndjson");
    const state = join(folder, "kills.state");
    const text = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
    for (const name of ["k1", "k2", "k3"]) {
      const one = start("--from", "oldest", "--out", file, "--state", state);
      await write(name);
      await waitUntil(() => text().includes(`"${name}"`), 20_000);
      one.kill("SIGKILL");
      await ended(one);
    }
    const last = start("--from", "oldest", "--out", file, "--state", state);
    await write("end");
    await waitUntil(() => text().includes('"end"'), 20_000);
    last.kill("SIGTERM");
    expect(await ended(last)).toBe(0);
    const names = namesOf(eventsOf(text()));
    expect(names).toEqual(["a", "b", "c", "d", "k1", "k2", "k3", "end"]);
  }, 60_000);
});

describe("an HTTP endpoint", () => {
  async function openHook(answers: readonly number[]) {
    const heard: { readonly request: IncomingMessage; readonly body: string }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        response.statusCode = answers[heard.length] ?? 204;
        heard.push({ request, body });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { heard, url: `http://127.0.0.1:${port}/hook`, close: () => void server.close() };
  }

  test("gets them signed, again until it takes them", async () => {
    const hook = await openHook([503, 429]);
    const secret = join(folder, "hook.secret");
    writeFileSync(secret, "what both sides know\n");
    const { code, stderr } = await changes(
      ...all,
      "--post",
      hook.url,
      "--post-secret",
      `@${secret}`,
    );
    expect(code).toBe(0);
    expect(stderr).toContain("not delivered: it answers with status 503; trying again");
    const [first, second, third] = hook.heard;
    expect([second?.body, third?.body]).toEqual([first?.body, first?.body]);
    expect(namesOf(eventsOf(first?.body ?? "")).slice(0, 3)).toEqual(["a", "b", "c"]);
    const headers = third?.request.headers ?? {};
    const signed = `${String(headers["weft-timestamp"])}.${third?.body ?? ""}`;
    const expected = createHmac("sha256", "what both sides know").update(signed).digest("hex");
    expect(headers["weft-signature"]).toBe(`v1=${expected}`);
    expect(Number(headers["weft-timestamp"])).toBeGreaterThan(1_700_000_000);
    hook.close();
  });

  test("that refuses them for good, or sends them elsewhere, ends the command; nothing is kept as delivered", async () => {
    for (const status of [403, 302]) {
      const hook = await openHook([status]);
      const state = join(folder, `refused-${status}.state`);
      const { code, stderr } = await changes(...all, "--post", hook.url, "--state", state);
      expect([code, stderr]).toEqual([
        1,
        `weft: not delivered: it answers with status ${status}\n`,
      ]);
      expect(existsSync(state)).toBe(false);
      hook.close();
    }
  });
});

test("NATS: each event to the subject, again where the stream refuses, with ids that tell what came twice", async () => {
  const nats = await openNatsDouble(1);
  const run = (): Promise<Ended> =>
    changes(...all, "--nats", nats.url, "--subject", "weft.changes");
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([0, "weft: not delivered: the stream is busy; trying again\n"]);
  const events = nats.kept.map(({ text }) => JSON.parse(text) as ToldEvent);
  expect(namesOf(events).slice(0, 3)).toEqual(["a", "b", "c"]);
  expect(nats.kept.map(({ id }) => id)).toEqual(events.map(({ position }) => `${position}.0.0`));
  expect(new Set(nats.kept.map(({ subject }) => subject))).toEqual(new Set(["weft.changes"]));
  nats.close();
}, 30_000);

test("Kafka: each event to the topic, by namespace, again where the broker refuses", async () => {
  const kafka = await openKafkaDouble("weft", 3);
  const { code, stderr } = await changes(...all, "--kafka", kafka.broker, "--topic", "weft");
  expect(code).toBe(0);
  expect(stderr).toContain("trying again");
  const events = kafka.kept.map(({ value }) => JSON.parse(value) as ToldEvent);
  expect(namesOf(events).slice(0, 3)).toEqual(["a", "b", "c"]);
  expect(kafka.kept[0]).toMatchObject({
    key: "0",
    headers: { position: events[0]?.position, kind: events[0]?.kind },
  });
  kafka.close();
}, 30_000);

describe("in one line", () => {
  test.each<[string, string[], RegExp]>([
    ["two sinks", ["--out", "x", "--post", "http://x"], /--out and --post: one at a time/],
    ["a subject is missing", ["--nats", "nats://x"], /--nats and --subject belong together/],
    ["no address", ["--nats", "http://x", "--subject", "a"], /not of the form nats:\/\/HOST:PORT/],
    [
      "a mechanism",
      ["--kafka", "x:1", "--topic", "t", "--kafka-login", "mechanism=GSSAPI; user=a; password=b"],
      /one of PLAIN, SCRAM/,
    ],
    ["no hook", ["--post", "ftp://x"], /is no address of HTTP/],
    ["a position", ["--from", "nonsense"], /while parsing from/],
    ["another store", ["--from", "00000000-1"], /is of another store/],
    ["no server", ["--to", "http://127.0.0.1:1", "--no-follow"], /nothing listens there/],
  ])("%s", async (_, args, words) => {
    const { code, stderr } = await changes(...args);
    expect([1, 2]).toContain(code);
    expect(stderr.trim().split("\n").at(-1)).toMatch(words);
  });

  test.each(["[1, 2", "null", "[]", '{"position":7}'])("a state that is none: %s", async (text) => {
    const state = join(folder, "none.state");
    writeFileSync(state, text);
    const { code, stderr } = await changes("--state", state);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is no state of weft changes")]);
  });
});
