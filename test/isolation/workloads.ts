/** What the clients of a storm do, and what must be true of it when it is over. */
import type { Random } from "../../src/base/random.ts";
import { findAnomalies } from "./checker.ts";
import { Aborted, commit, graphql, mutate, query, type Txn } from "./client.ts";
import type { Attempt, Step } from "./history.ts";

export interface Workload {
  readonly name: string;
  prepare(url: string): Promise<void>;
  /** One transaction of a client. Never throws. */
  play(url: string, random: Random): Promise<void>;
  /** When all is calm again. Sentences about what is wrong. */
  judge(url: string): Promise<readonly string[]>;
  /** Acknowledged so far. */
  count(): number;
}

const schema = `
iso.list: string .
iso.register: int .
iso.balance: int .
iso.key: string @index(exact) @upsert .
iso.count: int .
`;

export const sdl = `
type IsoBook { id: ID! title: String! @search(by: [hash]) tags: [IsoTag!] @hasInverse(field: books) }
type IsoTag { id: ID! name: String! @search(by: [hash]) books: [IsoBook!] }
`;

export async function prepareAll(url: string, workloads: readonly Workload[]): Promise<void> {
  const told = await fetch(`${url}/admin/schema`, { method: "POST", body: sdl });
  if (!(await told.text()).includes("Success")) throw new Error("the schema is not taken");
  const altered = await fetch(`${url}/alter`, { method: "POST", body: schema });
  if (!(await altered.text()).includes("Success")) throw new Error("the schema is not taken");
  for (const workload of workloads) await workload.prepare(url);
}

export function pick(random: Random, count: number): number {
  return Math.floor(random.next() * count);
}

/** Rows of the first block, by uid. */
export async function readNodes(
  url: string,
  uids: readonly string[],
  field: string,
  startTs = 0,
): Promise<{ values: Map<string, unknown>; txn: Txn }> {
  const text = `{ q(func: uid(${uids.join(",")})) { uid ${field} } }`;
  const { data, txn } = await query(url, text, startTs);
  const rows = data["q"] as readonly Record<string, unknown>[];
  return { values: new Map(rows.map((row) => [String(row["uid"]), row[field]])), txn };
}

/** Of list workloads so far: each has keys of its own. */
let listWorkloads = 0;

/** Appends to lists and reads of them, in transactions over several requests. */
export function listAppend(): Workload & { readonly history: readonly Attempt[] } {
  const firstKey = 0xd000 + 0x100 * listWorkloads++;
  const keys = Array.from({ length: 12 }, (_, i) => `0x${(firstKey + i).toString(16)}`);
  const history: Attempt[] = [];
  let nextValue = 1;
  const parse = (value: unknown): number[] =>
    typeof value === "string" && value !== "" ? value.split(" ").map(Number) : [];

  async function attempt(url: string, random: Random, steps: Step[]): Promise<Attempt["outcome"]> {
    const wanted = new Set([pick(random, keys.length), pick(random, keys.length)]);
    const uids = [...wanted].map((at) => keys[at]!);
    const txns: Txn[] = [];
    let startTs: number;
    try {
      const first = await readNodes(url, uids, "iso.list");
      startTs = first.txn.start_ts;
      for (const key of uids) steps.push({ kind: "read", key, list: parse(first.values.get(key)) });
      if (random.next() < 0.25) return "ok";
      for (const key of uids) {
        const value = nextValue++;
        const list = [...parse(first.values.get(key)), value];
        steps.push({ kind: "append", key, value });
        const facts = `{ set { <${key}> <iso.list> "${list.join(" ")}" . } }`;
        txns.push((await mutate(url, facts, `startTs=${startTs}`)).txn);
      }
      if (random.next() < 0.2) {
        const again = await readNodes(url, uids, "iso.list", startTs);
        for (const key of uids)
          steps.push({ kind: "read", key, list: parse(again.values.get(key)) });
      }
    } catch {
      return "failed";
    }
    try {
      await commit(url, startTs, txns);
      return "ok";
    } catch (error) {
      return error instanceof Aborted ? "failed" : "unknown";
    }
  }

  return {
    name: "list-append",
    history,
    prepare: async () => {},
    async play(url, random) {
      const steps: Step[] = [];
      const startMs = performance.now();
      const outcome = await attempt(url, random, steps);
      history.push({ outcome, startMs, endMs: performance.now(), steps });
    },
    async judge(url) {
      const { values } = await readNodes(url, keys, "iso.list");
      const final = new Map(keys.map((key) => [key, parse(values.get(key))]));
      return findAnomalies(history, final).map(({ kind, detail }) => `${kind}: ${detail}`);
    },
    count: () => history.filter(({ outcome }) => outcome === "ok").length,
  };
}

