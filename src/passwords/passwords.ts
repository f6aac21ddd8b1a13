/**
 * Passwords are hashed and compared with bcrypt in a thread of their own, one for a process. The thread pool of the
 * process, where bcrypt works by itself, is needed by the syncs that writes wait for: 400 logins at once kept a write
 * waiting for 25 s. One password takes some 50 ms of CPU, so only so many may wait.
 */
import { Worker } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";

/** bcrypt's cost, as the reference's. */
const cost = 10;

/** Passwords that wait in a process: some ten seconds of work. */
const waitingMax = 200;

/** Passwords that the thread is given at once: the next is there when one is done. */
const givenMax = 2;

interface Question {
  readonly text: string;
  /** To compare with; undefined: to be hashed. */
  readonly hash: string | undefined;
}

interface Waiting {
  resolve(value: string | boolean): void;
  reject(error: Error): void;
}

interface Reply {
  readonly id: number;
  readonly value?: string | boolean;
  readonly failure?: string;
}

/**
 * The bcrypt hash of a password. Rejects with Fault E_OVERLOADED where too many wait. Those who ask take turns, however
 * many passwords one of them has: `asker` is the same object for all of a request.
 */
export async function hashPassword(text: string, asker: object = {}): Promise<string> {
  const value = await ask({ text, hash: undefined }, asker);
  assert(typeof value === "string", "a question without a hash is answered with one");
  return value;
}

/** Whether a password is the one of a bcrypt hash; false for what is no hash. Rejects as `hashPassword`. */
export async function comparePassword(
  text: string,
  hash: string,
  asker: object = {},
): Promise<boolean> {
  return (await ask({ text, hash }, asker)) === true;
}

let thread: Worker | undefined;
let count = 0;
/** What the thread was given, and what waits for its turn: of each asker one, then of each the next. */
const waiting = new Map<number, Waiting>();
const turns = new Map<object, (() => void)[]>();
let queued = 0;

function ask(question: Question, asker: object): Promise<string | boolean> {
  if (waiting.size + queued >= waitingMax) {
    const what = `${waitingMax} passwords wait to be compared or hashed, please try again`;
    return Promise.reject(new Fault("E_OVERLOADED", what));
  }
  return new Promise((resolve, reject) => {
    const begin = (): void => give(question, { resolve, reject });
    const own = turns.get(asker);
    if (own === undefined) turns.set(asker, [begin]);
    else own.push(begin);
    queued++;
    giveNext();
  });
}

function giveNext(): void {
  while (waiting.size < givenMax) {
    const [first] = turns;
    if (first === undefined) return;
    const [asker, own] = first;
    // Its next one stands behind those of all others.
    turns.delete(asker);
    const begin = own.shift();
    if (own.length > 0) turns.set(asker, own);
    queued--;
    begin?.();
  }
}

function give(question: Question, asked: Waiting): void {
  const id = count++;
  waiting.set(id, asked);
  thread ??= start();
  // It keeps the process alive while somebody waits, and not for its own sake.
  thread.ref();
  thread.postMessage({ id, cost, ...question });
}

function start(): Worker {
  const started = new Worker(new URL("./password-thread.js", import.meta.url));
  started.on("message", ({ id, value, failure }: Reply) => {
    const asker = waiting.get(id);
    waiting.delete(id);
    giveNext();
    if (waiting.size === 0) started.unref();
    if (value === undefined) asker?.reject(new Error(`bcrypt: ${failure ?? "no answer"}`));
    else asker?.resolve(value);
  });
  const fail = (error: Error): void => {
    if (thread === started) thread = undefined;
    for (const asker of waiting.values()) asker.reject(error);
    waiting.clear();
    giveNext();
  };
  started.once("error", fail);
  started.once("exit", () => fail(new Error("the thread of passwords has ended")));
  return started;
}
