// Goal: several machines over one log are one database: what one acknowledged every other reads, a transaction goes on
// wherever its requests arrive, and the end of a machine loses nothing and stops nobody for long.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { readIdentity } from "../../src/stores/place.ts";
import { putForeignRow } from "../support/machines.ts";
import { hasPostgres, startPostgresPair } from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import {
  openCluster,
  read,
  startCluster,
  statusOf,
  write,
  type TestCluster,
  type TestMachine,
} from "./machines.ts";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  roleOf,
  root,
  runWeft,
  startServer,
  waitUntil,
} from "./server.ts";
import { connectNewer } from "./subscriber.ts";

afterAll(cleanUp);

async function leaderOf(machines: readonly TestMachine[]): Promise<TestMachine> {
  let found: TestMachine | undefined;
  await waitUntil(async () => {
    for (const machine of machines) {
      if ((await statusOf(machine)).role === "leading") found = machine;
    }
    return found !== undefined;
  }, 15_000);
  return must(found, "one leads");
}

function others(machines: readonly TestMachine[], one: TestMachine): readonly TestMachine[] {
  return machines.filter((machine) => machine !== one);
}

describe("three machines", () => {
  let cluster: TestCluster;
  let leader: TestMachine;

  beforeAll(async () => {
    cluster = await startCluster(3);
    leader = await leaderOf(cluster.machines);
  }, 60_000);

  test("what one acknowledged, each reads at once", async () => {
    const { machines } = cluster;
    const schema = "count: int .\nname: string @index(exact) @upsert .";
    const [first] = machines;
    await post(`${must(first, "of three").server.url}/alter`, schema);
    for (let i = 0; i < 30; i++) {
      const writer = must(machines[i % 3], "of three");
      const told = await write(writer, `<0x100> <count> "${i}" .`);
      expect(told.json["data"]?.["code"]).toBe("Success");
      for (const machine of machines) {
        const answer = await read(machine, "{ q(func: uid(0x100)) { count } }");
        expect(answer["q"]).toEqual([{ count: i }]);
      }
    }
  });

  test("a transaction goes on at each machine, and is seen when it is committed", async () => {
    const [one, two, three] = cluster.machines.map(({ server }) => server.url);
    const begun = await post(`${one}/mutate`, '{ set { _:n <name> "Ada" . } }', rdf);
    const txn = begun.json["extensions"]?.["txn"];
    const startTs = String(txn?.["start_ts"]);
    const query = '{ q(func: eq(name, "Ada")) { name } }';
    const inside = await post(`${two}/query?startTs=${startTs}`, query);
    expect(inside.json["data"]).toEqual({ q: [{ name: "Ada" }] });
    const outside = await post(`${three}/query`, query);
    expect(outside.json["data"]).toEqual({ q: [] });
    const body = { keys: txn?.["keys"], preds: txn?.["preds"] };
    const committed = await post(`${three}/commit?startTs=${startTs}`, body);
    expect(committed.json["data"]?.["code"]).toBe("Success");
    for (const url of [one, two, three]) {
      expect((await post(`${url}/query`, query)).json["data"]).toEqual({ q: [{ name: "Ada" }] });
    }
  });

  test("two transactions on two machines conflict", async () => {
    const [one, two] = others(cluster.machines, leader).map(({ server }) => server.url);
    const begin = async (url: string | undefined): Promise<{ startTs: string; body: object }> => {
      const facts = '{ set { <0x200> <name> "either" . } }';
      const txn = (await post(`${url}/mutate`, facts, rdf)).json["extensions"]?.["txn"];
      return {
        startTs: String(txn?.["start_ts"]),
        body: { keys: txn?.["keys"], preds: txn?.["preds"] },
      };
    };
    const first = await begin(one);
    const second = await begin(two);
    const won = await post(`${one}/commit?startTs=${first.startTs}`, first.body);
    expect(won.json["data"]?.["code"]).toBe("Success");
    const lost = await post(`${two}/commit?startTs=${second.startTs}`, second.body);
    expect(lost.json["errors"]?.[0]?.["message"]).toEqual(
      expect.stringContaining("Transaction has been aborted. Please retry"),
    );
  });

  test("a GraphQL schema that one takes serves on all, with subscriptions", async () => {
    const [one, two] = others(cluster.machines, leader);
    const sdl = "type Ship @withSubscription { id: ID! name: String! @search(by: [hash]) }";
    const taken = await post(`${must(one, "of two").server.url}/admin/schema`, sdl, {
      "content-type": "text/plain",
    });
    expect(taken.json["data"]?.["code"]).toBe("Success");
    const watcher = await connectNewer(must(two, "of two").server.url);
    const subscription = "subscription { queryShip { name } }";
    const first = await watcher.ask({
      id: "1",
      type: "subscribe",
      payload: { query: subscription },
    });
    expect(first).toMatchObject({ payload: { data: { queryShip: [] } } });
    const query = 'mutation { addShip(input: [{ name: "Gannet" }]) { ship { name } } }';
    const added = await post(`${leader.server.url}/graphql`, { query });
    expect(added.json["data"]).toEqual({ addShip: { ship: [{ name: "Gannet" }] } });
    const next = await watcher.next();
    expect(next).toMatchObject({ payload: { data: { queryShip: [{ name: "Gannet" }] } } });
    watcher.socket.close();
  });

  test("uids are handed out once", async () => {
    const lists = await Promise.all(
      cluster.machines.map(async ({ server }) => {
        const { json } = await post(`${server.url}/assign?what=uids&num=500`, "");
        return [Number(json["startId"]), Number(json["endId"])] as const;
      }),
    );
    const sorted = lists.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
    const ends = [0, ...sorted.map(([, end]) => end)];
    for (const [i, [start]] of sorted.entries()) {
      expect(start).toBeGreaterThan(must(ends[i], "one more than starts"));
    }
    expect(sorted).toHaveLength(3);
  });

  test("each tells how it stands", async () => {
    for (const machine of cluster.machines) {
      const { stdout, code } = await runWeft(["cluster", "status", "--to", machine.server.url]);
      expect(code).toBe(0);
      expect(stdout).toContain(`leader: ${leader.name}; rows have format 5\n`);
      for (const { name } of cluster.machines)
        expect(stdout).toMatch(new RegExp(`^${name} +127`, "m"));
      const { json } = await get(`${machine.server.url}/health`);
      expect(json[0]?.["cluster"]).toMatchObject({ node: machine.name, leader: leader.name });
    }
    const [follower] = others(cluster.machines, leader);
    const refused = await runWeft([
      "cluster",
      "resign",
      "--to",
      must(follower, "of two").server.url,
    ]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`does not lead: ${leader.name} does`);
  });

  test("the lead is handed over without a failure", async () => {
    const before = leader;
    const reader = must(others(cluster.machines, before)[0], "of two");
    let isOver = false;
    const failures: unknown[] = [];
    let writes = 0;
    const reading = (async () => {
      while (!isOver)
        await read(reader, "{ q(func: has(name), first: 1) { uid } }").catch((e: unknown) =>
          failures.push(e),
        );
    })();
    const writing = (async () => {
      while (!isOver) {
        const told = await write(reader, '_:n <name> "handed over" .');
        if (told.json["errors"] === undefined) writes++;
        else failures.push(told.text);
      }
    })();
    const { stdout, code } = await runWeft(["cluster", "resign", "--to", before.server.url]);
    expect([code, stdout]).toEqual([0, `weft: ${before.name} has given the lead up\n`]);
    leader = await leaderOf(others(cluster.machines, before));
    const seen = writes;
    await waitUntil(() => writes > seen + 3, 10_000);
    isOver = true;
    await Promise.all([reading, writing]);
    expect(failures).toEqual([]);
  });

  test("the machine that leads is lost: what it acknowledged is there, and open transactions go on", async () => {
    const survivors = others(cluster.machines, leader);
    const [one, two] = survivors;
    const url = must(one, "of two").server.url;
    // The one that gave the lead up is back.
    await waitUntil(async () => {
      const roles = await Promise.all(
        survivors.map((one) => statusOf(one).then(({ role }) => role, String)),
      );
      return roles.every((role) => role === "following");
    }, 20_000);
    const begun = await post(`${url}/mutate`, '{ set { _:n <name> "outlives" . } }', rdf);
    expect(begun.text).toContain('"Success"');
    const txn = begun.json["extensions"]?.["txn"];
    for (let i = 0; i < 20; i++) await write(leader, `_:n <name> "kept ${i}" .`);
    for (const pid of leader.server.childPids()) process.kill(pid, "SIGKILL");
    leader.server.process.kill("SIGKILL");
    const body = { keys: txn?.["keys"], preds: txn?.["preds"] };
    const committed = await post(`${url}/commit?startTs=${String(txn?.["start_ts"])}`, body);
    expect(committed.text).toContain('"Success"');
    for (const machine of [must(one, "of two"), must(two, "of two")]) {
      const { q } = await read(machine, "{ q(func: has(name)) { name } }");
      const names = (q as unknown as { name: string }[]).map(({ name }) => name);
      expect(names.filter((name) => name.startsWith("kept "))).toHaveLength(20);
      expect(names.filter((name) => name === "outlives")).toHaveLength(1);
    }
    const lost = leader.name;
    leader = await leaderOf(survivors);
    const back = await cluster.start(lost);
    await waitUntil(async () => (await statusOf(back)).role === "following", 15_000);
    await write(back, '_:n <name> "is back" .');
    const query = '{ q(func: eq(name, "is back")) { name } }';
    expect((await read(leader, query))["q"]).toEqual([{ name: "is back" }]);
  }, 60_000);
});

