/** A server whose disk has less left than is to be kept free. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, get, makeFolder, post, rdf, startServer } from "./server.ts";

afterAll(cleanUp);

test("refuses what adds in words, answers reads, takes deletions, and says so; with room it goes on", async () => {
  const dataDir = join(makeFolder(), "data");
  const flags = ["--workers", "2"];
  let server = await startServer({ dataDir, flags });
  const mutate = (body: string) => post(`${server.url}/mutate?commitNow=true`, body, rdf);
  await mutate('{ set { <0x1> <name> "one" . <0x2> <name> "two" . } }'.replace(". <", ".\n<"));
  await server.stop();

  server = await startServer({ dataDir, flags: [...flags, "--store", "min-free=4000000GB"] });
  for (let i = 0; i < 4; i++) {
    const refused = await mutate(`{ set { _:n <name> "${"long ".repeat(20)}" . } }`);
    expect(refused.text).toMatch(
      /the store is full: its disk has \d+ MB left, of which \d+ MB are kept free \(--store min-free\)/,
    );
  }
  const dql = { "content-type": "application/dql" };
  const read = () => post(`${server.url}/query`, "{ q(func: has(name)) { name } }", dql);
  expect((await read()).json["data"]).toEqual({ q: [{ name: "one" }, { name: "two" }] });
  expect((await mutate("{ delete { <0x2> <name> * . } }")).text).toContain("Success");
  expect((await read()).json["data"]).toEqual({ q: [{ name: "one" }] });
  expect((await get(`${server.url}/health`)).json[0]).toMatchObject({ status: "full" });
  expect(server.output()).toContain("the store takes no more data");
  await server.stop();

  server = await startServer({ dataDir, flags: [...flags, "--store", "min-free=0"] });
  expect((await mutate('{ set { _:n <name> "three" . } }')).text).toContain("Success");
  expect((await get(`${server.url}/health`)).json[0]).toMatchObject({ status: "healthy" });
}, 60_000);