/** Money that goes to and fro: what a transaction reads always sums up. */
export function bank(): Workload {
  const accounts = Array.from({ length: 6 }, (_, i) => `0x${(0xb000 + i).toString(16)}`);
  const total = accounts.length * 100;
  const wrong: string[] = [];
  let done = 0;
  const check = (values: ReadonlyMap<string, unknown>): void => {
    const sum = [...values.values()].reduce((all: number, one) => all + Number(one), 0);
    if (sum !== total) wrong.push(`the accounts hold ${sum}, not ${total}`);
  };
  return {
    name: "bank",
    async prepare(url) {
      const facts = accounts.map((uid) => `<${uid}> <iso.balance> "100" .`).join("\n");
      await mutate(url, `{ set {\n${facts}\n} }`, "commitNow=true");
    },
    async play(url, random) {
      try {
        const { values, txn } = await readNodes(url, accounts, "iso.balance");
        check(values);
        const from = accounts[pick(random, accounts.length)]!;
        const to = accounts[pick(random, accounts.length)]!;
        if (from === to) return;
        const txns: Txn[] = [];
        for (const [uid, change] of [
          [from, -1],
          [to, 1],
        ] as const) {
          const amount = Number(values.get(uid)) + change * 5;
          const facts = `{ set { <${uid}> <iso.balance> "${amount}" . } }`;
          txns.push((await mutate(url, facts, `startTs=${txn.start_ts}`)).txn);
        }
        await commit(url, txn.start_ts, txns);
        done++;
      } catch {
        // Whatever became of it, the sum stays.
      }
    },
    async judge(url) {
      check((await readNodes(url, accounts, "iso.balance")).values);
      return wrong;
    },
    count: () => done,
  };
}

/** Several clients add the same keys, each only where it is missing, and count up. */
export function upserts(): Workload {
  const acknowledged = new Set<string>();
  const counter = "0xc000";
  let sent = 0;
  let counted = 0;
  let next = 0;
  const countUp = `upsert { query { u as var(func: uid(${counter})) { c as iso.count n as math(c + 1) } } mutation { set { uid(u) <iso.count> val(n) . } } }`;
  return {
    name: "upserts",
    async prepare(url) {
      await mutate(url, `{ set { <${counter}> <iso.count> "0" . } }`, "commitNow=true");
    },
    async play(url, random) {
      const key = `k${Math.max(0, next++ - pick(random, 4))}`;
      const add = `upsert { query { q(func: eq(iso.key, "${key}")) { v as uid } } mutation @if(eq(len(v), 0)) { set { _:n <iso.key> "${key}" . } } }`;
      try {
        await mutate(url, add, "commitNow=true");
        acknowledged.add(key);
      } catch {
        // Perhaps it is there, perhaps not.
      }
      sent++;
      try {
        await mutate(url, countUp, "commitNow=true");
        counted++;
      } catch (error) {
        if (error instanceof Aborted) sent--;
      }
    },
    async judge(url) {
      const { data } = await query(
        url,
        `{ q(func: has(iso.key)) { iso.key } c(func: uid(${counter})) { iso.count } }`,
      );
      const rows = data["q"] as readonly Record<string, string>[];
      const seen = new Map<string, number>();
      for (const row of rows) seen.set(row["iso.key"]!, (seen.get(row["iso.key"]!) ?? 0) + 1);
      const wrong: string[] = [];
      for (const [key, times] of seen) if (times > 1) wrong.push(`${key} is there ${times} times`);
      for (const key of acknowledged) if (!seen.has(key)) wrong.push(`${key} is lost`);
      const count = Number((data["c"] as readonly Record<string, number>[])[0]?.["iso.count"]);
      if (count < counted || count > sent) {
        wrong.push(`counted to ${count}: ${counted} acknowledged, ${sent} sent`);
      }
      return wrong;
    },
    count: () => acknowledged.size + counted,
  };
}

