// Goal: nobody but who is on this machine counts as being on it, whatever a client says of itself, and however its
// connection ends.
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, startServer, type TestServer } from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    dataDir: makeFolder(),
    host: "0.0.0.0",
    flags: ["--workers", "1", "--anonymous", "on"],
  });
  await post(`${server.url}/admin/schema`, "type Book { id: ID! title: String }");
  await post(`${server.url}/alter`, "name: string @index(exact) .");
  await post(`${server.url}/mutate?commitNow=true`, '{ set { <0x1> <name> "still here" . } }', rdf);
});
afterAll(cleanUp);

/** Another address of this machine, where it has one: what is sent to it comes from it. */
const others = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === "IPv4")
  .slice(0, 1);

function drop(host: string): Buffer {
  const body = '{"drop_all":true}';
  const lines = [
    "POST /alter HTTP/1.1",
    `Host: ${host}`,
    "Content-Type: application/json",
    "X-Weft-Remote-Address: 127.0.0.1",
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Writes, and resets the connection instead of ending it. */
function sendAndReset(host: string, text: Buffer): Promise<void> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => {
      socket.write(text, () => {
        socket.resetAndDestroy();
        resolve();
      });
    });
    socket.on("error", reject);
  });
}

const names = async (): Promise<unknown> => {
  const found = await post(`${server.url}/query`, "{ q(func: has(name)) { name } }");
  return found.json["data"];
};

describe.each(others)("from $address", ({ address }) => {
  test("who names loopback in a header and resets the connection administers nothing", async () => {
    for (let i = 0; i < 50; i++) await sendAndReset(address, drop(address));
    expect(await names()).toEqual({ q: [{ name: "still here" }] });
  });

  test("who names loopback in a header is refused for the address that it has", async () => {
    const url = server.url.replace("127.0.0.1", address);
    const headers = { "x-weft-remote-address": "127.0.0.1", "content-type": "application/json" };
    const told = await post(`${url}/alter`, { drop_all: true }, headers);
    expect(told.text).toContain(address);
    expect(await names()).toEqual({ q: [{ name: "still here" }] });
  });

  test("who is elsewhere reads data, and no text of the GraphQL schema", async () => {
    const query = "{ q(func: has(dgraph.graphql.schema)) { dgraph.graphql.schema } }";
    const url = server.url.replace("127.0.0.1", address);
    const headers = { "x-weft-remote-address": "127.0.0.1" };
    expect((await post(`${url}/query`, query, headers)).json["data"]).toEqual({});
    expect((await post(`${server.url}/query`, query)).text).toContain("type Book");
    const data = await post(`${url}/query`, "{ q(func: has(name)) { name } }", headers);
    expect(data.json["data"]).toEqual({ q: [{ name: "still here" }] });
  });
});

test("who is on this machine is, whatever a header says", async () => {
  const told = await post(`${server.url}/alter`, "age: int .", {
    "x-weft-remote-address": "203.0.113.7",
  });
  expect(told.json["data"]).toMatchObject({ code: "Success" });
});
