// Goal: what a node says of its index builds names no predicate to those who may not know it.
import { expect, test } from "vitest";
import { anyVisitor, makeStranger } from "../model/visitor.ts";
import { type HealthElement, showNode } from "./node-fields.ts";

const node: HealthElement = {
  instance: "alpha",
  address: "127.0.0.1:8080",
  status: "healthy",
  group: "1",
  version: "0",
  uptime: 1,
  lastEcho: 1,
  ongoing: ["opIndexing"],
  indexing: ["0-name", "5-name", "50-name"],
  ee_features: [],
};

test.each([
  ["a guardian of namespace 0", anyVisitor, ["0-name", "5-name", "50-name"]],
  ["a guardian of 5", { ...anyVisitor, namespace: 5 }, ["5-name"]],
  ["a user", { ...anyVisitor, isGuardian: false }, []],
  ["a stranger", makeStranger("no accessJwt available"), []],
])("%s", (_who, visitor, names) => {
  expect(showNode(node, visitor)).toEqual({ ...node, indexing: names });
});
