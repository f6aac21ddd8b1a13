// Goal: a process whose node is gone for longer than reads wait is answered again as soon as there is one.
import { randomBytes } from "node:crypto";
import { afterAll, expect, test, vi } from "vitest";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { connectStore } from "../../src/stores/open.ts";
import { atTheEnd, closeMachines } from "../support/machines.ts";
import { openNode } from "../support/nodes.ts";

afterAll(closeMachines);

test("a strict read that ended while there was no node leaves those after it as they are", async () => {
  const storeId = randomBytes(16).toString("hex");
  const log = connectTwin(new TwinEngine({ compares: true, isLazy: false }));
  // No clock is trusted: each read asks the node, also where it leads.
  const { machine, dir } = await openNode(log, storeId, { isQuorum: true });
  await vi.waitFor(() => expect(machine.facts.role).toBe("leading"), 5000);
  const process = await connectStore({ dir, currentMs: 300 });
  atTheEnd(() => process.close());
  expect("whenCurrent" in process).toBe(true);
  const read = async (): Promise<void> => process.whenCurrent?.();
  await read();
  await machine.close();
  const words = "this machine's node does not answer";
  // The first may have been sent yet, the second waits for a node.
  await expect(read()).rejects.toThrow(words);
  await expect(read()).rejects.toThrow(words);
  const next = await openNode(log, storeId, { dir, isQuorum: true });
  await vi.waitFor(() => expect(next.machine.facts.role).toBe("leading"), 5000);
  await vi.waitFor(read, 5000);
});