/** Books come, go, and are linked from both sides: no half edges, and none to nodes that are gone. */
export function inverses(): Workload {
  const tags = ["t0", "t1", "t2"];
  const books = ["b0", "b1", "b2", "b3"];
  let done = 0;
  const one = <T>(list: readonly T[], random: Random): T => list[pick(random, list.length)]!;
  return {
    name: "inverses",
    async prepare(url) {
      const input = tags.map((name) => `{ name: "${name}" }`).join();
      await graphql(url, `mutation { addIsoTag(input: [${input}]) { numUids } }`);
    },
    async play(url, random) {
      const title = one(books, random);
      const tag = one(tags, random);
      const way = random.next();
      try {
        const { data } = await graphql(
          url,
          `{ queryIsoTag(filter: { name: { eq: "${tag}" } }) { id } queryIsoBook(filter: { title: { eq: "${title}" } }) { id } }`,
        );
        const tagId = (data["queryIsoTag"] as readonly { id: string }[])[0]?.id;
        const book = (data["queryIsoBook"] as readonly { id: string }[])[0]?.id;
        if (book === undefined) {
          const input = `{ title: "${title}", tags: [{ id: "${tagId}" }] }`;
          await graphql(url, `mutation { addIsoBook(input: [${input}]) { numUids } }`);
        } else if (way < 0.35) {
          await graphql(url, `mutation { deleteIsoBook(filter: { id: ["${book}"] }) { msg } }`);
        } else if (way < 0.75) {
          const patch = `{ filter: { id: ["${tagId}"] }, set: { books: [{ id: "${book}" }] } }`;
          await graphql(url, `mutation { updateIsoTag(input: ${patch}) { numUids } }`);
        } else {
          const patch = `{ filter: { id: ["${book}"] }, remove: { tags: [{ id: "${tagId}" }] } }`;
          await graphql(url, `mutation { updateIsoBook(input: ${patch}) { numUids } }`);
        }
        done++;
      } catch {
        // A book that is gone by now, or an outcome that is not known.
      }
    },
    async judge(url) {
      const { data } = await query(
        url,
        `{
          tags(func: has(IsoTag.books)) { uid dgraph.type IsoTag.books { uid } }
          books(func: has(IsoBook.tags)) { uid dgraph.type IsoBook.title IsoBook.tags { uid } }
        }`,
      );
      type Node = { uid: string } & Record<string, unknown>;
      const pairs = new Set<string>();
      const wrong: string[] = [];
      for (const tag of data["tags"] as readonly Node[]) {
        if (tag["dgraph.type"] === undefined) wrong.push(`${tag.uid} has books and no type`);
        for (const { uid } of tag["IsoTag.books"] as readonly Node[])
          pairs.add(`${uid} ${tag.uid}`);
      }
      for (const book of data["books"] as readonly Node[]) {
        if (book["dgraph.type"] === undefined) wrong.push(`${book.uid} has tags and no type`);
        for (const { uid } of book["IsoBook.tags"] as readonly Node[]) {
          if (!pairs.delete(`${book.uid} ${uid}`))
            wrong.push(`half an edge, ${book.uid} to ${uid}`);
        }
      }
      for (const pair of pairs) wrong.push(`half an edge, back, of ${pair}`);
      return wrong;
    },
    count: () => done,
  };
}
