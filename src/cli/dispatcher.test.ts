// Goal: each connection is with one process at a time, and none is forgotten.
import { Socket } from "node:net";
import { beforeEach, expect, test } from "vitest";
import { Dispatcher, emptyWaitMsMax, waitMsMax } from "./dispatcher.ts";

interface Taker {
  readonly name: string;
}

const a: Taker = { name: "a" };
const b: Taker = { name: "b" };
let nowMs = 0;
let given: [taker: string, id: number][] = [];
let refused: Socket[] = [];
let dispatcher: Dispatcher<Taker>;

beforeEach(() => {
  nowMs = 0;
  given = [];
  refused = [];
  dispatcher = new Dispatcher<Taker>({
    clock: { nowMs: () => nowMs, tickMs: () => nowMs },
    give: (taker, { id }) => given.push([taker.name, id]),
    refuse: (socket) => refused.push(socket),
  });
});

function accept(count: number): Socket[] {
  const sockets = Array.from({ length: count }, () => new Socket());
  for (const socket of sockets) dispatcher.accept(socket, "", false);
  return sockets;
}

test("they wait for the first process, and go to all in turns", () => {
  accept(2);
  expect(given).toEqual([]);
  dispatcher.join(a);
  dispatcher.join(b);
  expect(given).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  dispatcher.took(a, 1);
  dispatcher.took(b, 2);
  accept(2);
  expect(given.slice(2)).toEqual([
    ["a", 3],
    ["b", 4],
  ]);
});

test("where they queue, every second one is the newest", () => {
  accept(6);
  nowMs += 100;
  dispatcher.join(a);
  for (let i = 0; i < 6; i++) {
    const [taker, id] = given[i]!;
    if (i === 2) accept(1);
    dispatcher.took(a, id);
    expect(taker).toBe("a");
  }
  expect(given.map(([, id]) => id)).toEqual([6, 1, 5, 2, 7, 3, 4]);
});

test("a process gets the next when it has taken the last; the other gets those of one that takes long", async () => {
  dispatcher.join(a);
  dispatcher.join(b);
  const [first, second] = accept(4);
  expect(given).toHaveLength(2);
  dispatcher.took(b, 2);
  // It is a's turn.
  expect(given).toHaveLength(2);
  nowMs += 20;
  await expect.poll(() => given).toHaveLength(3);
  expect([first?.destroyed, second?.destroyed]).toEqual([false, true]);
  dispatcher.took(b, 3);
  expect(given.slice(2)).toEqual([
    ["b", 3],
    ["b", 4],
  ]);
});

test("what a dead process did not take goes to the next one, before all that wait", () => {
  dispatcher.join(a);
  const [first] = accept(3);
  dispatcher.leave(a);
  expect(first?.destroyed).toBe(false);
  dispatcher.join(b);
  dispatcher.took(b, 1);
  expect(given).toEqual([
    ["a", 1],
    ["b", 1],
    ["b", 2],
  ]);
});

test("what it took is not given to another", () => {
  dispatcher.join(a);
  accept(1);
  dispatcher.took(a, 1);
  dispatcher.leave(a);
  dispatcher.join(b);
  expect(given).toEqual([["a", 1]]);
});

test("a word about a connection that it was not given changes nothing", () => {
  dispatcher.join(a);
  const [first] = accept(2);
  dispatcher.took(a, 2);
  dispatcher.took(b, 1);
  expect(first?.destroyed).toBe(false);
  expect(given).toEqual([["a", 1]]);
});

test("what a living process does not take has not arrived, and is refused", () => {
  dispatcher.join(a);
  const [first] = accept(2);
  for (let beat = 0; beat < 4; beat++) dispatcher.beat(a);
  expect(refused).toEqual([]);
  dispatcher.beat(a);
  expect(refused).toEqual([first]);
  expect(given).toEqual([
    ["a", 1],
    ["a", 2],
  ]);
  dispatcher.took(a, 2);
  for (let beat = 0; beat < 9; beat++) dispatcher.beat(a);
  expect(refused).toEqual([first]);
});

test("after a minute they are refused, and after ten seconds where there is no process", () => {
  const [first] = accept(1);
  nowMs = emptyWaitMsMax;
  dispatcher.sweep();
  expect(refused).toEqual([]);
  nowMs++;
  dispatcher.sweep();
  expect(refused).toEqual([first]);
  dispatcher.join(a);
  const [, second] = accept(2);
  nowMs += waitMsMax;
  dispatcher.sweep();
  expect(refused).toEqual([first]);
  nowMs++;
  dispatcher.sweep();
  expect(refused).toEqual([first, second]);
});

test("it has settled when all that wait are taken, or have waited long enough", async () => {
  const [first] = accept(3);
  await dispatcher.settled(60_000);
  dispatcher.join(a);
  let isSettled = false;
  const settled = dispatcher.settled(60_000).then(() => (isSettled = true));
  for (const id of [1, 2]) dispatcher.took(a, id);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isSettled).toBe(false);
  expect(first?.destroyed).toBe(true);
  dispatcher.took(a, 3);
  await settled;
  const [late] = accept(1);
  const soon = dispatcher.settled(1000);
  nowMs += 1001;
  await soon;
  expect(late?.destroyed).toBe(false);
});

test("a closed one takes no more, and ends what waits", () => {
  const waiting = accept(1);
  dispatcher.close();
  const late = accept(1);
  expect(waiting[0]?.destroyed).toBe(true);
  expect(refused).toEqual(late);
});