test("what a client has seen it sees at each machine, when it says so", async () => {
  const { machines } = await startCluster(2, { settings: "reads=session" });
  const [one, two] = machines;
  const [a, b] = [must(one, "of two"), must(two, "of two")];
  for (let i = 0; i < 30; i++) {
    const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a];
    const told = await write(writer, `<0x1> <count> "${i}"^^<xs:int> .`);
    const seen = must(told.headers.get("x-weft-seen") ?? undefined, "answers name a commit");
    const headers = { "content-type": "application/dql", "x-weft-seen": seen };
    const answer = await post(
      `${reader.server.url}/query`,
      "{ q(func: uid(0x1)) { count } }",
      headers,
    );
    expect(answer.json["data"]?.["q"]).toEqual([{ count: i }]);
  }
  const odd = await post(`${a.server.url}/query`, "{ q(func: uid(0x1)) { count } }", {
    "content-type": "application/dql",
    "x-weft-seen": "yesterday",
  });
  expect(odd.text).toContain('X-Weft-Seen: \\"yesterday\\" is not a number');
}, 60_000);

test("a machine whose process stands still answers nothing that is stale", async () => {
  const { machines } = await startCluster(2, { settings: "lease=900ms; read-wait=1s" });
  const leader = await leaderOf(machines);
  const follower = must(others(machines, leader)[0], "of two");
  await write(leader, '<0x1> <tag> "before" .');
  const node = must(
    leader.server.childPids().find((pid) => roleOf(pid) === "node"),
    "a server has its node",
  );
  process.kill(node, "SIGSTOP");
  try {
    await waitUntil(async () => (await statusOf(follower)).role === "leading", 15_000);
    const told = await write(follower, '<0x1> <tag> "after" .');
    expect(told.json["errors"]).toBeUndefined();
    const stale = await post(`${leader.server.url}/query`, "{ q(func: uid(0x1)) { tag } }");
    expect(stale.text).toMatch(
      /the newest state of the machines cannot be known|store's writer does not answer/,
    );
  } finally {
    process.kill(node, "SIGCONT");
  }
  await waitUntil(async () => {
    const { json } = await post(`${leader.server.url}/query`, "{ q(func: uid(0x1)) { tag } }");
    return json["data"] !== undefined && JSON.stringify(json["data"]) === '{"q":[{"tag":"after"}]}';
  }, 15_000);
}, 60_000);

