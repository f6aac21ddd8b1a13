/**
 * Servers that leave one rule out are caught by the storms of the others. Each takes some of the suite's time, so that
 * they are played with `npm run nemesis` alone; the storm of rule-breaking logs and leaders without servers is in
 * `src/log/contract`. A process that is told of a slot which it has lost is no such server: what it commits is refused by
 * the store, and each start time is checked against the slots of its state.
 */
import { must } from "../../src/base/assert.ts";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp } from "../e2e/server.ts";
import { directoryEngine } from "./fleet.ts";
import { buildMutant, type Patch } from "./mutant.ts";
import { playStorm } from "./storm.ts";
import { machineStrikes } from "./strikes.ts";

afterAll(cleanUp);

interface Mutant {
  readonly patches: readonly Patch[];
  readonly strikes: readonly (keyof typeof machineStrikes)[];
}

const mutants: Readonly<Record<string, Mutant>> = {
  "local reads served as strict": {
    patches: [
      {
        file: "stores/lmdb/linked-store.ts",
        from: "return lead.isCertain() ? undefined : client.askCurrent();",
        to: "return undefined;",
      },
    ],
    strikes: ["slowPeers", "hushPeers"],
  },
  "answers not delayed until applied": {
    patches: [
      {
        file: "stores/lmdb/node-link.ts",
        from: "await this.#options.host.whenApplied(answer.seq);",
        to: "",
      },
      {
        file: "stores/lmdb/linked-store.ts",
        from: "return lead.isCertain() ? undefined : client.askCurrent();",
        to: "return undefined;",
      },
    ],
    strikes: ["slowPeers"],
  },
  "a leader that answers reads after its lease": {
    patches: [
      {
        file: "stores/lmdb/heard-lead.ts",
        from: "if (sharedTickMs() >= term.untilMs) return false;",
        to: "return true;",
      },
    ],
    strikes: ["stopLeader"],
  },
};

describe.runIf(process.env["WEFT_NEMESIS_SECONDS"] !== undefined)("is caught:", () => {
  test.each(Object.entries(mutants))(
    "%s",
    async (_name, { patches, strikes }) => {
      const program = await buildMutant(patches);
      const chosen = Object.fromEntries(
        strikes.map((one) => [one, must(machineStrikes[one], "it is one of the strikes")]),
      );
      let wrong: readonly string[] = [];
      for (let seed = 1; seed <= 5 && wrong.length === 0; seed++) {
        const settings = "lease=900ms; read-wait=2s";
        const storm = { engine: directoryEngine(), settings, seed, seconds: 15, program };
        wrong = await playStorm({ ...storm, strikes: chosen });
      }
      expect(wrong.length).toBeGreaterThan(0);
    },
    600_000,
  );
});
