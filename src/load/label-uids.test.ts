import { expect, test } from "vitest";
import { LabelUids } from "./label-uids.ts";
import type { Client } from "./client.ts";

test("a label is one node through the whole load, and a hundred thousand are as many nodes", async () => {
  let next = 1000;
  const client: Client = {
    get: () => Promise.reject(new Error("not asked for")),
    post: (path) => {
      const count = Number(/num=(\d+)/.exec(path)?.[1]);
      const startId = next;
      next += count;
      const json = { startId: String(startId), endId: String(next - 1) };
      return Promise.resolve({ status: 200, messages: [], json, startTs: undefined });
    },
  };
  const nodes = new LabelUids(client);
  const uids = new Map<string, number>();
  for (let i = 0; i < 100_000; i++) {
    await nodes.prepare(1);
    uids.set(`_:n${i.toString(36)}`, nodes.resolve(`_:n${i.toString(36)}`));
  }
  expect(new Set(uids.values()).size).toBe(100_000);
  expect(uids.get("_:n0")).toBe(1000);
  for (const [label, uid] of uids) expect(nodes.resolve(label)).toBe(uid);
});
