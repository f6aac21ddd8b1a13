import bcrypt from "bcrypt";
import { afterEach, expect, test, vi } from "vitest";
import type { Cell } from "../graph/reader.ts";
import type { CheckPasswordField } from "../plan/plan.ts";
import { systemClock } from "../base/clock.ts";
import { defaultLimits } from "../model/limits.ts";
import { RequestBudget } from "../model/request-budget.ts";
import { Fault } from "../model/fault.ts";
import { checkPasswords } from "./check-password.ts";
import type { Run } from "./run.ts";

const field = { kind: "checkpwd", password: 0 } as unknown as CheckPasswordField;
const hash = bcrypt.hashSync("secret1", 4);
const row = [{ value: { kind: "password", hash } }] as unknown as readonly Cell[];

afterEach(() => vi.restoreAllMocks());

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

function makeRun(password: string, check: () => undefined): Run {
  const limits = { ...defaultLimits, passwordChecksMax: 1000 };
  const budget = new RequestBudget({ clock: systemClock, limits });
  const run = { texts: [password], yielder: { check }, budget, limits, clock: systemClock };
  return run as unknown as Run;
}

test("each node's own password is compared; none, and one that is too short, are false", async () => {
  const other = [{ value: { kind: "password", hash: bcrypt.hashSync("another", 4) } }];
  const cells = [row, undefined, other as unknown as readonly Cell[], ...times(6, row)];
  const found = await checkPasswords(
    makeRun("secret1", () => undefined),
    field,
    cells,
  );
  expect(found).toEqual({
    kind: "computed",
    values: [true, false, false, ...times(6, true)].map((bool) => ({
      kind: "bool",
      bool,
    })),
  });
  const short = await checkPasswords(
    makeRun("short", () => undefined),
    field,
    [row],
  );
  expect(short).toEqual({ kind: "computed", values: [{ kind: "bool", bool: false }] });
});

test("a query that is over its time compares no more", async () => {
  const compare = vi.spyOn(bcrypt, "compare");
  const run = makeRun("secret1", () => {
    throw new Fault("E_DEADLINE", "context deadline exceeded");
  });
  await expect(checkPasswords(run, field, times(1000, row))).rejects.toThrow(
    "context deadline exceeded",
  );
  expect(compare.mock.calls.length).toBeLessThan(10);
});

test("a request that asks for too many is refused before any is compared, and over", async () => {
  const compare = vi.spyOn(bcrypt, "compare");
  const run = makeRun("secret1", () => undefined);
  const few = { ...run, limits: { ...run.limits, passwordChecksMax: 5 } };
  expect(await checkPasswords(few, field, times(4, row))).toMatchObject({ kind: "computed" });
  compare.mockClear();
  await expect(checkPasswords(few, field, times(2, row))).rejects.toThrow(
    "the request has more than 5 passwords compared (--limit password-checks)",
  );
  expect(compare).not.toHaveBeenCalled();
  expect(run.budget.spent?.code).toBe("E_LIMIT");
});
