import { expect, test } from "vitest";
import { makeTurns } from "./turns.ts";

test("few long requests run at a time, short ones are never held up, all of them end", async () => {
  const turns = makeTurns(2);
  const active = new Set<object>();
  let most = 0;
  const long = async (): Promise<void> => {
    const request = {};
    for (let slice = 0; slice < 30; slice++) {
      await turns.next(request);
      if (slice < 6) continue;
      active.add(request);
      most = Math.max(most, active.size);
    }
    active.delete(request);
    turns.end(request);
  };
  let ended = 0;
  const all = Array.from({ length: 9 }, () => long().then(() => ended++));
  const short = {};
  await turns.next(short);
  turns.end(short);
  expect(ended).toBe(0);
  await Promise.all(all);
  expect(ended).toBe(9);
  expect(most).toBe(2);
});