test("machines begin with the store of a server, and one that the log has left behind is made anew", async () => {
  const dir = join(makeFolder(), "a");
  const single = await startServer({ dataDir: dir });
  await post(`${single.url}/alter`, "name: string @index(exact) .");
  for (let i = 0; i < 5; i++) {
    await post(`${single.url}/mutate?commitNow=true`, `{ set { _:n <name> "old ${i}" . } }`, rdf);
  }
  await single.stop();
  const log = `dir:${join(makeFolder(), "log")}`;
  const begun = await runWeft(["cluster", "init", "--log", log, "--data", dir]);
  expect([begun.code, begun.stderr]).toEqual([0, ""]);
  expect((await runWeft(["cluster", "init", "--log", log])).stderr).toContain("begun already");
  const cluster = openCluster({ log, settings: "retain=1s; lease=900ms" });
  const first = await cluster.start("a", { dir });
  // Without a store of its own, from a log that does not tell of everything.
  const second = await cluster.start("b");
  const query = "{ q(func: has(name), orderasc: name) { name } }";
  const names = async (machine: TestMachine): Promise<unknown> => {
    const { q } = await read(machine, query);
    return (q as unknown as { name: string }[]).map(({ name }) => name);
  };
  const old = ["old 0", "old 1", "old 2", "old 3", "old 4"];
  expect(await names(second)).toEqual(old);
  await second.server.stop();
  const numbers = (): readonly number[] =>
    readdirSync(join(log.slice(4), "records"))
      .map((name) => Number.parseInt(name, 10))
      .toSorted((one, other) => one - other);
  const newest = must(numbers().at(-1), "the log holds records");
  for (let i = 0; i < 5; i++) await write(first, `_:n <name> "young ${i}" .`);
  // Nobody who is connected needs what is older than a second.
  await waitUntil(async () => {
    await write(first, '_:n <tag> "goes on" .');
    // One behind it, and the machine would need nothing else.
    return must(numbers()[0], "the newest stays") > newest + 1;
  }, 20_000);
  const back = await cluster.start("b");
  expect(back.server.output()).toContain("this machine is given a snapshot");
  const young = ["young 0", "young 1", "young 2", "young 3", "young 4"];
  expect(await names(back)).toEqual([...old, ...young]);
  await write(back, '_:n <name> "zuletzt" .');
  expect(await names(first)).toEqual([...old, ...young, "zuletzt"]);
  // Alone it would write what the others never see.
  await back.server.stop();
  const alone = ["serve", "--data", back.dir, "--http", "127.0.0.1:0", "--no-grpc"];
  expect((await runWeft(alone)).stderr).toContain("it is that of one of several machines");
  const left = await runWeft(["cluster", "leave", "--data", back.dir]);
  expect([left.code, left.stderr]).toEqual([0, ""]);
  const server = await startServer({ dataDir: back.dir });
  expect(await names({ name: "alone", dir: back.dir, server })).toEqual([
    ...old,
    ...young,
    "zuletzt",
  ]);
}, 60_000);

