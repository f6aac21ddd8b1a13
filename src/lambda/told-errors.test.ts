/** What callers and the log are told of the errors of scripts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  call,
  folder,
  logged,
  start,
  useLambdaServers,
  write,
} from "../../test/support/lambda-server.ts";
import type { LambdaServer } from "./server.ts";

useLambdaServers();

describe("what is told of an error", () => {
  const script = `interface Box { readonly n: number }
class Refused extends Error { readonly extensions = { code: "NOT_NOW", retry: 3 } }
self.addGraphQLResolvers({
  "T.odd": async ({ parent }: { parent: Box }) => {
    if (parent.n % 2 === 0) throw new Error(\`\${parent.n} is even\`);
    return parent.n;
  },
  "T.bug": ({ parent }: { parent: { deep?: Box } }) => parent.deep!.n,
  "Query.refused": () => { throw new Refused("not today") },
  "Query.coded": () => { throw Object.assign(new Error("taken"), { code: "TAKEN" }) },
  "Query.text": () => { throw "a text" },
  "Query.endless": () => { throw Object.assign(new Error("m".repeat(10_000)), { extensions: { blob: "x".repeat(10_000) } }) },
  "Query.bug": () => (undefined as any).x,
});
self.addMultiParentGraphQLResolvers({
  "T.list": ({ parents }: { parents: Box[] }) => parents.map(({ n }) => (n === 2 ? new Error("two") : n)),
});
declare const self: any;`;
  const partial = { "x-weft-partial": "1" };
  const errorOf = async (server: LambdaServer, resolver: string): Promise<unknown> => {
    const { text } = await call(server, { resolver, parents: null, args: {} });
    return text.startsWith("{") ? (JSON.parse(text) as { errors: unknown[] }).errors[0] : text;
  };

  test("its own message with a code, and nothing of the language's errors", async () => {
    const server = await start(write(script, "ts"));
    expect(await errorOf(server, "Query.refused")).toEqual({
      message: "not today",
      extensions: { code: "NOT_NOW", retry: 3 },
    });
    expect(await errorOf(server, "Query.coded")).toEqual({
      message: "taken",
      extensions: { code: "TAKEN" },
    });
    expect(await errorOf(server, "Query.text")).toMatchObject({ message: "a text" });
    expect(await errorOf(server, "Query.bug")).toBe("");
    expect(await errorOf(server, "Query.endless")).toEqual({
      message: "m".repeat(4000),
      extensions: { code: "RESOLVER_ERROR" },
    });
  });

  test("all of them, or none", async () => {
    const all = await start(write(script, "ts"), {
      options: { shows: "all", tracesConsole: false },
    });
    expect(await errorOf(all, "Query.bug")).toMatchObject({
      message: "Cannot read properties of undefined (reading 'x')",
    });
    const none = await start(write(script, "ts"), {
      options: { shows: "none", tracesConsole: false },
    });
    expect(await errorOf(none, "Query.refused")).toBe("");
  });

  test("one parent's failure is its own for callers that say so, and the whole call's for others", async () => {
    const server = await start(write(script, "ts"));
    const body = { resolver: "T.odd", parents: [{ n: 1 }, { n: 2 }, { n: 3 }] };
    expect(JSON.parse((await call(server, body, partial)).text)).toEqual({
      data: [1, null, 3],
      errors: [
        {
          index: 1,
          status: 500,
          message: "2 is even",
          extensions: { code: "RESOLVER_ERROR" },
        },
      ],
      more: 0,
    });
    expect(await call(server, body)).toMatchObject({ status: 500 });
    const listed = await call(server, { ...body, resolver: "T.list" }, partial);
    expect(JSON.parse(listed.text)).toMatchObject({ data: [1, null, 3], errors: [{ index: 1 }] });
    const bug = await call(server, { ...body, resolver: "T.bug" }, partial);
    expect(JSON.parse(bug.text)).toMatchObject({ errors: [{ index: 0, status: 400 }, {}, {}] });
    expect(bug.text).not.toContain("Cannot read");
  });

  test("of very many failures the first are told, and how many there are besides", async () => {
    const server = await start(write(script, "ts"));
    const parents = Array.from({ length: 1000 }, () => ({ n: 2 }));
    const { text } = await call(server, { resolver: "T.odd", parents }, partial);
    const { errors, more } = JSON.parse(text) as { errors: unknown[]; more: number };
    expect([errors.length, more]).toEqual([100, 900]);
    expect(logged).toHaveLength(1);
  });

  test("values are printed as everywhere, and are what they were", async () => {
    const printing = `self.addGraphQLResolvers({
  "Query.print": ({ args }) => {
    const frozen = Object.freeze([1]);
    const values = [args.list, { error: new TypeError("bad"), list: [[1], new Set([2])] }, /a+/, new Date(0)];
    console.log(...values);
    console.log("%O of %s", new Map([["a", [1]]]), "x", new Uint8Array([1, 2]), Promise.resolve(1), frozen);
    console.log(new Proxy([1], {}), Object.create(null), new (class Cat { lives = 9 })(), new Error("alone"));
    return values.some((one) => Object.hasOwn(one, "constructor")) || Object.hasOwn(values[1].error, "constructor");
  },
});
declare const self: any;`;
    const server = await start(write(printing, "ts"));
    const answer = await call(server, {
      resolver: "Query.print",
      parents: null,
      args: { list: ["0x5"] },
    });
    expect(answer.text).toBe("false");
    const [first, second, third] = (logged as [string, { line: string }][]).map(
      ([, { line }]) => line,
    );
    expect(first).toMatch(
      /^\[ '0x5' \] \{\n {2}error: TypeError: bad\n {6}at [\s\S]*,\n {2}list: \[ \[ 1 \], Set\(1\) \{ 2 \} \]\n\} \/a\+\/ 1970-01-01T00:00:00.000Z$/,
    );
    expect(second).toMatch(
      /^Map\(1\) \{ 'a' => \[ 1 \] \} of x Uint8Array\(2\) \[ 1, 2 \] Promise \{ 1 \} /,
    );
    expect(third).toMatch(
      /^\[ 1 \] \[Object: null prototype\] \{\} Cat \{ lives: 9 \} Error: alone\n {4}at /,
    );
  });

  test("the log has places of the files that were written, not of what runs", async () => {
    writeFileSync(
      join(folder, "deep.ts"),
      `// One line more.\nexport function deep(box?: { n: number }): number {\n  return box!.n;\n}\n`,
    );
    const file = write(
      `import { deep } from "./deep.ts";\n\nself.addGraphQLResolvers({\n  "Query.bug": () => {\n    console.log("before");\n    return deep();\n  },\n});\ndeclare const self: any;`,
      "ts",
    );
    const server = await start(file, { options: { shows: "own", tracesConsole: true } });
    await call(server, { resolver: "Query.bug", parents: null, args: {} });
    const [printed, fault] = logged as [string, Record<string, unknown>][];
    expect(printed?.[1]["line"]).toBe("before");
    expect(printed?.[1]["at"]).toMatch(/script\d+\.ts:5$/);
    expect(fault?.[1]["fault"]).toMatch(/deep\.ts:3:15\)\n.*script\d+\.ts:6:12\)/);
    expect(fault?.[1]).toMatchObject({ line: 3, column: 15, source: "  return box!.n;" });
  });
});
