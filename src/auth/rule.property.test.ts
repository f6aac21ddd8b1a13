/** Decisions over rules against the rules themselves, evaluated plainly. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "./rule.ts";
import type { Decision, Rule } from "./rule.ts";
import { runs } from "../../test/support/runs.ts";

/** Leaves: `g0` … are asked of a node, `u0` … cannot be asked, roles hold or do not. */
const leaf: fc.Arbitrary<Rule<string>> = fc.oneof(
  fc.boolean().map((value): Rule<string> => ({
    kind: "role",
    role: { variable: "R", holds: () => value },
  })),
  fc.constantFrom("g0", "g1", "g2", "u0", "u1").map((graph): Rule<string> => ({
    kind: "graph",
    graph,
  })),
);

const { rule } = fc.letrec<{ rule: Rule<string> }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    tie("rule").map((inner): Rule<string> => ({ kind: "not", rule: inner })),
    fc
      .tuple(
        fc.constantFrom("and" as const, "or" as const),
        fc.array(tie("rule"), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, rules]): Rule<string> => ({ kind, rules })),
  ),
}));

type Truth = ReadonlyMap<string, boolean>;

function evaluate(given: Rule<string> | Decision<string>, truth: Truth): boolean {
  if (typeof given === "boolean") return given;
  switch (given.kind) {
    case "and":
      return given.rules.every((inner) => evaluate(inner, truth));
    case "or":
      return given.rules.some((inner) => evaluate(inner, truth));
    case "not":
      return !evaluate(given.rule, truth);
    case "role":
      return given.role.holds("");
    case "graph":
      return truth.get(given.graph) === true;
  }
}

const truthOf = (graph: readonly boolean[], unknown: readonly boolean[]): Truth =>
  new Map([
    ...graph.map((value, i) => [`g${i}`, value] as const),
    ...unknown.map((value, i) => [`u${i}`, value] as const),
  ]);

test("a decision opens what the rule opens whatever the unknown may be, and nothing else", () => {
  const claims = new Map([["R", "x"]]);
  const three = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(rule, three, (given, graph) => {
      const decision = decide(given, claims, (name) => name.startsWith("g"));
      const isOpen = evaluate(decision, truthOf(graph, []));
      const worlds = [0, 1, 2, 3].map((bits) =>
        evaluate(given, truthOf(graph, [(bits & 1) > 0, bits > 1])),
      );
      const isAsked = !JSON.stringify(given).includes('"u');
      expect(isOpen).toBe(isAsked ? worlds[0] : isOpen && worlds.every(Boolean));
    }),
    { numRuns: runs(500) },
  );
});