test("what is wrong in the settings takes one line; a stranger is not let in", async () => {
  const serve = async (cluster: string): Promise<string> => {
    const args = ["serve", "--data", join(makeFolder(), "x"), "--http", "127.0.0.1:0", "--cluster"];
    const { code, stderr } = await runWeft([...args, cluster]);
    expect([1, 2]).toContain(code);
    return stderr;
  };
  const { log, tls, machines } = await startCluster(1);
  const port = await findFreePort();
  const here = `address=127.0.0.1:${port}; node=x`;
  expect(await serve(`${here}; ${tls}`)).toBe(
    "weft: --cluster: log is missing, as log=postgres://weft@db:5432/weft\n",
  );
  expect(await serve(`log=redis://x; ${here}; ${tls}`)).toMatch(
    /^weft: --cluster log: "redis:.*is no log/,
  );
  expect(await serve(`log=${log}; ${here}; ca=/none; cert=/none; key=/none`)).toBe(
    "weft: --cluster ca: /none cannot be read\n",
  );
  const pem = (name: string): string => join(root, "test", "certificates", name);
  expect(await serve(`log=${log}; node=x; address=10.1.2.3:${port}; ${tls}`)).toMatch(
    /^weft: --cluster cert: \S+ does not name 10\.1\.2\.3, by which the others reach this machine \(address\)\n$/,
  );
  const wrongKey = `ca=${pem("cluster-authority.pem")}; cert=${pem("cluster-node.pem")}; key=${pem("client.key")}`;
  expect(await serve(`log=${log}; ${here}; ${wrongKey}`)).toMatch(
    /^weft: --cluster key: \S+ is not the key of \S+\n$/,
  );
  const swapped = `ca=${pem("cluster-authority.pem")}; cert=${pem("cluster-node.key")}; key=${pem("cluster-node.pem")}`;
  expect(await serve(`log=${log}; ${here}; ${swapped}`)).toMatch(
    /^weft: --cluster cert: \S+ holds no certificate\n$/,
  );
  const wrongCa = `ca=${pem("client.pem")}; cert=${pem("cluster-node.pem")}; key=${pem("cluster-node.key")}`;
  expect(await serve(`log=${log}; ${here}; ${wrongCa}`)).toMatch(
    /^weft: --cluster ca: \S+ is not the authority that has signed \S+\n$/,
  );
  expect(await serve("")).toMatch(/^weft: --cluster: it is empty;.*\n$/);
  const empty = `dir:${join(makeFolder(), "empty")}`;
  expect(await serve(`log=${empty}; ${here}; ${tls}`)).toContain("nobody has begun the log yet");
  const [machine] = machines;
  const { address } = must((await statusOf(must(machine, "one"))).members[0], "it tells of itself");
  const [, peerPort] = address.split(":");
  const certificates = join(root, "test", "certificates");
  const stranger = connectTls({
    port: Number(peerPort),
    host: "127.0.0.1",
    ca: readFileSync(join(certificates, "cluster-authority.pem")),
    cert: readFileSync(join(certificates, "client.pem")),
    key: readFileSync(join(certificates, "client.key")),
  });
  const heard: Buffer[] = [];
  stranger.on("data", (piece: Buffer) => heard.push(piece));
  stranger.on("error", () => {});
  stranger.write("\0\0\0\0");
  await new Promise((resolve) => stranger.once("close", resolve));
  expect(heard).toEqual([]);
}, 60_000);

