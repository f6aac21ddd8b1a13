// Goal: @lambdaOnMutate: the lambda server is told of root mutations after they have committed, and of nothing else.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  sleep,
  startServer,
  type TestServer,
  type Told,
  waitUntil,
} from "./server.ts";

let lambda: Server;
let server: TestServer;
let told: unknown[] = [];
const answers: (() => void)[] = [];
let status: number | undefined = 200;

const sdl = `
  type Task @lambdaOnMutate(add: true, update: true, delete: true) { id: ID! title: String! @id size: Int parts: [Part] }
  type Part @lambdaOnMutate(add: true) { id: ID! no: Int }
  # Dgraph.Authorization {"VerificationKey":"0123456789012345678901234567890123456789","Header":"X-Auth","Namespace":"n","Algo":"HS256"}`;

beforeAll(async () => {
  lambda = createServer((req, res) => {
    let body = "";
    req.on("data", (part: Buffer) => (body += part.toString()));
    req.on("end", () => {
      told.push(JSON.parse(body));
      if (status === undefined) answers.push(() => res.end());
      else res.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => void lambda.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(lambda.address() as AddressInfo).port}/graphql-worker`;
  const flags = ["--no-sample", "--lambda-url", url, "--log", "info"];
  server = await startServer({ dataDir: join(makeFolder(), "data"), flags });
  const set = await post(`${server.url}/admin/schema`, sdl);
  expect(set.json["errors"]).toBeUndefined();
}, 60_000);

afterAll(async () => {
  lambda.closeAllConnections();
  lambda.close();
  await cleanUp();
});

async function ask(query: string, count: number): Promise<Told> {
  told = [];
  const answer = await post(`${server.url}/graphql`, { query });
  if (count === 0) await sleep(200);
  else await waitUntil(async () => told.length >= count, 5000);
  return answer;
}

const event = (operation: string, detail: object): object => ({
  resolver: "$webhook",
  authHeader: { key: "X-Auth", value: "" },
  event: {
    __typename: "Task",
    operation,
    commitTs: expect.any(Number) as number,
    [operation]: detail,
  },
});

test("added, updated and deleted nodes, and mutations that found none", async () => {
  const added = await ask(
    'mutation { addTask(input: [{title: "a", parts: [{no: 1}]}]) { task { id } } }',
    1,
  );
  const id: unknown = added.json["data"]!["addTask"]!["task"]![0]!["id"];
  const rootUIDs = [id];
  expect(told).toEqual([event("add", { rootUIDs, input: [{ parts: [{ no: 1 }], title: "a" }] })]);
  await ask(
    'mutation { updateTask(input: {filter: {title: {eq: "a"}}, set: {size: 2}}) { numUids } }',
    1,
  );
  expect(told).toEqual([event("update", { rootUIDs, setPatch: { size: 2 }, removePatch: null })]);
  await ask(
    'mutation { updateTask(input: {filter: {title: {eq: "b"}}, remove: {size: 2}}) { numUids } }',
    1,
  );
  expect(told).toEqual([
    event("update", { rootUIDs: null, setPatch: null, removePatch: { size: 2 } }),
  ]);
  await ask('mutation { deleteTask(filter: {title: {eq: "a"}}) { numUids } }', 1);
  expect(told).toEqual([event("delete", { rootUIDs })]);
}, 20_000);

test("nothing is told of a mutation that failed, or of one in DQL", async () => {
  await ask('mutation { addTask(input: [{title: "x"}, {title: "x"}]) { numUids } }', 0);
  await post(`${server.url}/mutate?commitNow=true`, '{ set { _:t <Task.title> "dql" . } }', {
    "content-type": "application/rdf",
  });
  await sleep(100);
  expect(told).toEqual([]);
});

test("a lambda server that rests holds no mutation up, and one that fails is in the log", async () => {
  status = undefined;
  const answer = await ask('mutation { addTask(input: [{title: "slow"}]) { numUids } }', 1);
  expect(answer.json["data"]).toEqual({ addTask: { numUids: 1 } });
  expect(answers).toHaveLength(1);
  for (const end of answers.splice(0)) end();
  status = 500;
  await ask('mutation { addTask(input: [{title: "bad"}]) { numUids } }', 1);
  await waitUntil(async () => server.output().includes("a webhook answered with an error"), 5000);
}, 20_000);
