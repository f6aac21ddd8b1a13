// Goal: who starts a tool by hand is told what it takes, and what was wrong.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

function run(tool: string, ...given: string[]): { code: number | null; out: string; err: string } {
  const file = join(import.meta.dirname, `${tool}.mjs`);
  const done = spawnSync(process.execPath, [file, ...given], { encoding: "utf8" });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

it("fuzz refuses kinds of requests that there are not", () => {
  const { code, err } = run("fuzz", "--only", "dql,sparql");
  expect([code, err]).toEqual([
    2,
    'fuzz: --only takes dql, rdf, json, alter, graphql, sdl, not "sparql"; see fuzz --help\n',
  ]);
});

describe("hostile", () => {
  it("lists its attacks, and refuses what is none", () => {
    const { code, out } = run("hostile", "--help");
    expect(code).toBe(0);
    expect(out).toContain("graphql-levels");
    expect(run("hostile", "--attack", "nosuch").err).toBe(
      'hostile: --attack: no "nosuch"; see hostile --help\n',
    );
    expect(run("hostile", "--client", "2").err).toBe(
      "hostile: Unknown option '--client'; see hostile --help\n",
    );
  });
});

describe.each(["crash", "fuzz", "isolation", "soak"])("%s", (tool) => {
  it("lists its options with their defaults", () => {
    const { code, out, err } = run(tool, "--help");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^\w+ \[options\]\n.+\n\n( {2}--\w+ +.+\n)+$/);
    expect(out).toMatch(/--seed .+ \(1\)\n/);
  });

  it("refuses what it does not know, and what is no number, in one line", () => {
    expect(run(tool, "--sed", "1")).toEqual({
      code: 2,
      out: "",
      err: `${tool}: Unknown option '--sed'; see ${tool} --help\n`,
    });
    expect(run(tool, "--seed", "one")).toEqual({
      code: 2,
      out: "",
      err: `${tool}: --seed takes a number, not "one"; see ${tool} --help\n`,
    });
  });
});
