// Goal: what a node says of its index builds names no predicate to those who may not know it.
import { expect, test } from "vitest";
import { anyPrincipal, makeStranger } from "../model/principal.ts";
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
  ["a guardian of namespace 0", anyPrincipal, ["0-name", "5-name", "50-name"]],
  ["a guardian of 5", { ...anyPrincipal, namespace: 5 }, ["5-name"]],
  ["a user", { ...anyPrincipal, isGuardian: false }, []],
  ["a stranger", makeStranger("no accessJwt available"), []],
])("%s", (_who, principal, names) => {
  expect(showNode(node, principal)).toEqual({ ...node, indexing: names });
});
