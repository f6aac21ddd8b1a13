// Goal: answers that nobody reads are held for a bounded time, and not at all where others need the memory.
import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { ProcessMemory } from "../model/process-memory.ts";
import { IdleReaders } from "./idle-readers.ts";
import { LargeAnswers } from "./large-answers.ts";

/** Takes a write when it is told to. */
class Reader {
  destroyed = false;
  taken = 0;
  isEnded = false;
  readonly #listeners = new Map<string, () => void>();

  write(bytes: Buffer): boolean {
    this.taken += bytes.length;
    return false;
  }

  end(bytes: Buffer): void {
    this.taken += bytes.length;
    this.isEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.tell("close");
  }

  once(event: string, listener: () => void): void {
    this.#listeners.set(event, listener);
  }

  tell(event: string): void {
    this.#listeners.get(event)?.();
  }
}

const mebibyte = 1024 * 1024;
const size = 8 * mebibyte;

function begin() {
  const time = { ms: 0 };
  const memory = new ProcessMemory({ bytesMax: 8 * size });
  const answers = new LargeAnswers();
  const clock = { nowMs: () => 0, tickMs: () => time.ms };
  answers.configure({ memory, clock, waitMs: 30_000 });
  const send = (size: number): Reader => {
    const reader = new Reader();
    answers.end(reader, Buffer.alloc(size));
    return reader;
  };
  return { time, memory, answers, send, clock };
}

describe("large answers", () => {
  it("leave slice by slice, and are held until they have left", () => {
    const { memory, send } = begin();
    const reader = send(size);
    expect(memory.bytesHeld).toBe(size);
    while (!reader.isEnded) reader.tell("drain");
    expect(reader.taken).toBe(size);
    reader.tell("close");
    expect(memory.bytesHeld).toBe(0);
  });

  it("are cut when nothing of them is taken for too long", () => {
    const { memory, send, time, answers } = begin();
    const [idle, slow] = [send(size), send(size)];
    time.ms = 50_000;
    slow.tell("drain");
    time.ms = 100_000;
    answers.look();
    expect([idle.destroyed, slow.destroyed]).toEqual([true, false]);
    expect(memory.bytesHeld).toBe(size);
  });

  it("make room for others when they rest, those first that rest longest", () => {
    const { memory, send, time } = begin();
    const first = send(3 * size);
    time.ms = 1_000;
    const second = send(3 * size);
    expect(memory.tryTake(2 * size)).toBe(false);
    time.ms = 2_500;
    expect(memory.tryTake(2 * size)).toBe(true);
    expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  });
});

it("connections on which bytes wait that nobody takes are ended", () => {
  const { time, clock } = begin();
  const readers = new IdleReaders(clock, 30_000);
  const socket = (): { writableLength: number; bytesWritten: number; isCut: boolean } & {
    destroy(): never;
  } => {
    const one = { writableLength: 100, bytesWritten: 1000, isCut: false, _handle: undefined };
    return Object.assign(one, { destroy: () => (one.isCut = true) as never });
  };
  const [idle, slow, quiet] = [socket(), socket(), socket()];
  quiet.writableLength = 0;
  for (; time.ms <= 40_000; time.ms += 8_000) {
    readers.look([idle, slow, quiet]);
    // What is pushed to it meanwhile is not taken either.
    idle.writableLength += 50;
    idle.bytesWritten += 50;
    slow.bytesWritten += 50;
  }
  expect([idle.isCut, slow.isCut, quiet.isCut]).toEqual([true, false, false]);
});
