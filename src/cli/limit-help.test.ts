// Goal: the help names every key of --limit, and every key of the help is one.
import { expect, test } from "vitest";
import { parseSuperflag } from "./superflag.ts";
import { buildServeConfig } from "./config.ts";
import { limitHelp, limitKeys } from "./limit-help.ts";

function refuseKey(): string {
  try {
    buildServeConfig({
      encryption: "",
      data: "x",
      export: undefined,
      http: "127.0.0.1:1",
      grpc: undefined,
      tls: "",
      workers: "1",
      sample: false,
      graphql: "",
      security: "",
      anonymous: undefined,
      rate: "",
      audit: "",
      cdc: "",
      acl: "",
      limit: "no-such-key=1",
      store: "",
      cache: "",
      memory: undefined,
      lambda: undefined,
      lambdaUrl: undefined,
      lambdaLimit: "",
      backup: "",
      outgoing: "",
      drain: "1s",
      hang: "30s",
      log: "warn",
      metrics: "admin",
      otel: "",
      ui: "on",
    });
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

test("the help and the settings have the same keys", () => {
  const [, list = ""] = refuseKey().split("known are ");
  expect(list.split(", ").sort()).toEqual([...limitKeys].sort());
  for (const key of limitKeys) expect(limitHelp).toContain(`  ${key} `);
  expect(parseSuperflag("limit", "query_edge=5", limitKeys).get("query-edge")).toBe("5");
});
