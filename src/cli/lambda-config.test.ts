import { describe, expect, test } from "vitest";
import { defaultLambdaLimits } from "../lambda/limits.ts";
import { buildLambdaConfig, parseLambdaSettings } from "./lambda-config.ts";

const none = { flag: undefined, setting: undefined };

describe("settings of the lambda server", () => {
  test("keys, units, hosts", () => {
    const text =
      "time=2s; block=100ms; memory=64MB; script-bytes=1MB; running=3; fetch=a.example, *.b";
    const { limits, hosts } = parseLambdaSettings("limit", text);
    expect(limits).toEqual({
      ...defaultLambdaLimits,
      wallMs: 2000,
      blockMs: 100,
      memoryBytesMax: 64 * 1024 * 1024,
      scriptBytesMax: 1024 * 1024,
      running: 3,
    });
    expect(hosts).toEqual(["a.example", "*.b"]);
  });

  test.each([
    ["time=soon", /--limit time: "soon" is not a duration/],
    ["memory=much", /--limit memory: "much" is not a number/],
    ["speed=1", /--limit: unknown key "speed"/],
    ["running=4; processes=2", /running is at least 1, and processes at least that/],
  ])("%s", (text, message) => {
    expect(() => parseLambdaSettings("limit", text)).toThrow(message);
  });

  test("a script, or another server: by a flag or among the settings of GraphQL", () => {
    const url = "http://host:8686/worker/$ns";
    expect(buildLambdaConfig(undefined, { ...none, flag: url }, "").url).toBe(url);
    expect(buildLambdaConfig(undefined, { ...none, setting: url }, "").url).toBe(url);
    expect(buildLambdaConfig("a.ts", none, "")).toMatchObject({ script: "a.ts", url: undefined });
    expect(() => buildLambdaConfig("a.ts", { ...none, flag: url }, "")).toThrow(/not both/);
    expect(() => buildLambdaConfig(undefined, { ...none, flag: "host:8686" }, "")).toThrow(
      /"host:8686" is not an absolute URL/,
    );
  });
});
