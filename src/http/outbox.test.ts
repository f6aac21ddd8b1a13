// Goal: a reader who is behind costs a bounded space, and is told the newest of each lane in the end.
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Outbox, viewOf } from "./outbox.ts";
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

const answer = (n: number): Uint8Array => new TextEncoder().encode(String(n).padEnd(60, "."));

test("the newest takes the place of what was not taken", async () => {
  const out = new Slow({ highWaterMark: 100 });
  const outbox = new Outbox(out, 200);
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
  const outbox = new Outbox(out, 20);
  const lane = laneOf(out, "a");
  outbox.push(lane, answer(1));
  outbox.push(lane, answer(2));
  outbox.forget(lane);
  await out.takeAll();
  expect(out.taken).toHaveLength(1);
});
