// Goal: the wall clocks of machines may jump by hours, forward and back, apart from each other: nobody loses the lead by it,
// nothing stale is read, and no read fails.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { read, startCluster, statusOf, write, type TestMachine } from "./machines.ts";
import { cleanUp, get, makeFolder, root, sleep, waitUntil } from "./server.ts";

afterAll(cleanUp);

const hourMs = 3_600_000;
const preload = pathToFileURL(join(root, "test", "support", "moved-clock.mjs")).href;

/** Writes at one machine and reads at all, until it is ended. */
function startReaders(machines: readonly TestMachine[]) {
  const wrong: string[] = [];
  let isOver = false;
  let acknowledged = 0;
  const writing = (async () => {
    for (let i = 1; !isOver; i++) {
      const writer = must(machines[i % machines.length], "of all");
      const told = await write(writer, `<0x1> <count> "${i}"^^<xs:int> .`);
      if (told.json["errors"] === undefined) acknowledged = i;
      else wrong.push(told.text);
    }
  })();
  const reading = machines.map(async (machine) => {
    while (!isOver) {
      const least = acknowledged;
      try {
        const { q } = await read(machine, "{ q(func: uid(0x1)) { count } }");
        const found = (q as unknown as { count?: number }[])[0]?.count ?? 0;
        if (found < least) wrong.push(`${machine.name} reads ${found} behind ${least}`);
      } catch (error) {
        wrong.push(String(error));
      }
    }
  });
  return {
    written: () => acknowledged,
    async end(): Promise<readonly string[]> {
      isOver = true;
      await Promise.all([writing, ...reading]);
      return wrong;
    },
  };
}

test("clocks that jump by hours change nobody's lead, and make no read stale", async () => {
  const folder = makeFolder();
  const clockOf = (name: string): string => join(folder, `clock-${name}`);
  const move = (name: string, ms: number): void => writeFileSync(clockOf(name), String(ms));
  for (const name of ["a", "b"]) move(name, 0);
  const { machines } = await startCluster(2, {
    settings: "lease=6s",
    envOf: (name) => ({ NODE_OPTIONS: `--import=${preload}`, WEFT_TEST_CLOCK: clockOf(name) }),
  });
  await waitUntil(async () => {
    const roles = await Promise.all(machines.map(async (one) => (await statusOf(one)).role));
    return roles.toSorted().join(" ") === "following leading";
  }, 20_000);
  const before = await Promise.all(machines.map(statusOf));
  const leader = must(before.find(({ role }) => role === "leading")?.node, "one leads");
  const follower = leader === "a" ? "b" : "a";
  const readers = startReaders(machines);
  for (const [name, ms] of [
    [leader, 5 * hourMs],
    [follower, 9 * hourMs],
    [leader, -8 * hourMs],
    [follower, -30 * hourMs],
    [leader, 0],
  ] as const) {
    const seen = readers.written();
    move(name, ms);
    // The leader beats meanwhile, and the follower looks.
    await sleep(2200);
    await waitUntil(() => readers.written() > seen + 3, 10_000);
  }
  expect(await readers.end()).toEqual([]);
  const terms = (await Promise.all(machines.map(statusOf))).map(({ term }) => term);
  expect(terms).toEqual(before.map(({ term }) => term));
  // The jumps were heard.
  const seconds = await Promise.all(
    machines.map(async ({ server }) =>
      Number((await get(`${server.url}/health`)).json[0]?.["lastEcho"]),
    ),
  );
  expect(Math.abs(must(seconds[0], "of two") - must(seconds[1], "of two"))).toBeGreaterThan(
    100_000,
  );
}, 90_000);
