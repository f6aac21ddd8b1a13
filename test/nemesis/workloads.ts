/** What is asked of several machines beside what one is asked. */
import type { Random } from "../../src/base/random.ts";
import { mutate, query } from "../isolation/client.ts";
import { pick, readNodes, type Workload } from "../isolation/workloads.ts";

/** What was added once is there once; what was not acknowledged, once or never. */
export function additions(): Workload {
  const acknowledged = new Set<string>();
  let next = 0;
  return {
    name: "additions",
    prepare: async () => {},
    async play(url) {
      const name = `n${next++}`;
      try {
        await mutate(url, `{ set { _:n <iso.once> "${name}" . } }`, "commitNow=true");
        acknowledged.add(name);
      } catch {
        // Perhaps it is there, perhaps not.
      }
    },
    async judge(url) {
      const { data } = await query(url, "{ q(func: has(iso.once)) { iso.once } }");
      const seen = new Map<string, number>();
      for (const row of data["q"] as readonly Record<string, string>[]) {
        seen.set(row["iso.once"]!, (seen.get(row["iso.once"]!) ?? 0) + 1);
      }
      const wrong: string[] = [];
      for (const [name, times] of seen)
        if (times > 1) wrong.push(`${name} is there ${times} times`);
      for (const name of acknowledged) if (!seen.has(name)) wrong.push(`${name} is lost`);
      return wrong;
    },
    count: () => acknowledged.size,
  };
}

/** Who wrote at one machine reads it at any other. */
export function ownWrites(): Workload {
  const first = 0xe000;
  const wrong: string[] = [];
  const busy = new Set<number>();
  const newest = new Map<number, number>();
  let value = 0;
  let done = 0;
  return {
    name: "own writes",
    prepare: async () => {},
    async play(url: string, random: Random) {
      const at = first + pick(random, 32);
      if (busy.has(at)) return;
      busy.add(at);
      const uid = `0x${at.toString(16)}`;
      const own = ++value;
      try {
        await mutate(url, `{ set { <${uid}> <iso.own> "${own}" . } }`, "commitNow=true");
        newest.set(at, own);
        for (let i = 0; i < 3; i++) {
          const { values } = await readNodes(url, [uid], "iso.own");
          const found = Number(values.get(uid));
          // An earlier one whose outcome is unknown may come late.
          if (found < own) wrong.push(`${uid} held ${found} behind ${own}`);
        }
        done++;
      } catch {
        // Nothing is known.
      } finally {
        busy.delete(at);
      }
    },
    async judge(url) {
      const uids = [...newest.keys()].map((at) => `0x${at.toString(16)}`);
      if (uids.length === 0) return wrong;
      const { values } = await readNodes(url, uids, "iso.own");
      for (const [at, own] of newest) {
        const found = Number(values.get(`0x${at.toString(16)}`));
        if (!(found >= own))
          wrong.push(`0x${at.toString(16)} holds ${found}, ${own} was acknowledged`);
      }
      return [...new Set(wrong)];
    },
    count: () => done,
  };
}
