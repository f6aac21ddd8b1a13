import { describe, expect, it } from "vitest";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { defaultLambdaLimits } from "./limits.ts";
import { openLambdaServer } from "./server.ts";

describe("smoke", () => {
  it("runs", async () => {
    const dir = mkdtempSync(join(tmpdir(), "weft-lambda-"));
    writeFileSync(
      join(dir, "s.ts"),
      `self.addGraphQLResolvers({"Query.a": ({args}: {args: {n: number}}) => args.n + 1, "T.b": async ({parent}) => parent.x})`,
    );
    const server = await openLambdaServer({
      script: join(dir, "s.ts"),
      listen: { host: "127.0.0.1", port: 0 },
      databaseUrl: "http://127.0.0.1:1",
      token: undefined,
      hosts: [],
      limits: defaultLambdaLimits,
      clock: systemClock,
      logger: { ...silentLogger, warn: console.log, error: console.log },
    });
    const call = async (body: object) => {
      const r = await fetch(`http://127.0.0.1:${server.address?.port}/graphql-worker`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return [r.status, await r.text()];
    };
    expect(server.resolvers).toEqual(["Query.a", "T.b"]);
    expect(await call({ resolver: "Query.a", args: { n: 1 } })).toEqual([200, "2"]);
    expect(await call({ resolver: "T.b", parents: [{ x: 1 }, {}] })).toEqual([200, "[1,null]"]);
    const t = performance.now();
    for (let i = 0; i < 200; i++) await call({ resolver: "T.b", parents: [{ x: 1 }, {}] });
    console.log((performance.now() - t) / 200);
    await server.close();
  });
});
