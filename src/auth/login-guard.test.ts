/** Guesses are slowed down, whoever makes them and however many at once; users are not locked out by others. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { LoginGuard, LoginWait } from "./login-guard.ts";

let now = 0;
const clock: Clock = { nowMs: () => now, tickMs: () => now };
let guard: LoginGuard;

beforeEach(() => {
  now = 1_000_000;
  guard = new LoginGuard(clock, { attempts: 3, lockMs: 60_000 });
});

/** "in", "out", or how many seconds to wait. */
async function tryIn(user: string, address: string, isRight: boolean): Promise<string | number> {
  try {
    const attempt = { user, namespace: 0, address };
    const found = await guard.run(attempt, () => Promise.resolve(isRight ? "user" : undefined));
    return found === undefined ? "out" : "in";
  } catch (error) {
    if (error instanceof LoginWait) return error.seconds;
    throw error;
  }
}

describe("a user at an address", () => {
  test("waits twice as long with each failure, up to a bound", async () => {
    expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    const waits: unknown[] = [];
    for (let i = 0; i < 9; i++) {
      const wait = await tryIn("ann", "9.9.9.9", true);
      waits.push(wait);
      now += Number(wait) * 1000;
      expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test("begins anew after a success, and after a long time", async () => {
    await tryIn("ann", "9.9.9.9", false);
    await tryIn("ann", "9.9.9.9", false);
    expect(await tryIn("ann", "9.9.9.9", true)).toBe("in");
    for (let i = 0; i < 3; i++) expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    expect(await tryIn("ann", "9.9.9.9", true)).toBe(1);
    now += 61_000;
    expect(await tryIn("ann", "9.9.9.9", false)).toBe("out");
    expect(await tryIn("ann", "9.9.9.9", true)).toBe("in");
  });

  test("many at once are no way round", async () => {
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const attempt = { user: "ann", namespace: 0, address: "9.9.9.9" };
    const slow = (): Promise<undefined> => held.then(() => undefined);
    const runs = [1, 2, 3].map(() => guard.run(attempt, slow));
    await expect(guard.run(attempt, slow)).rejects.toThrow("too many logins have failed");
    finish();
    expect(await Promise.all(runs)).toEqual([undefined, undefined, undefined]);
  });

  test("what fails by no fault of the sender is not counted", async () => {
    const attempt = { user: "ann", namespace: 0, address: "9.9.9.9" };
    for (let i = 0; i < 9; i++) {
      const broken = guard.run(attempt, () => Promise.reject(new Error("the store is full")));
      await expect(broken).rejects.toThrow("the store is full");
    }
    expect(await tryIn("ann", "9.9.9.9", true)).toBe("in");
  });
});

describe("a user from everywhere", () => {
  test("is guarded against guesses from many addresses, but gets in where it was before", async () => {
    expect(await tryIn("ann", "1.1.1.1", true)).toBe("in");
    for (let i = 0; i < 30; i++) expect(await tryIn("ann", `2.0.0.${i}`, false)).toBe("out");
    expect(await tryIn("ann", "3.3.3.3", true)).toBe(1);
    expect(await tryIn("ann", "1.1.1.1", true)).toBe("in");
    expect(await tryIn("bob", "3.3.3.3", true)).toBe("in");
  });
});

describe("an address", () => {
  test("that tries many users waits; a network of IPv6 is one, this machine none", async () => {
    for (let i = 0; i < 30; i++) {
      expect(await tryIn(`user${i}`, `2001:db8:1:2::${i}`, false)).toBe("out");
      expect(await tryIn(`user${i}`, "127.0.0.1", false)).toBe("out");
    }
    expect(await tryIn("ann", "2001:db8:1:2:ffff::9", true)).toBe(1);
    expect(await tryIn("ann", "2001:db8:1:3::9", true)).toBe("in");
    expect(await tryIn("bob", "127.0.0.1", true)).toBe("in");
  });
});

test("so many are under way, and no more", async () => {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const runs = Array.from({ length: 32 }, (_, i) =>
    guard.run({ user: `u${i}`, namespace: 0, address: `8.8.0.${i}` }, () => held.then(() => "in")),
  );
  await expect(
    guard.run({ user: "ann", namespace: 0, address: "9.9.9.9" }, () => Promise.resolve("in")),
  ).rejects.toThrow("32 logins are under way");
  finish();
  expect(new Set(await Promise.all(runs))).toEqual(new Set(["in"]));
});
