/** Change number n: a row that says so, cells and edges of a few busy nodes, index and reverse lists. */
const encoder = new TextEncoder();

function key(storageId, kind, ...numbers) {
  const bytes = new Uint8Array(5 + 8 * numbers.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, storageId);
  bytes[4] = kind;
  numbers.forEach((number, i) => view.setBigUint64(5 + 8 * i, BigInt(number)));
  return bytes;
}

export function numberedKey(number) {
  return key(7, 8, number);
}

export function numberedChange(number) {
  const uid = 1 + (number % 40);
  const node = { storageId: 7, uid, countIndex: 30 };
  const reverse = new Uint8Array([0, 0, 0, 7, 6, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]);
  const size = number % 13 === 0 ? 3000 : 20 + (number % 50);
  const text = encoder.encode("x".repeat(size));
  return {
    id: { slot: 1, floorTs: 0, sequence: number },
    startTs: 0,
    basisTs: 0,
    fence: Number.MAX_SAFE_INTEGER,
    conflictKeys: [],
    basisKeys: [],
    log: text.subarray(0, 20),
    patches: [
      {
        kind: "meta",
        key: numberedKey(number),
        value: encoder.encode(String(number)),
        expected: "any",
      },
      { kind: "cell", ...node, predicate: 1, slot: `s${number % 3}`, cell: text },
      { kind: "edge", ...node, predicate: 2, target: number + 1, add: true, facets: undefined },
      { kind: "edge", ...node, predicate: 2, target: number - 900, add: false, facets: undefined },
      {
        kind: "member",
        list: reverse,
        member: number + 1,
        add: true,
        facets: undefined,
        countIndex: 0,
        owner: 0,
      },
    ],
  };
}
