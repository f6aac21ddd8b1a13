// Goal: several processes behave as one, and come back by themselves; with two workers, of which one writes, and with
// three beside a writer.
import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  listChildren,
  makeFolder,
  post,
  rdf,
  roleOf,
  runWeft,
  startServer,
  type TestServer,
  waitUntil,
} from "./server.ts";

let server: TestServer;

afterAll(cleanUp);

/** One connection each: a connection stays with the worker that it was given to. */
const doors = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));

interface Answer {
  readonly data: Record<string, unknown>;
  readonly errors: readonly { readonly message: string }[] | undefined;
  readonly txn: { readonly start_ts: number; readonly keys: string[]; readonly preds: string[] };
}

function ask(door: number, path: string, type: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const agent = doors[door % doors.length];
    const options = { agent, method: "POST", headers: { "content-type": type } };
    const asked = request(server.url + path, options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const json = JSON.parse(Buffer.concat(chunks).toString()) as {
          data: Record<string, unknown>;
          errors?: { message: string }[];
          extensions: { txn: Answer["txn"] };
        };
        resolve({ data: json.data, errors: json.errors, txn: json.extensions?.txn });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const query = (door: number, text: string, parameters = ""): Promise<Answer> =>
  ask(door, `/query${parameters}`, "application/dql", text);
const mutate = (door: number, facts: string, parameters = "?commitNow=true"): Promise<Answer> =>
  ask(door, `/mutate${parameters}`, "application/rdf", `{ set {\n${facts}\n} }`);

async function openServer(workers: string, dataDir = makeFolder()): Promise<void> {
  server = await startServer({ dataDir, flags: ["--workers", workers] });
}

describe.each([
  { workers: "2", roles: ["worker", "both"] },
  { workers: "3", roles: ["worker", "writer"] },
])("$workers workers", ({ workers, roles }) => {
  beforeAll(async () => {
    await openServer(workers);
    await post(`${server.url}/alter`, "name: string @index(exact) @upsert .\ncount: int .");
  });
  afterAll(async () => {
    await server.stop();
    for (const door of doors) door.destroy();
  });

  test("a write that one acknowledged is seen by the next read at any other", async () => {
    for (let i = 0; i < 100; i++) {
      await mutate(i, `_:n <name> "seen ${i}" .`);
      const answer = await query(i + 1, `{ q(func: eq(name, "seen ${i}")) { name } }`);
      expect(answer.data).toEqual({ q: [{ name: `seen ${i}` }] });
    }
  });

  test("a transaction goes on at any of them", async () => {
    for (let door = 0; door < doors.length; door++) {
      const begun = await mutate(door, `_:n <name> "t${door} one" .`, "");
      const startTs = begun.txn.start_ts;
      const second = await mutate(door + 1, `_:n <name> "t${door} two" .`, `?startTs=${startTs}`);
      expect(second.errors).toBeUndefined();
      for (let reader = 0; reader < doors.length; reader++) {
        const own = await query(
          reader,
          `{ q(func: eq(name, ["t${door} one", "t${door} two"])) { name } }`,
          `?startTs=${startTs}`,
        );
        expect(own).toMatchObject({ errors: undefined });
        expect(own.data["q"]).toHaveLength(2);
      }
      const keys = JSON.stringify({ keys: second.txn.keys, preds: second.txn.preds });
      const done = await ask(door + 3, `/commit?startTs=${startTs}`, "application/json", keys);
      expect(done.data).toEqual({ code: "Success", message: "Done" });
      const seen = await query(
        door + 2,
        `{ q(func: eq(name, ["t${door} one", "t${door} two"])) { name } }`,
      );
      expect(seen.data["q"]).toHaveLength(2);
    }
  });

  test("of two transactions that write the same, over different workers, one is aborted", async () => {
    const first = await mutate(0, '<0x5001> <name> "mine" .', "");
    const second = await mutate(1, '<0x5001> <name> "yours" .', "");
    const commit = (door: number, { txn }: Answer): Promise<Answer> =>
      ask(door, `/commit?startTs=${txn.start_ts}`, "application/json", JSON.stringify(txn));
    expect((await commit(2, first)).errors).toBeUndefined();
    expect((await commit(3, second)).errors?.[0]?.message).toContain(
      "Transaction has been aborted",
    );
  });

  test("counting up from everywhere at once loses nothing", async () => {
    await mutate(0, '<0x6001> <count> "0" .');
    const upsert =
      "upsert { query { q(func: uid(0x6001)) { c as count n as math(c + 1) } } mutation { set { uid(u) <count> val(n) . } } }".replace(
        "q(func",
        "u as var(func",
      );
    const body = upsert.replace("} } mutation", "} } mutation");
    const bump = async (door: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        const answer = await ask(door, "/mutate?commitNow=true", "application/rdf", body);
        if (answer.errors !== undefined) throw new Error(answer.errors[0]?.message);
      }
    };
    await Promise.all(doors.map((_, door) => bump(door)));
    const end = await query(1, "{ q(func: uid(0x6001)) { count } }");
    expect(end.data).toEqual({ q: [{ count: 40 }] });
  });

  test("consist of the processes that they should", () => {
    expect(server.childPids().map(roleOf).toSorted()).toEqual(
      workers === "2" ? ["both", "worker"] : ["worker", "worker", "worker", "writer"],
    );
  });

  test.each(roles)("a killed %s is back by itself, and nothing is lost", async (role) => {
    await mutate(0, `_:n <name> "before the ${role}" .`);
    const before = server.childPids();
    const victim = before.find((pid) => roleOf(pid) === role) ?? 0;
    expect(victim).toBeGreaterThan(0);
    process.kill(victim, "SIGKILL");
    await waitUntil(() => {
      const now = server.childPids();
      return now.length === before.length && !now.includes(victim);
    }, 10_000);
    await waitUntil(async () => {
      const answer = await post(
        `${server.url}/mutate?commitNow=true`,
        `{ set { _:n <name> "after the ${role}" . } }`,
        rdf,
      ).catch(() => undefined);
      return answer !== undefined && answer.json["errors"] === undefined;
    }, 20_000);
    const found = await post(
      `${server.url}/query`,
      `{ q(func: eq(name, "before the ${role}")) { name } }`,
    );
    expect(found.json["data"]).toEqual({ q: [{ name: `before the ${role}` }] });
  });

  test("a transaction whose worker died is aborted, not committed empty", async () => {
    const begun = await post(`${server.url}/mutate`, '{ set { _:n <name> "orphan" . } }', rdf);
    const { txn } = begun.json["extensions"] as unknown as { txn: Answer["txn"] };
    const answering = server.childPids().filter((pid) => roleOf(pid) !== "writer");
    for (const pid of answering) process.kill(pid, "SIGKILL");
    await waitUntil(() => {
      const now = server.childPids().filter((pid) => roleOf(pid) !== "writer");
      return now.length === answering.length && !now.some((pid) => answering.includes(pid));
    }, 20_000);
    const late = await post(`${server.url}/commit?startTs=${txn.start_ts}`, {
      keys: txn.keys,
      preds: txn.preds,
    });
    expect(late.text).toContain("Transaction has been aborted");
    const found = await post(`${server.url}/query`, '{ q(func: eq(name, "orphan")) { name } }');
    expect(found.json["data"]).toEqual({ q: [] });
  });

  test("when the supervisor is killed its children end, and the next start recovers unaided", async () => {
    const children = server.childPids();
    server.process.kill("SIGKILL");
    await waitUntil(
      () => children.every((pid) => !listChildren(1).includes(pid) || isGone(pid)),
      10_000,
    );
    await openServer(workers, server.dataDir);
    const found = await post(`${server.url}/query`, '{ q(func: eq(name, "seen 7")) { name } }');
    expect(found.json["data"]).toEqual({ q: [{ name: "seen 7" }] });
    const checked = await runWeft(["check", "--data", server.dataDir]);
    expect([checked.code, checked.stderr]).toEqual([0, ""]);
  });
});

test("weft check looks at the store of one worker that writes alone, and it goes on", async () => {
  await openServer("1");
  const write = (name: string) =>
    post(`${server.url}/mutate?commitNow=true`, `{ set { _:a <name> "${name}" . } }`, rdf);
  await write("before");
  const checked = await runWeft(["check", "--data", server.dataDir]);
  expect([checked.code, checked.stderr]).toEqual([0, ""]);
  expect(checked.stdout).toContain(" 0 problems");
  expect((await write("after")).json["errors"]).toBeUndefined();
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
