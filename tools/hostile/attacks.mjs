// The attacks of `npm run hostile`: what one hostile client does until it is told to end. `server` is what it needs.
import { gzipSync } from "node:zlib";
import { WebSocket } from "ws";
import { headOf } from "./client.mjs";
import { constructs } from "./constructs.mjs";
import { documents } from "./documents.mjs";
import { attacks as rules } from "./rules.mjs";

const MiB = 1024 * 1024;

const nested = (levels, inner) => `${"to { ".repeat(levels)}${inner}${" }".repeat(levels)}`;

const loop = (send) => async (client) => {
  while (!client.isOver) await send(client);
};

const execution = {
  "dql-levels": loop((client) => client.dql(`{ q(func: has(to)) { ${nested(4, "uid")} } }`)),
  "dql-levels-deep": loop((client) =>
    client.dql(`{ q(func: has(to)) { ${nested(9, "uid name")} } }`),
  ),
  "graphql-levels": loop((client) => client.graphql(`{ queryPerson { ${nested(5, "id name")} } }`)),
};

const large = (count) => Buffer.alloc(count * MiB, 0x20);
let zeros;
const bomb = () => (zeros ??= gzipSync(large(1024), { level: 9 }));

const bodies = {
  /** Bodies that lack their last byte: those that are refused come again. */
  "bodies-unfinished": async (client) => {
    const chunk = large(1);
    const one = async (count) => {
      while (!client.isOver) {
        const socket = await client.open();
        if (socket === undefined) return;
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.resume();
        socket.write(headOf("/graphql", count * MiB));
        for (let i = 1; i < count && !socket.destroyed && !client.isOver; i++) {
          if (!socket.write(chunk)) {
            await Promise.race([new Promise((drain) => socket.once("drain", drain)), closed]);
          }
        }
        client.count++;
        await closed;
        await client.pause(50);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => one(i % 2 === 0 ? 200 : 60)));
  },
  "bodies-gzip": loop((client) =>
    client.send("/graphql", "application/json", bomb(), { "content-encoding": "gzip" }),
  ),
  /** Many connections, a byte every second. */
  "bodies-slow": async (client) => {
    const one = async () => {
      while (!client.isOver) {
        const socket = await client.open();
        if (socket === undefined) return;
        socket.resume();
        socket.write(headOf("/graphql", 8 * MiB));
        while (!socket.destroyed && !client.isOver) {
          socket.write(" ");
          await client.pause(1000);
        }
        client.count++;
      }
    };
    await Promise.all(Array.from({ length: 200 }, one));
  },
  "bodies-json": loop((client) =>
    client.send("/mutate", "application/json", `{"set":[${"{},".repeat(6 * MiB)}{}]}`),
  ),
  "bodies-rdf": loop((client) =>
    client.send("/mutate", "application/rdf", `{ set { ${'_:a <p> "x" .\n'.repeat(MiB)} } }`),
  ),
};

/** Where anybody may send them; schemas and administration are for who may set them. */
const openPaths = ["/query", "/mutate", "/graphql"];

/** All constructs of `npm run growth`, in turn, each four times as large as where it begins to hurt. */
const playConstructs = loop(async (client) => {
  for (const { path, contentType, size, body } of constructs) {
    if (!openPaths.includes(path.split("?")[0])) continue;
    if (client.isOver) return;
    await client.send(path, contentType, body(size * 4));
  }
});

/** Asks for 50 MB on each of a hundred connections, and reads nothing. */
async function readSlowly(client) {
  const body = "{ q(func: has(large)) { large } }";
  const one = async () => {
    while (!client.isOver) {
      const socket = await client.open();
      if (socket === undefined) return;
      socket.pause();
      const type = { "content-type": "application/dql" };
      socket.write(headOf("/query", Buffer.byteLength(body), type) + body);
      client.count++;
      while (!socket.destroyed && !client.isOver) await client.pause(200);
    }
  };
  await Promise.all(Array.from({ length: 100 }, one));
}

/** Sockets with subscriptions to everything, of which nothing is read. */
async function subscribe(client) {
  const query = "subscription { queryPerson { id name score to { id name } } }";
  const one = async () => {
    while (!client.isOver) {
      const socket = new WebSocket(`ws://127.0.0.1:${client.port}/graphql`, "graphql-transport-ws");
      client.keep(socket);
      await new Promise((resolve) => {
        socket.on("error", resolve);
        socket.on("close", resolve);
        socket.on("open", () => {
          socket.send(JSON.stringify({ type: "connection_init" }));
          socket.once("message", () => {
            for (let id = 0; id < 20; id++) {
              const payload = { query: query.replace("{", `{ # ${client.number} ${id}\n`) };
              socket.send(JSON.stringify({ type: "subscribe", id: String(id), payload }));
              client.count++;
            }
            socket.pause();
          });
        });
      });
      await client.pause(100);
    }
  };
  await Promise.all(Array.from({ length: 25 }, one));
}

const flood = (count, send) => async (client) => {
  const one = async () => {
    while (!client.isOver) await send(client);
  };
  await Promise.all(Array.from({ length: count }, one));
};

/** name → `{ server, run }`; `run` resolves when the client is over. */
export const attacks = new Map(
  Object.entries({
    nothing: { server: "plain", run: (client) => waitOut(client) },
    ...of("plain", documents),
    ...of("plain", execution),
    ...of("plain", bodies),
    ...of("constructs", { constructs: playConstructs }),
    ...of("rules", rules),
    ...of("plain", { "readers-slow": readSlowly, subscriptions: subscribe }),
    ...of("lambda", {
      "lambda-spin": flood(20, (client) => client.graphql("{ spin }")),
      "lambda-memory": flood(20, (client) => client.graphql("{ allocate }")),
      "lambda-stdout": flood(4, (client) => client.graphql("{ shout }")),
    }),
    ...of("acl", {
      "logins-wrong": flood(50, (client) =>
        client.send("/login", "application/json", '{"userid":"groot","password":"wrong one"}'),
      ),
      "bodies-before-login": flood(20, (client) =>
        client.send("/query", "application/dql", large(60), { "x-dgraph-accesstoken": "" }),
      ),
    }),
  }),
);

function of(server, runs) {
  return Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, { server, run }]));
}

async function waitOut(client) {
  while (!client.isOver) await client.pause(50);
}
