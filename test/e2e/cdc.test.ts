// Goal: a server that is started with the reference's change data capture sends each fact in its form, all of them over
// a restart, and says what it cannot do.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openKafkaDouble } from "./kafka-double.ts";
import { cleanUp, makeFolder, post, rdf, runWeft, startServer, waitUntil } from "./server.ts";

afterAll(cleanUp);

async function write(url: string, name: string): Promise<void> {
  const facts = `{ set { _:a <name> "${name}" .\n_:a <secret> "a password" . } }`;
  expect((await post(`${url}/mutate?commitNow=true`, facts, rdf)).text).toContain("Success");
}

test("to a file, over a restart", async () => {
  const folder = makeFolder();
  const dataDir = join(folder, "data");
  const flags = ["--no-sample", "--workers", "1", "--cdc", `file=${join(folder, "cdc")}`];
  const file = join(folder, "cdc", "sink.log");
  const text = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  for (const name of ["one", "two"]) {
    const server = await startServer({ dataDir, flags });
    if (name === "one") await post(`${server.url}/alter`, "name: string .\nsecret: password .");
    await write(server.url, name);
    await waitUntil(() => text().includes(`"${name}"`), 20_000);
    if (name === "two") {
      await post(`${server.url}/alter`, { drop_all: true });
      await waitUntil(() => text().includes('"drop"'), 20_000);
    }
    expect(await server.stop()).toBe(0);
  }
  const events = text()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { key: string; value: { event: object; type: string } });
  expect(events.map(({ key }) => key)).toEqual(["0", "0", "0"]);
  expect(events.map(({ value }) => value.event)).toEqual([
    {
      operation: "set",
      uid: expect.any(Number) as number,
      attr: "name",
      value: "one",
      value_type: "string",
    },
    {
      operation: "set",
      uid: expect.any(Number) as number,
      attr: "name",
      value: "two",
      value_type: "string",
    },
    { operation: "all", type: "", pred: "" },
  ]);
}, 60_000);

test("to Kafka, with users that log in", async () => {
  const folder = makeFolder();
  const kafka = await openKafkaDouble("dgraph-cdc");
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  const acl = `secret-file=${join(folder, "secret")}`;
  const flags = ["--no-sample", "--workers", "1", "--acl", acl, "--cdc", `kafka=${kafka.broker}`];
  const server = await startServer({ dataDir: join(folder, "data"), flags });
  const { json } = await post(`${server.url}/login`, { userid: "groot", password: "password" });
  const headers = { ...rdf, "x-dgraph-accesstoken": String(json["data"]?.["accessJWT"]) };
  await post(`${server.url}/mutate?commitNow=true`, '{ set { _:a <name> "three" . } }', headers);
  await waitUntil(() => kafka.kept.some(({ value }) => value.includes('"three"')), 20_000);
  expect(JSON.stringify(kafka.kept)).not.toContain("$2");
  expect(await server.stop()).toBe(0);
  kafka.close();
}, 60_000);

test.each([
  ["localhost:9092", /is not of the form key=value/],
  ["sasl-user=a", /name where to/],
  ["file=a; kafka=b:1", /file or kafka, not both/],
  ["kafka=a:1; sasl-mechanism=GSSAPI", /one of PLAIN, SCRAM-SHA-256/],
  ["topic=a", /unknown key "topic"/],
])("in one line: %s", async (settings, words) => {
  const { code, stderr } = await runWeft([
    "serve",
    "--data",
    join(makeFolder(), "d"),
    "--cdc",
    settings,
  ]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
});
