/** What `walkLog` tells is what the entries say. */
import { toHex } from "../../base/bytes.ts";
import type { AppliedPatch, Snapshot, Store } from "../store.ts";
import { same } from "./twin.ts";

export async function compareWalk(store: Store, snapshot: Snapshot, from: number): Promise<void> {
  const expected: string[] = [];
  for (const { commitTs, applied } of (await store.readLog(snapshot, from)) ?? []) {
    expected.push(`commit ${commitTs}`);
    for (const row of applied) expected.push(printTouched(row));
  }
  const told: string[] = [];
  const isWhole = await store.walkLog(snapshot, from, {
    begin: (commitTs) => told.push(`commit ${commitTs}`) > 0,
    wantsMembers: true,
    record: (...touched) => told.push(touched.join()),
    member: (list, member, isAdded) => told.push([toHex(list), member, isAdded].join()),
    meta: () => told.push("meta"),
  });
  same(isWhole, true, "the log reaches back");
  same(told, expected, "touched");
}

function printTouched({ patch, existed }: AppliedPatch): string {
  if (patch.kind === "meta") return "meta";
  if (patch.kind === "member") return [toHex(patch.list), patch.member, patch.add].join();
  const isSet = patch.kind === "cell" ? patch.cell !== undefined : patch.add;
  return [patch.storageId, patch.uid, patch.predicate, existed && isSet].join();
}
