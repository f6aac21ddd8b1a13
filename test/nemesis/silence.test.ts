// Goal: a network that loses what is sent, and tells nobody, leaves no request without an end, and no machine behind.
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { cleanUp, post, rdf, sleep, waitUntil } from "../e2e/server.ts";
import { directoryEngine, findLeader, startFleet } from "./fleet.ts";

afterAll(cleanUp);

test("requests at a machine that no longer hears the leader end, and it comes back by itself", async () => {
  const settings = "lease=900ms; read-wait=1s";
  const engine = directoryEngine();
  const fleet = await startFleet(engine, { count: 2, settings, random: makeSeededRandom(1) });
  try {
    await fleet.heal();
    let leader = await findLeader(fleet.members);
    await waitUntil(async () => (leader = await findLeader(fleet.members)) !== undefined, 15_000);
    const led = must(leader, "one leads");
    const other = must(
      fleet.members.find((member) => member !== led),
      "of two",
    );
    const write = (text: string, uid = 1): ReturnType<typeof post> =>
      post(`${other.url}/mutate?commitNow=true`, `{ set { <${uid}> <tag> "${text}" . } }`, rdf);
    expect((await write("before")).text).toContain('"Success"');
    // Some of them are on their way when the answers stop.
    let isOver = false;
    const told: string[] = [];
    const writers = Array.from({ length: 8 }, async (_, i) => {
      while (!isOver) told.push((await write("under way", 2 + i)).text);
    });
    await waitUntil(() => told.length > 30, 10_000);
    led.peers.hush("back");
    isOver = true;
    const [read, written] = await Promise.all([
      post(`${other.url}/query`, "{ q(func: uid(0x1)) { tag } }"),
      write("meanwhile"),
    ]);
    expect(read.text).toContain("the newest state of the machines cannot be known");
    expect(written.text).toContain("the newest state of the machines cannot be known");
    const isEnded = await Promise.race([
      Promise.all(writers).then(() => true),
      sleep(30_000).then(() => false),
    ]);
    expect(isEnded).toBe(true);
    expect(told.join("\n")).toContain("the outcome of the transaction is unknown");
    // What was on its way is lost for good.
    led.peers.cut(true);
    led.peers.heal();
    await fleet.heal();
    expect((await write("after")).text).toContain('"Success"');
    const { text } = await post(`${led.url}/query`, "{ q(func: uid(0x1)) { tag } }");
    expect(text).toContain('"after"');
  } finally {
    await fleet.stop();
    await fleet.close();
  }
}, 90_000);
