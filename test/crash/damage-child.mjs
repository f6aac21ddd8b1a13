/**
 * Opens damaged stores, one after the other, and tells what a reader of each is given. Messages: { sound: DIR } reads
 * what is right from a store that is whole; { dir } answers { result, detail }: "right" where every row is as it was,
 * "refused" where the store does not open, "told" where at least one read fails and no other is wrong, "wrong".
 */
import { systemClock } from "./base/clock.js";
import { silentLogger } from "./base/log.js";
import { openWriter } from "./stores/lmdb.js";
import { makeUserKey } from "./stores/sealed/user-key.js";

// As `crash-key.ts` has it.
const encryption =
  process.env["WEFT_CRASH_ENCRYPTED"] === "1" ? makeUserKey(Buffer.alloc(32, 7)) : undefined;
const range = { start: new Uint8Array(1), end: new Uint8Array(16).fill(255) };
let rows = new Map();

function open(dir) {
  return openWriter({
    dir,
    encryption,
    logger: silentLogger,
    clock: systemClock,
    journal: { run: "the next run" },
    claimWaitMs: 0,
    isLinked: false,
  });
}

const textOf = (bytes) => Buffer.from(bytes).toString("latin1");

async function learn(dir) {
  const writer = await open(dir);
  const snapshot = await writer.store.snapshot();
  rows = new Map();
  snapshot.scan(range, (key, value) => {
    rows.set(textOf(key), textOf(value));
    return true;
  });
  snapshot.close();
  await writer.close();
}

/** By scans, in both directions, and one by one. */
function look(snapshot) {
  const faults = [];
  const attempt = (work) => {
    try {
      return work();
    } catch (error) {
      faults.push(error.code === undefined ? String(error) : error.code);
      return undefined;
    }
  };
  for (const reverse of [false, true]) {
    const keys = [...rows.keys()];
    if (reverse) keys.reverse();
    let at = 0;
    const isRight = attempt(() => {
      let same = true;
      snapshot.scan({ ...range, reverse }, (key, value) => {
        const name = keys[at++];
        same = textOf(key) === name && textOf(value) === rows.get(name);
        return same;
      });
      return same && at === keys.length;
    });
    if (isRight === false) return { result: "wrong", detail: `scan at ${at} of ${keys.length}` };
  }
  for (const [name, value] of rows) {
    let found;
    const key = new Uint8Array(Buffer.from(name, "latin1"));
    const isRead = attempt(() => {
      snapshot.readMany([key], (_i, row) => (found = row && textOf(row)));
      return true;
    });
    if (isRead && found !== value) {
      return { result: "wrong", detail: `row ${Buffer.from(key).toString("hex")}` };
    }
  }
  return faults.length > 0 ? { result: "told", detail: faults[0] } : { result: "right" };
}

async function judge(dir) {
  let writer;
  try {
    writer = await open(dir);
  } catch (error) {
    return { result: "refused", detail: `${error.code} ${error.message}` };
  }
  try {
    const snapshot = await writer.store.snapshot();
    const judged = look(snapshot);
    snapshot.close();
    return judged;
  } catch (error) {
    return { result: "told", detail: `${error.code ?? error}` };
  } finally {
    await writer.close().catch(() => {});
  }
}

async function answer(message) {
  if (message.sound === undefined) return judge(message.dir);
  await learn(message.sound);
  return { result: "learnt" };
}

process.on("message", (message) => {
  void answer(message).then((judged) => process.send(judged));
});
