import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { waitUntil } from "../../test/e2e/server.ts";
import { openQuestions } from "./dev-questions.ts";

function terminal(): NodeJS.ReadStream & PassThrough {
  return Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.ReadStream &
    PassThrough;
}

test("nobody is asked where there is no terminal", () =>
  expect(openQuestions(new PassThrough() as unknown as NodeJS.ReadStream)).toBeUndefined());

test("y is yes, once, to the question that was asked last; everything else is no", async () => {
  const input = terminal();
  const questions = openQuestions(input);
  const said: string[] = [];
  questions?.ask("first?", () => said.push("first"));
  questions?.ask("second?", () => said.push("second"));
  input.write("y\ny\n");
  await waitUntil(() => said.length > 0, 2000);
  questions?.ask("third?", () => said.push("third"));
  input.write("no\n");
  questions?.ask("fourth?", () => said.push("fourth"));
  questions?.withdraw();
  input.write("yes\n");
  questions?.ask("last?", () => said.push("last"));
  input.write("YES\n");
  await waitUntil(() => said.length > 1, 2000);
  expect(said).toEqual(["second", "last"]);
});
