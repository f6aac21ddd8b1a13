import { describe, expect, it } from "vitest";
import { Departures, type Departing } from "./departures.ts";

/** Tells the order in which answers left. */
function makeAnswer(left: string[], destroyed = false): Departing {
  return {
    destroyed,
    end: ((body: string) => left.push(body)) as unknown as Departing["end"],
  };
}

/** Behind what the task at hand has left to do; the turn goes on. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("departures", () => {
  it("leave together when the turn ends", async () => {
    const left: string[] = [];
    const departures = new Departures({ nowMs: () => 0, tickMs: () => 0 });
    departures.end(makeAnswer(left), "a");
    await nextTask();
    departures.end(makeAnswer(left), "b");
    await nextTask();
    expect(left).toEqual([]);
    await nextTurn();
    expect(left).toEqual(["a", "b"]);
    departures.end(makeAnswer(left), "c");
    await nextTurn();
    expect(left).toEqual(["a", "b", "c"]);
  });

  it("do not wait for the end of a long turn", async () => {
    const left: string[] = [];
    let nowMs = 0;
    const departures = new Departures({ nowMs: () => 0, tickMs: () => nowMs });
    departures.end(makeAnswer(left), "a");
    nowMs = 1;
    departures.end(makeAnswer(left), "b");
    expect(left).toEqual([]);
    nowMs = 2;
    departures.end(makeAnswer(left), "c");
    expect(left).toEqual(["a", "b", "c"]);
    departures.end(makeAnswer(left), "d");
    await nextTurn();
    expect(left).toEqual(["a", "b", "c", "d"]);
  });

  it("hurry for a while when large queries keep them waiting", async () => {
    const left: string[] = [];
    let nowMs = 0;
    const departures = new Departures({ nowMs: () => 0, tickMs: () => nowMs });
    departures.end(makeAnswer(left), "a");
    nowMs = 5;
    await nextTurn();
    expect(left).toEqual(["a"]);
    departures.end(makeAnswer(left), "b");
    expect(left).toEqual(["a", "b"]);
    nowMs = 25;
    departures.end(makeAnswer(left), "c");
    expect(left).toEqual(["a", "b"]);
    await nextTurn();
    expect(left).toEqual(["a", "b", "c"]);
  });

  it("leave out who is gone", async () => {
    const left: string[] = [];
    const departures = new Departures({ nowMs: () => 0, tickMs: () => 0 });
    departures.end(makeAnswer(left, true), "a");
    departures.end(makeAnswer(left), "b");
    await nextTurn();
    expect(left).toEqual(["b"]);
  });
});