test("a machine whose rows are not the leader's goes out of service, and is made anew", async () => {
  const cluster = await startCluster(2, { settings: "digest=1s" });
  const leader = await leaderOf(cluster.machines);
  const other = must(others(cluster.machines, leader)[0], "of two");
  await write(leader, '<0x1> <tag> "as it was" .');
  await other.server.stop();
  await putForeignRow(other.dir, await storeIdOf(other.dir));
  const why = /its rows are not the leader's at record \d+ of the log/;
  // Where the rows are compared before its processes have begun, it does not start.
  const back = await cluster
    .start(other.name, { isAnyHealth: true })
    .catch((error: unknown) => String(error));
  if (typeof back === "string") expect(back).toMatch(why);
  else {
    await waitUntil(async () => {
      const health = await get(`${back.server.url}/health`);
      return health.status === 503 && why.test(health.text);
    }, 20_000);
    const told = await post(`${back.server.url}/query`, "{ q(func: uid(0x1)) { tag } }");
    expect(told.text).toMatch(/this machine is out of service: its rows are not the leader's/);
    await back.server.stop();
  }
  await waitUntil(
    () => leader.server.output().includes("the rows of another machine are not those of this one"),
    5000,
  );
  rmSync(other.dir, { recursive: true });
  await write(leader, '<0x1> <tag> "as it is" .');
  const anew = await cluster.start(other.name);
  expect((await read(anew, "{ q(func: uid(0x1)) { tag } }"))["q"]).toEqual([{ tag: "as it is" }]);
}, 60_000);

async function storeIdOf(dir: string): Promise<string> {
  return (await readIdentity(dir)).storeId;
}

describe.runIf(await hasPostgres())("over PostgreSQL with a synchronous standby", () => {
  test("its primary is lost: what was acknowledged is there, and all goes on by itself", async () => {
    const pair = await startPostgresPair();
    const proxy = await startTcpProxy(pair.primary.port);
    try {
      const log = pair.primary.url.replace(`:${pair.primary.port}/`, `:${proxy.port}/`);
      const { machines } = await startCluster(2, {
        log,
        // The standby that takes over has none of its own.
        settings: "unsafe-single=true",
      });
      const [one, two] = machines;
      const a = must(one, "of two");
      const b = must(two, "of two");
      const acknowledged: string[] = [];
      let isOver = false;
      const writing = [a, b].map(async (machine) => {
        for (let i = 0; !isOver; i++) {
          const name = `${machine.name} ${i}`;
          const told = await write(machine, `_:n <name> "${name}" .`).catch(() => undefined);
          if (told?.text.includes('"Success"') === true) acknowledged.push(name);
        }
      });
      await waitUntil(() => acknowledged.length > 30, 20_000);
      await pair.primary.kill("SIGKILL");
      await pair.standby.run("SELECT pg_promote()");
      proxy.target = pair.standby.port;
      proxy.cut();
      const before = acknowledged.length;
      await waitUntil(() => acknowledged.length > before + 30, 30_000);
      isOver = true;
      await Promise.all(writing);
      for (const machine of [a, b]) {
        const { q } = await read(machine, "{ q(func: has(name)) { name } }");
        const found = (q as unknown as { name: string }[]).map(({ name }) => name);
        expect(new Set(found).size).toBe(found.length);
        expect(acknowledged.filter((name) => !found.includes(name))).toEqual([]);
      }
    } finally {
      await proxy.close();
      await pair.close();
    }
  }, 120_000);
});
