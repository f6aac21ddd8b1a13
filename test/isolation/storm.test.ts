/**
 * Clients work while processes die. `npm run isolation -- --minutes N` has more of it: WEFT_ISOLATION_SECONDS in each
 * setting, and the storm in which the writing process dies again and again.
 */
import { afterAll, describe, expect, test } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { cleanUp, makeFolder, runWeft, startServer } from "../e2e/server.ts";
import { playStorm, strikeAny, strikeWriters } from "./storm.ts";
import { allWorkloads } from "./all-workloads.ts";
import { prepareAll } from "./workloads.ts";

const given = process.env["WEFT_ISOLATION_SECONDS"];
const seed = Number(process.env["WEFT_SEED"] ?? 1);

interface Storm {
  readonly workers: number;
  readonly seconds: number;
  readonly calmSeconds: number;
  readonly strike: typeof strikeAny;
}

const short: readonly Storm[] = [
  { workers: 2, seconds: 8, calmSeconds: 1, strike: strikeAny },
  { workers: 4, seconds: 5, calmSeconds: 1, strike: strikeAny },
  { workers: 1, seconds: 3, calmSeconds: 1, strike: strikeAny },
];

/** The blows of the last one take a minute or two. */
const storms: readonly Storm[] =
  given === undefined
    ? short
    : [
        ...short.map((storm) => ({ ...storm, seconds: Number(given) })),
        { workers: 2, seconds: 1, calmSeconds: 8, strike: strikeWriters },
      ];

afterAll(cleanUp);

describe("a storm of kills and stops", () => {
  for (const storm of storms) {
    const { workers, seconds, strike } = storm;
    test(
      `${strike.name} shows no anomaly with ${workers} workers`,
      async () => expect(await play(storm)).toEqual([]),
      (seconds + 240) * 1000,
    );
  }
});

/** Sentences about what is wrong. */
async function play(storm: Storm): Promise<readonly string[]> {
  const { workers } = storm;
  const dataDir = makeFolder();
  const server = await startServer({ dataDir, flags: ["--workers", String(workers)] });
  const { url } = server;
  const workloads = allWorkloads();
  await prepareAll(url, workloads);
  const random = makeSeededRandom(seed * 10 + workers);
  const wrong = await playStorm({ ...storm, server, url, workloads, clients: 15, random });
  await server.stop();
  const checked = await runWeft(["check", "--data", dataDir]);
  return checked.code === 0 ? wrong : [...wrong, checked.stdout + checked.stderr];
}
