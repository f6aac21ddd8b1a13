/** Faults that are planted between the clients and a sound server must be found. */
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { cleanUp, makeFolder, startServer, type TestServer } from "../e2e/server.ts";
import { registers } from "./registers.ts";
import { listAppend, prepareAll, type Workload } from "./workloads.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] });
  await prepareAll(server.url, []);
});

afterAll(cleanUp);

/** What becomes of a request: answered with what it gives, or passed on where that is undefined. */
type Fault = (
  path: string,
  body: string,
  pass: () => Promise<string>,
) => Promise<string> | undefined;

const faults: Record<string, () => Fault> = {
  "a lost write": () => {
    let count = 0;
    return (path) => {
      if (!path.startsWith("/commit") || ++count % 3 !== 0) return undefined;
      return Promise.resolve(
        '{"data":{"code":"Success","message":"Done"},"extensions":{"txn":{}}}',
      );
    };
  },
  "a stale read": () => {
    let count = 0;
    const before = new Map<string, string>();
    return (path, body, pass) => {
      if (path !== "/query") return undefined;
      const known = before.get(body);
      if (known !== undefined && ++count % 5 === 0) return Promise.resolve(known);
      return pass().then((answer) => {
        if (known === undefined && answer.includes("iso.list")) before.set(body, answer);
        return answer;
      });
    };
  },
  // Two clients get one start time: what a slot with two owners does.
  "a shared slot": () => {
    let last: string | undefined;
    let count = 0;
    return (path, _body, pass) => {
      if (path !== "/query") return undefined;
      return pass().then((answer) => {
        const own = /"start_ts":(\d+)/.exec(answer)?.[1];
        const shared = ++count % 4 === 0 ? last : undefined;
        last = own;
        return shared === undefined
          ? answer
          : answer.replace(`"start_ts":${own}`, `"start_ts":${shared}`);
      });
    };
  },
};

/** The change is made upon the state of its commit, not upon the one that was read. */
function forgetStart(): Fault {
  return (path, body) => {
    if (!path.includes("commitNow=true")) return undefined;
    return passOn(path.replace(/startTs=\d+&/, ""), "application/rdf", body);
  };
}

/** Of a transaction that reads twice, the second time shows another state. */
function readLater(): Fault {
  return (path, body) =>
    path.startsWith("/query?startTs=") ? passOn("/query", "application/dql", body) : undefined;
}

describe("planted between", () => {
  for (const [name, fault] of Object.entries({
    "a lost update": forgetStart,
    "a later read": readLater,
  })) {
    test(`${name} of registers is found`, async () => {
      const wrong = await play(fault(), 25, registers());
      expect(wrong.join("\n")).toMatch(/G-single|contradiction|lost|own/);
    });
  }

  test("nothing is found of registers where nothing is planted", async () => {
    let count = 0;
    const sound: Fault = (path, _body, pass) =>
      path.includes("commitNow") && ++count > 0 ? pass() : undefined;
    expect(await play(sound, 60, registers())).toEqual([]);
  });

  for (const [name, makeFault] of Object.entries(faults)) {
    test(`${name} is found`, async () => {
      // Whether somebody is there to see it depends on who meets whom: on a busy machine a round may pass without.
      let wrong: readonly string[] = [];
      for (let round = 0; round < 5 && wrong.length === 0; round++) {
        wrong = await play(makeFault(), name === "a lost write" ? 20 : 150);
      }
      expect(wrong.length).toBeGreaterThan(0);
    });
  }

  test("nothing is found where nothing is planted", async () => {
    let count = 0;
    const wrong = await play((path, _body, pass) => {
      return path === "/query" && ++count > 0 ? pass() : undefined;
    }, 100);
    expect(wrong).toEqual([]);
  });
});

/** Until the fault has had its say so often. */
async function play(
  fault: Fault,
  times: number,
  workload: Workload = listAppend(),
): Promise<readonly string[]> {
  let count = 0;
  const between = await openBetween((path, body, pass) => {
    const answer = fault(path, body, pass);
    if (answer !== undefined) count++;
    return answer;
  });
  const random = makeSeededRandom(3);
  const clients = Array.from({ length: 6 }, async () => {
    while (count < times) await workload.play(between.url, random);
  });
  await Promise.all(clients);
  const wrong = await workload.judge(server.url);
  between.close();
  return wrong;
}

async function openBetween(fault: Fault): Promise<{ url: string; close: () => void }> {
  const between = createServer((req, res) => void serve(req, res, fault));
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const { port } = between.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => between.close() };
}

async function serve(req: IncomingMessage, res: ServerResponse, fault: Fault): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const path = req.url ?? "/";
  const pass = (): Promise<string> => passOn(path, req.headers["content-type"] ?? "", body);
  res.end(await (fault(path, body, pass) ?? pass()));
}

function passOn(path: string, type: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": type };
    const onward = request(server.url + path, { method: "POST", headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve(Buffer.concat(chunks).toString()));
    });
    onward.on("error", reject);
    onward.end(body);
  });
}
