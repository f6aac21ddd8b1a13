/** `weft schema check`: every fault with its place, no server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, makeFolder, runWeft } from "./server.ts";

afterAll(cleanUp);

const folder = makeFolder();

async function check(sdl: string, flags: readonly string[] = []) {
  const file = join(folder, "schema.graphql");
  writeFileSync(file, sdl);
  const { code, stdout, stderr } = await runWeft(["schema", "check", file, ...flags]);
  return { code, lines: stdout.replaceAll(`${file}:`, "").split("\n").slice(0, -1), stderr };
}

test("faults of references, names and directives are told together", async () => {
  const sdl = `type A { id: ID! name: Strin @search(by: [nothing]) }
type B { z: C b: B @foo(x: 1) }
type A { q: Int @hasInverse(fields: "y") }
enum E { A A }`;
  expect(await check(sdl)).toEqual({
    code: 1,
    stderr: "",
    lines: [
      "1:24: error: Undefined type Strin.",
      "2:13: error: Undefined type C.",
      "2:21: error: Undefined directive foo.",
      "3:6: error: Cannot redeclare type A.",
      "3:18: error: fields is not supported as an argument for hasInverse directive.",
      "4:12: error: Enum value E.A can only be defined once.",
    ],
  });
});

test("so are faults of what the directives mean; syntax; lambda; rules as warnings or errors", async () => {
  const meant = await check(`type A { name: String @search(by: [hash, geo])
  w: [Float] @id a: A @hasInverse(field: nope) }`);
  expect(meant.lines.map((line) => line.split(": ", 3).slice(0, 3))).toMatchObject([
    ["1:24", "error", "Type A; Field name"],
    ["2:15", "error", "Type A; Field w"],
    ["2:24", "error", "Type A; Field a"],
  ]);
  expect((await check("type A { name String }")).lines).toEqual([
    "1:15: error: Expected :, found Name",
  ]);
  const lambda = "type A { id: ID! name: String! n: Int @lambda }";
  expect((await check(lambda)).code).toBe(0);
  expect((await check(lambda, ["--no-lambda"])).lines).toHaveLength(1);
  const rules = 'type A @auth(query: { rule: "{$U: {eq: \\"x\\"}}" }) { name: String! }';
  const warned = await check(rules);
  expect(warned.code).toBe(0);
  expect(warned.lines[0]).toMatch(/^ warning: /);
  expect((await check(rules, ["--strict-rules"])).code).toBe(1);
  const fine = await check("type A { name: String! }");
  expect([fine.code, fine.lines.at(-1)]).toEqual([0, expect.stringContaining("nothing is wrong")]);
});
