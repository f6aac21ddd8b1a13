/**
 * Clients work at three machines over one log while processes, servers and lines between them fail.
 * `npm run nemesis -- --minutes N` has more of it: WEFT_NEMESIS_SECONDS over each engine.
 */
import { afterAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { cleanUp } from "../e2e/server.ts";
import { hasPostgres } from "../support/postgres.ts";
import { directoryEngine, postgresEngine } from "./fleet.ts";
import { playStorm } from "./storm.ts";
import { failOver, machineStrikes, postgresStrikes } from "./strikes.ts";

const given = process.env["WEFT_NEMESIS_SECONDS"];
const seed = Number(process.env["WEFT_SEED"] ?? 1);
const settings = "lease=900ms; read-wait=2s";

afterAll(cleanUp);

/** `part`: of the time that is given. */
const secondsOf = (usual: number, part: number): number =>
  given === undefined ? usual : Number(given) * part;
const timeoutOf = (seconds: number): number => (seconds + 240) * 1000;
const overDirectory = secondsOf(20, 1 / 6);
const overPostgres = secondsOf(12, 5 / 6);

test(
  "a storm over a directory shows no anomaly",
  async () => {
    const storm = { engine: directoryEngine(), settings, seed, seconds: overDirectory };
    expect(await playStorm({ ...storm, strikes: machineStrikes })).toEqual([]);
  },
  timeoutOf(overDirectory),
);

// What `npm test` has of a primary that is lost under load is in `test/e2e/cluster.test.ts`.
describe.runIf(given !== undefined && (await hasPostgres()))(
  "over PostgreSQL with a synchronous standby",
  () => {
    test(
      "a storm and the loss of its primary show no anomaly",
      async () => {
        const engine = must(await postgresEngine(), "it is there");
        const storm = {
          engine,
          // The standby that takes over has none of its own.
          settings: `${settings}; unsafe-single=true`,
          seed,
          seconds: overPostgres,
          midway: failOver,
        };
        const strikes = given === undefined ? machineStrikes : postgresStrikes;
        expect(await playStorm({ ...storm, strikes })).toEqual([]);
      },
      timeoutOf(overPostgres),
    );
  },
);
