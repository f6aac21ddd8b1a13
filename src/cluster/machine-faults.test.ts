import { expect, test } from "vitest";
import { LogUnavailable } from "../log/replicated-log.ts";
import { causeOf } from "./machine-faults.ts";

test("what is behind an error is told once", () => {
  const cause = new Error("timeout expired");
  const unreached = new LogUnavailable("the log cannot be reached: timeout expired", { cause });
  expect(causeOf(unreached)).toBe("the log cannot be reached: timeout expired");
  expect(causeOf(new Error("not applied", { cause }))).toBe("not applied: timeout expired");
  expect(causeOf(new Error("alone"))).toBe("alone");
});
