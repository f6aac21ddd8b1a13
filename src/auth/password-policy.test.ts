import { expect, test } from "vitest";
import { checkNewPassword } from "./password-policy.ts";

test("the reference's rule alone, unless a policy is set", () => {
  expect(() => checkNewPassword({ charactersMin: 0 }, "groot", "password")).not.toThrow();
});

test.each([
  ["short", "fewer than 10 characters"],
  ["grootgrootgroot", "the user's name"],
  ["aaaaaaaaaaaaaa", "fewer than four different characters"],
  ["Password123", "everybody guesses"],
])("%s is refused, and not told again", (password, reason) => {
  const check = (): void => checkNewPassword({ charactersMin: 10 }, "groot", password);
  expect(check).toThrow(reason);
  expect(check).not.toThrow(password);
});

test("others are taken, whatever their letters", () => {
  const policy = { charactersMin: 10 };
  for (const password of ["plum and pear", "раз два три", "password manager made this"]) {
    expect(() => checkNewPassword(policy, "groot", password)).not.toThrow();
  }
});
