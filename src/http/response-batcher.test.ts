import { describe, expect, it } from "vitest";
import { ResponseBatcher, type BatchedResponse } from "./response-batcher.ts";

/** Tells the order in which answers left. */
function makeAnswer(left: string[], destroyed = false): BatchedResponse {
  return {
    destroyed,
    end: ((body: string) => left.push(body)) as unknown as BatchedResponse["end"],
  };
}

/** Behind what the task at hand has left to do; the turn goes on. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** At a time that the test moves. */
function begin() {
  const time = { ms: 0 };
  const left: string[] = [];
  const batcher = new ResponseBatcher({ nowMs: () => 0, tickMs: () => time.ms });
  return { time, left, end: (body: string) => batcher.end(makeAnswer(left), body), batcher };
}

describe("batched responses", () => {
  it("leave together when the turn ends", async () => {
    const { left, end } = begin();
    end("a");
    await nextTask();
    end("b");
    await nextTask();
    expect(left).toEqual([]);
    await nextTurn();
    expect(left).toEqual(["a", "b"]);
    end("c");
    await nextTurn();
    expect(left).toEqual(["a", "b", "c"]);
  });

  it("do not wait for the end of a long turn", async () => {
    const { time, left, end } = begin();
    end("a");
    time.ms = 1;
    end("b");
    expect(left).toEqual([]);
    time.ms = 2;
    end("c");
    expect(left).toEqual(["a", "b", "c"]);
    end("d");
    await nextTurn();
    expect(left).toEqual(["a", "b", "c", "d"]);
  });

  it("hurry for a while when large queries keep them waiting", async () => {
    const { time, left, end } = begin();
    end("a");
    time.ms = 5;
    await nextTurn();
    expect(left).toEqual(["a"]);
    end("b");
    expect(left).toEqual(["a", "b"]);
    time.ms = 25;
    end("c");
    expect(left).toEqual(["a", "b"]);
    await nextTurn();
    expect(left).toEqual(["a", "b", "c"]);
  });

  it("leave out who is gone", async () => {
    const { left, batcher, end } = begin();
    batcher.end(makeAnswer(left, true), "a");
    end("b");
    await nextTurn();
    expect(left).toEqual(["b"]);
  });
});
