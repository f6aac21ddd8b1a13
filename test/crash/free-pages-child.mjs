// Transactions of mixed sizes beside readers that hold old snapshots, the same for the same seed:
// `free-pages-child.mjs DIR COMMITS SEED`. Tells "done" at the end; what LMDB finds goes to stderr.
import { makeSeededRandom } from "./base/random.js";
import { openDatabase, putRows } from "./stores/lmdb/database.js";

const [dir, commits, seed] = process.argv.slice(2);
const db = openDatabase(dir, { readOnly: false, noSync: true });

const random = makeSeededRandom(Number(seed));
const below = (end) => Math.floor(random.next() * end);

function key(table, number) {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  bytes[0] = table;
  view.setUint32(1, number);
  view.setUint32(5, Math.imul(number, 2654435761) >>> 0);
  return bytes;
}
const value = (size) => new Uint8Array(size).fill(below(256));

let first = 0;
let last = 0;

/** Small rows, a queue, and rows of several pages, in stretches that do one of them more than the others. */
const stretches = [
  (put) => put(key(1, below(20000)), value(20 + below(300))),
  (put) => {
    put(key(2, last++), value(800 + below(300)));
    if (last - first <= 2000) return;
    for (let i = 0; i < 3; i++) put(key(2, first++), undefined);
  },
  (put, chance) => {
    const number = below(200);
    put(key(3, number), chance < 0.4 ? undefined : value(2000 + below(30000)));
  },
  (put) => put(key(1, below(20000)), undefined),
  (put) => {
    if (first === last) put(key(1, below(20000)), value(100));
    for (let i = 0; i < 20 && first < last; i++) put(key(2, first++), undefined);
  },
  (put, chance) => {
    if (chance < 0.5) put(key(1, below(20000)), value(20 + below(900)));
    else if (chance < 0.7) put(key(3, below(200)), value(1500 + below(9000)));
    else put(key(1, below(20000)), undefined);
  },
];

const readers = [];
function turnReaders(commit) {
  if (readers.length < 3 && random.next() < 0.02) {
    readers.push({ snapshot: db.useReadTransaction(), until: commit + below(300) });
  }
  for (let i = readers.length - 1; i >= 0; i--) {
    if (commit < readers[i].until && random.next() >= 0.003) continue;
    readers[i].snapshot.done();
    readers.splice(i, 1);
  }
  db.resetReadTxn();
}

let kind = 0;
let left = 0;
for (let commit = 0; commit < Number(commits); commit++) {
  if (left-- <= 0) {
    kind = below(stretches.length);
    left = 20 + below(400);
  }
  turnReaders(commit);
  putRows(db, (put) => {
    const count = 1 + below(kind === 5 ? 300 : 25);
    for (let i = 0; i < count; i++) stretches[kind](put, random.next());
  });
}
console.log("done");
process.exit(0);
