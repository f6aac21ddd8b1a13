/** Resolvers that run away are ended, told, and hurt nobody (reference/graphql 7.6). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { bundleScript } from "./bundle.ts";
import type { LambdaCode } from "./bundle.ts";
import { defaultLambdaLimits } from "./limits.ts";
import type { LambdaLimits } from "./limits.ts";
import { openPool } from "./pool.ts";
import type { LambdaPool } from "./pool.ts";

const script = `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
self.addGraphQLResolvers({
  "Query.echo": ({ args }) => args.n,
  "Query.spin": () => { for (;;) {} },
  "Query.later": async () => { await wait(1); for (;;) {} },
  "Query.slow": async () => { await wait(5000); return 1 },
  "Query.arrays": () => { const all = []; for (;;) all.push(new Array(100000).fill(1)) },
  "Query.buffers": async () => { const all = []; for (;;) { all.push(new Uint8Array(4e6).fill(1)); await null } },
  "Query.after": () => { Promise.resolve().then(() => wait(0)).then(() => {}); queueMicrotask(() => { for (;;) {} }); return 1 },
  "Query.ask": async ({ graphql }) => (await graphql("{ a }")).n,
});`;

const limits: LambdaLimits = {
  ...defaultLambdaLimits,
  blockMs: 200,
  wallMs: 1500,
  memoryBytesMax: 128 * 1024 * 1024,
  running: 2,
  processesMax: 8,
};
const folder = mkdtempSync(join(tmpdir(), "weft-pool-"));
let code: LambdaCode;
let pool: LambdaPool;

beforeAll(async () => {
  const file = join(folder, "script.js");
  writeFileSync(file, script);
  code = await bundleScript(file, limits.scriptBytesMax);
});
afterEach(() => pool.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(changed: Partial<LambdaLimits> = {}): Promise<void> {
  pool = await openPool({
    code,
    limits: { ...limits, ...changed },
    options: { shows: "own", tracesConsole: false },
    clock: systemClock,
    logger: silentLogger,
    // Stands for a database whose answer needs another resolver.
    answerAsk: async () => {
      const inner = await run("echo", 7);
      return {
        ok: true,
        status: 200,
        statusText: "",
        url: "",
        headers: [],
        body: `{"n":${inner.body}}`,
        isBase64: false,
      };
    },
  });
}

function run(name: string, n = 0): Promise<{ status: number; body: string }> {
  const resolver = `Query.${name}`;
  const body = JSON.stringify({ resolver, args: { n } });
  return pool.run({ resolver, body, leftMs: Infinity, isPartial: false });
}

describe("limits", () => {
  test.each([
    ["spin", /Query\.spin was ended: it did not pause for 200 ms\./],
    ["later", /Query\.later was ended: it did not pause for 200 ms\./],
    ["slow", /Query\.slow was ended: it took longer than 1\.5 s\./],
    [
      "arrays",
      /Query\.arrays was ended: it (?:used more than 128 MB of memory|ran out of memory)\./,
    ],
    ["buffers", /Query\.buffers was ended: it used more than 128 MB of memory\./],
  ])(
    "%s",
    async (name, message) => {
      await open(
        name === "arrays" || name === "buffers" ? { blockMs: 10_000, wallMs: 20_000 } : {},
      );
      const [bad, good] = await Promise.all([run(name), run("echo", 3)]);
      expect(bad.status).toBe(500);
      expect(bad.body).toMatch(message);
      expect(good).toEqual({ status: 200, body: "3" });
      expect(await run("echo", 4)).toEqual({ status: 200, body: "4" });
    },
    20_000,
  );

  test("what a call leaves running hurts no later one", async () => {
    await open();
    for (let i = 0; i < 3; i++) {
      await run("after");
      expect(await run("echo", i)).toEqual({ status: 200, body: String(i) });
    }
  }, 20_000);

  test("resolvers that wait for the database let others run", async () => {
    await open({ running: 1, processesMax: 6 });
    const answers = await Promise.all(Array.from({ length: 3 }, () => run("ask")));
    expect(answers.map((one) => one.body)).toEqual(["7", "7", "7"]);
  });

  test("calls that wait too long, and too many of them, are refused", async () => {
    await open({ running: 1, processesMax: 1, waitMs: 100, waitingMax: 2, blockMs: 1000 });
    const spinning = run("spin");
    const answers = await Promise.all([run("echo"), run("echo"), run("echo")]);
    expect(answers.map((one) => one.status)).toEqual([503, 503, 503]);
    expect(answers[2]?.body).toContain("too many calls are waiting");
    expect(answers[0]?.body).toContain("no process was free for 100 ms");
    expect((await spinning).status).toBe(500);
  });
});

test("100 runaway resolvers are ended while 1,000 ordinary calls all succeed", async () => {
  // An ordinary call must not be taken for a runaway because the machine had no core for it.
  await open({ blockMs: 250, running: 4, processesMax: 8, waitMs: 60_000 });
  const runaways = Array.from({ length: 100 }, () => run("spin"));
  const ordinary = Array.from({ length: 1000 }, (_, i) => run("echo", i));
  const good = await Promise.all(ordinary);
  expect(good.map((one) => one.body)).toEqual(Array.from({ length: 1000 }, (_, i) => String(i)));
  const bad = await Promise.all(runaways);
  expect(new Set(bad.map((one) => one.status))).toEqual(new Set([500]));
  expect(await run("echo", 1)).toEqual({ status: 200, body: "1" });
}, 180_000);
