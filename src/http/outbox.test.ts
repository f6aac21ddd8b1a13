// Goal: a reader who is behind costs a bounded space, and is told the newest of each lane in the end.
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Outbox, viewOf } from "./outbox.ts";
import { ProcessMemory } from "../model/process-memory.ts";
import type { Lane } from "./outbox.ts";

/** Takes a write only when it is told to. */
class Slow extends Writable {
  readonly taken: string[] = [];
  #done: (() => void) | undefined;

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.taken.push(chunk.toString());
    this.#done = done;
  }

  async takeAll(): Promise<void> {
    while (this.#done !== undefined) {
      const done = this.#done;
      this.#done = undefined;
      done();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function laneOf(out: Writable, name: string): Lane {
  return {
    write: (answer) => void out.write(Buffer.concat([Buffer.from(name), viewOf(answer)])),
    close: () => void out.write(`${name}end`),
  };
}

const memory = new ProcessMemory({ bytesMax: 1_000_000 });
const overflow = (): void => {};

const answer = (n: number): Uint8Array => new TextEncoder().encode(String(n).padEnd(60, "."));

test("the newest takes the place of what was not taken", async () => {
  const out = new Slow({ highWaterMark: 100 });
  const outbox = new Outbox(out, { bytesMax: 200, memory, overflow });
  const [a, b] = [laneOf(out, "a"), laneOf(out, "b")];
  for (let n = 0; n < 100; n++) {
    outbox.push(a, answer(n));
    outbox.push(b, answer(n));
    expect(out.writableLength).toBeLessThan(400);
  }
  outbox.close(a);
  await out.takeAll();
  const told = (name: string): string[] =>
    out.taken.filter((one) => one.startsWith(name)).map((one) => one.replaceAll(".", ""));
  expect(told("a").length).toBeLessThan(6);
  expect(told("a").slice(-2)).toEqual(["a99", "aend"]);
  expect(told("b").at(-1)).toBe("b99");
});

test("what is forgotten does not come", async () => {
  const out = new Slow({ highWaterMark: 10 });
  const outbox = new Outbox(out, { bytesMax: 20, memory, overflow });
  const lane = laneOf(out, "a");
  outbox.push(lane, answer(1));
  outbox.push(lane, answer(2));
  outbox.forget(lane);
  await out.takeAll();
  expect(out.taken).toHaveLength(1);
});

test("what waits counts against the memory, and a reader for whom there is none is cut", async () => {
  const scarce = new ProcessMemory({ bytesMax: 160 });
  const out = new Slow({ highWaterMark: 10 });
  let isCut = false;
  const outbox = new Outbox(out, {
    bytesMax: 20,
    memory: scarce,
    overflow: () => (isCut = true),
  });
  const lanes = ["a", "b", "c", "d"].map((name) => laneOf(out, name));
  outbox.push(lanes[0]!, answer(1));
  expect(scarce.bytesHeld).toBe(60);
  outbox.push(lanes[1]!, answer(2));
  outbox.push(lanes[1]!, answer(3));
  expect(scarce.bytesHeld).toBe(120);
  expect(isCut).toBe(false);
  outbox.push(lanes[2]!, answer(4));
  expect(isCut).toBe(true);
  out.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect(scarce.bytesHeld).toBe(0);
});
