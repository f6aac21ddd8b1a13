import { expect, test } from "vitest";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import { queryDefaults } from "./engine.ts";

/** A store whose slots a test gives to others. */
function openStore(): { store: Store; giveAway: () => void; tell: () => void } {
  const store = openMemoryStore({ derive: deriveFill });
  let tell = (): void => {};
  let version = 0;
  const bumped: Store = {
    ...store,
    claimSlot: (onLost) => {
      tell = onLost ?? tell;
      return store.claimSlot();
    },
    snapshot: async () => {
      const snapshot = await store.snapshot();
      return { ...snapshot, slotsVersion: snapshot.slotsVersion + version };
    },
    slots: async () => {
      const slots = new Map(await store.slots());
      if (version > 0) for (const [slot, floorTs] of slots) slots.set(slot, floorTs + 100);
      return slots;
    },
  };
  return { store: bumped, giveAway: () => void version++, tell: () => tell() };
}

const text = "{ q(func: uid(0x1)) { uid } }";

async function openServer(): Promise<{
  ask: () => Promise<{ startTs: number }>;
  begin: () => Promise<unknown>;
  lost: () => number;
  giveAway: () => void;
  tell: () => void;
}> {
  const { store, giveAway, tell } = openStore();
  let lost = 0;
  const engine = await openEngine({ store, onSlotLost: () => lost++ });
  return {
    ask: () => engine.query({ ...queryDefaults, namespace: 0, readOnly: false, text }),
    begin: () =>
      engine.mutate({
        namespace: 0,
        body: { kind: "rdf", text: '{ set { <0x1> <name> "a" . } }' },
        startTs: 0,
        commitNow: false,
        timeoutMs: 0,
      }),
    lost: () => lost,
    giveAway,
    tell,
  };
}

test("a process whose slot is another's in the state that it reads hands out no start time", async () => {
  const { ask, begin, lost, giveAway } = await openServer();
  await ask();
  giveAway();
  await expect(ask()).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  await expect(begin()).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  expect(lost()).toBe(1);
});

test("a process that is told hands out none either, and its open transactions end", async () => {
  const { ask, begin, lost, tell } = await openServer();
  await begin();
  tell();
  await expect(ask()).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  await expect(begin()).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  expect(lost()).toBe(1);
});
