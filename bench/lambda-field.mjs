// `npm run bench -- lambda-field [--parents N] [--rounds N] [--workers N]`: what one field that a resolver computes adds
// to a query over many parents, at the median: the same query with and without it, in turn, against a real server.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findFreePort, LiveServer } from "../tools/live-server.mjs";

const { values } = parseArgs({
  options: {
    parents: { type: "string", default: "100" },
    rounds: { type: "string", default: "2000" },
    workers: { type: "string", default: "1" },
  },
});
const parents = Number(values.parents);
const rounds = Number(values.rounds);

const sdl = `type Boat { id: ID! no: Int! @search  name: String!  shout: String @lambda  rank: Int @lambda }`;
const script = `
self.addGraphQLResolvers({ "Boat.shout": ({ parent }) => parent.name.toUpperCase() });
self.addMultiParentGraphQLResolvers({ "Boat.rank": ({ parents }) => parents.map((one) => one.no + 1) });
`;
const queries = {
  plain: `{ queryBoat(first: ${parents}) { no name } }`,
  "one parent at a time": `{ queryBoat(first: ${parents}) { no name shout } }`,
  "all parents at once": `{ queryBoat(first: ${parents}) { no name rank } }`,
};

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  const file = join(folder, "resolvers.js");
  writeFileSync(file, script);
  const server = new LiveServer(join(folder, "data"), await findFreePort(), Number(values.workers));
  server.args.push("--lambda", file);
  try {
    await server.start();
    await server.post("/admin/schema", "text/plain", sdl);
    const input = Array.from({ length: parents }, (_, no) => `{ no: ${no}, name: "boat ${no}" }`);
    await ask(server, `mutation { addBoat(input: [${input.join(", ")}]) { numUids } }`);
    const times = await measure(server);
    print(times);
    await server.stop();
  } finally {
    await server.killAll().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

const ask = (server, query) => server.post("/graphql", "application/graphql", query);

/** name → milliseconds, sorted; the first quarter of the rounds warms up. */
async function measure(server) {
  const times = Object.fromEntries(Object.keys(queries).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, query] of Object.entries(queries)) {
      const began = performance.now();
      await ask(server, query);
      if (round >= rounds / 4) times[name].push(performance.now() - began);
    }
  }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return times;
}

function print(times) {
  const at = (list, share) => list[Math.floor(list.length * share)];
  const base = at(times.plain, 0.5);
  console.log(`${parents} parents, ${rounds} rounds\n`);
  console.log("query                    p50 ms   p99 ms   more than plain at the median, ms");
  for (const [name, list] of Object.entries(times)) {
    const more = name === "plain" ? "" : (at(list, 0.5) - base).toFixed(2);
    console.log(
      `${name.padEnd(22)} ${at(list, 0.5).toFixed(2).padStart(8)} ${at(list, 0.99).toFixed(2).padStart(8)}   ${more}`,
    );
  }
}

await main();
