// Goal: /health tells of builds and vector indexes, and names their predicates to those alone who may know them.
import { expect, test } from "vitest";
import type { Principal } from "../model/principal.ts";
import { type NodeHealth, printHealth } from "./node-facts.ts";

const health: NodeHealth = {
  instance: "alpha",
  address: "127.0.0.1:8080",
  status: "healthy",
  group: "1",
  version: "0",
  uptime: 1,
  lastEcho: 1,
  ongoing: ["opIndexing"],
  indexing: ["0-name"],
  ee_features: [],
  maxUid: 0,
  progress: [{ namespace: 0, predicate: "name", index: "term", done: 3, total: 7 }],
  vectors: [
    { namespace: 0, predicate: "v", state: "full", nodes: 0, unlinked: 0, bytes: 0 },
    { namespace: 5, predicate: "v", state: "serving", nodes: 9, unlinked: 2, bytes: 700 },
  ],
};

function read(principal: Pick<Principal, "namespace" | "isGuardian">): unknown {
  return (JSON.parse(printHealth(health, principal as Principal)) as unknown[])[0];
}

test("a guardian of namespace 0 knows all", () => {
  expect(read({ namespace: 0, isGuardian: true })).toMatchObject({
    indexing: ["0-name"],
    indexing_progress: [{ predicate: "0-name", index: "term", done: 3, total: 7 }],
    vector_indexes: [
      { predicate: "0-v", state: "full", nodes: 0, unlinked: 0, bytes: 0 },
      { predicate: "5-v", state: "serving", nodes: 9, unlinked: 2, bytes: 700 },
    ],
  });
});

test("a guardian of another namespace knows what is there", () => {
  const told = read({ namespace: 5, isGuardian: true });
  expect(told).toMatchObject({ vector_indexes: [{ predicate: "5-v", state: "serving" }] });
  expect(told).not.toHaveProperty("indexing");
});

test("others know of none", () => {
  const told = read({ namespace: 0, isGuardian: false });
  expect(told).not.toHaveProperty("vector_indexes");
  expect(told).not.toHaveProperty("indexing_progress");
});
