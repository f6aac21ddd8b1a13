// Goal: nothing that comes over the link is taken for what it is not: who speaks otherwise than a writer is left.
import { mkdtempSync, rmSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { encodeFrame, FrameCutter } from "../../base/frames.ts";
import { makeChange } from "../../store/contract.ts";
import { linkName } from "./link-address.ts";
import { LinkClient } from "./link-client.ts";
import { encodeHello, encodeNumbers, frameKind, linkFrameBytesMax } from "./link-protocol.ts";

const storeId = "ab".repeat(16);
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end();
});

interface Imposter {
  readonly client: LinkClient;
  readonly notices: number[];
  readonly connections: () => number;
}

/** A client of whoever answers each request as `answer` says, behind what it says first. */
async function against(
  answer: (kind: number) => { readonly kind: number; readonly payload: Uint8Array },
  first: readonly Uint8Array[] = [],
): Promise<Imposter> {
  const dir = mkdtempSync(join(tmpdir(), "weft-garbage-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const notices: number[] = [];
  let connections = 0;
  const server = net.createServer((socket) => {
    connections++;
    const cutter = new FrameCutter(linkFrameBytesMax);
    socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => {
      cutter.push(piece, ({ kind, request }) => {
        if (kind === frameKind.hello) {
          const hello = encodeHello({ storeId, slot: undefined });
          socket.write(encodeFrame(frameKind.welcome, 0, hello));
          for (const frame of connections === 1 ? first : []) socket.write(frame);
        } else {
          const said = answer(kind);
          socket.write(encodeFrame(said.kind, request, said.payload));
        }
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(join(dir, linkName), resolve));
  ends.push(() => server.close());
  const client = new LinkClient({
    dir,
    storeId,
    waitMs: 5_000,
    onNotice: (ts) => notices.push(ts),
  });
  ends.push(() => client.close());
  return { client, notices, connections: () => connections };
}

const numbers = (...values: number[]): { kind: number; payload: Uint8Array } => ({
  kind: frameKind.answer,
  payload: encodeNumbers(...values),
});
const unreadable = { code: "E_STORE_UNAVAILABLE", message: expect.stringContaining("be read") };

describe("answers", () => {
  test.each([
    ["no number", numbers()],
    ["two numbers", numbers(1, 2)],
    ["a uid of 0", numbers(0)],
    ["a number beyond all uids", numbers(2 ** 60)],
    ["a number that ends early", { kind: frameKind.answer, payload: Uint8Array.of(0x80) }],
    ["a refusal for no known reason", { kind: frameKind.refusal, payload: Uint8Array.of(99) }],
    ["a fault that ends early", { kind: frameKind.fault, payload: Uint8Array.of(9, 65) }],
    ["a frame of another kind", { kind: 77, payload: new Uint8Array(0) }],
  ])("%s in place of a uid", async (_name, said) => {
    const { client } = await against(() => said);
    const asked = client.askNumbers(frameKind.lease, encodeNumbers(1));
    await expect(asked).rejects.toMatchObject(unreadable);
  });

  test("what came of a commit is not known then", async () => {
    const { client } = await against(() => numbers(2 ** 38));
    await expect(client.commit(makeChange({}))).rejects.toMatchObject({
      code: "E_OUTCOME_UNKNOWN",
    });
  });

  test("a slot that there is not", async () => {
    const { client } = await against(() => numbers(64, 7));
    await expect(client.claimSlot()).rejects.toMatchObject(unreadable);
  });

  test("one that is as it should be", async () => {
    const { client } = await against(() => numbers(7));
    expect(await client.askNumbers(frameKind.lease, encodeNumbers(1))).toEqual([7]);
  });
});

test.each([
  ["a notice without a number", encodeFrame(frameKind.notice, 0, new Uint8Array(0))],
  ["a notice of a commit beyond all", encodeFrame(frameKind.notice, 0, encodeNumbers(2 ** 50))],
  ["a lead of no kind", encodeFrame(frameKind.lead, 0, Uint8Array.of(9))],
  ["a lead without its times", encodeFrame(frameKind.lead, 0, Uint8Array.of(1, 0, 0))],
])("%s ends the connection; the next one goes on", async (_name, frame) => {
  const { client, notices, connections } = await against(() => numbers(7), [frame]);
  await expect.poll(connections).toBe(2);
  expect(await client.askNumbers(frameKind.lease, encodeNumbers(1))).toEqual([7]);
  expect(notices).toEqual([]);
});

describe("leases of one turn", () => {
  test("are one question, whose uids are dealt out in the order of asking", async () => {
    const asked: number[] = [];
    const { client } = await against((kind) => {
      asked.push(kind);
      return numbers(100);
    });
    // Once the writer has said that it is there.
    await client.askNumbers(frameKind.lease, encodeNumbers(1));
    asked.length = 0;
    const leased = [client.lease(1), client.lease(3), client.lease(2)];
    expect(await Promise.all(leased)).toEqual([100, 101, 104]);
    expect(asked).toEqual([frameKind.lease]);
  });

  test("that are large are asked alone", async () => {
    const asked: number[] = [];
    const { client } = await against((kind) => {
      asked.push(kind);
      return numbers(100 * asked.length);
    });
    await client.askNumbers(frameKind.lease, encodeNumbers(1));
    expect(await Promise.all([client.lease(100_000), client.lease(1)])).toEqual([200, 300]);
  });

  test("fail together where the answer cannot be read, and where the store is closed", async () => {
    let said = numbers(7);
    const { client } = await against(() => said);
    await client.askNumbers(frameKind.lease, encodeNumbers(1));
    said = numbers();
    for (const lease of [client.lease(1), client.lease(2)]) {
      await expect(lease).rejects.toMatchObject(unreadable);
    }
    const late = client.lease(1);
    client.close();
    await expect(late).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  });
});
