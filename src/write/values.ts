/** Edits of one node's values → patches: slots of its record, tokens of its indexes (reference/dql 3.2, 3.3). */
import { encodeCell } from "../codec/cell.ts";
import type { Cell } from "../graph/reader.ts";
import { attempt } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import type { Facets } from "../model/facet.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { MemberPatch } from "../store/store.ts";
import { fingerprintValue } from "../tokens/fingerprint.ts";
import { groupKeyOf } from "./edit-group.ts";
import type { Derived, EditGroup, PlainEdit } from "./edit-group.ts";
import { elementKey, tokenKey } from "./conflict.ts";
import { storedTokens } from "../graph/value-tokens.ts";
import type { TaggedValue } from "../graph/value-tokens.ts";
import { addTokens, deriveTokens } from "./derived.ts";

interface SlotValue extends TaggedValue {
  readonly facets: Facets | undefined;
}

/** Slot → what it holds in the end, undefined for nothing; only slots that the edits touch. */
type Slots = Map<string, SlotValue | undefined>;

export function deriveValues(derived: Derived, storageId: number, group: EditGroup): void {
  const only = group.edits.length === 1 ? group.edits[0] : undefined;
  if (only?.kind === "setValue" && (group.cells?.length ?? 0) === 0) {
    deriveFirst(derived, storageId, group, only);
    return;
  }
  const before = slotsBefore(group);
  const slots = followEdits(group, before);
  const { uid, predicate } = group;
  const countIndex = predicate.countIndex?.id ?? 0;
  for (const [slot, held] of slots) {
    if (held === undefined && before !== undefined && !before.has(slot) && slot !== "") continue;
    derived.patches.push({
      kind: "cell",
      storageId,
      uid,
      predicate: predicate.id,
      slot,
      cell: held === undefined ? undefined : encodeCell(held.value, held.language, held.facets),
      countIndex,
    });
  }
  if (predicate.indexes.length > 0 && before !== undefined) {
    const added: TaggedValue[] = [];
    const removed: TaggedValue[] = [];
    for (const [slot, held] of slots) {
      const cell = before.get(slot);
      if (cell !== undefined) removed.push(cell);
      if (held !== undefined) added.push(held);
    }
    const patches: MemberPatch[] = [];
    deriveTokens(
      patches,
      { storageId, uid, predicate },
      {
        added,
        removed,
        kept: () => untouched(before, slots),
      },
    );
    for (const patch of patches) derived.patches.push(patch);
    if (predicate.definition.upsert)
      addTokenKeys(derived, storageId, group, [...added, ...removed]);
  }
  addConflictKeys(derived, storageId, group);
}

function untouched(before: ReadonlyMap<string, Cell>, slots: Slots): readonly Cell[] {
  const cells: Cell[] = [];
  for (const [slot, cell] of before) if (!slots.has(slot)) cells.push(cell);
  return cells;
}

/** One value where nothing stands, or where it does not matter what does: most of what is written. */
function deriveFirst(
  derived: Derived,
  storageId: number,
  group: EditGroup,
  edit: Extract<PlainEdit, { kind: "setValue" }>,
): void {
  const { uid, predicate } = group;
  const { list, upsert, noconflict } = predicate.definition;
  const slot = list ? fingerprintValue(edit.value) : edit.language;
  const language = list ? "" : edit.language;
  derived.patches.push({
    kind: "cell",
    storageId,
    uid,
    predicate: predicate.id,
    slot,
    cell: encodeCell(edit.value, language, edit.facets),
    countIndex: predicate.countIndex?.id ?? 0,
  });
  if (predicate.indexes.length > 0) {
    const held = { value: edit.value, language };
    const place = { storageId, uid, predicate };
    for (const index of predicate.indexes) addTokens(derived.patches, place, index, held);
    if (upsert) addTokenKeys(derived, storageId, group, [held]);
  }
  if (noconflict) return;
  derived.conflictKeys.add(
    list
      ? elementKey({ storageId, predicate: predicate.id, uid }, slot)
      : groupKeyOf(group, storageId),
  );
}

/** Cells by their slot: the language, or an element's fingerprint. */
function slotsBefore(group: EditGroup): ReadonlyMap<string, Cell> | undefined {
  if (group.cells === undefined) return undefined;
  const { list } = group.predicate.definition;
  const slots = new Map<string, Cell>();
  for (const cell of group.cells) {
    slots.set(list ? fingerprintValue(cell.value) : cell.language, cell);
  }
  return slots;
}

function followEdits(group: EditGroup, before: ReadonlyMap<string, Cell> | undefined): Slots {
  const slots: Slots = new Map();
  const { list, kind } = group.predicate.definition;
  if (list && group.predicate.formerScalar) moveFormerScalar(slots, before);
  for (const edit of group.edits) {
    switch (edit.kind) {
      case "setValue": {
        const slot = list ? fingerprintValue(edit.value) : edit.language;
        const { value, language, facets } = edit;
        slots.set(slot, { value, language: list ? "" : language, facets });
        break;
      }
      case "deleteValue": {
        const slot = findValue(edit, slots, before, list ? (kind as ValueKind) : undefined);
        if (slot !== undefined) slots.set(slot, undefined);
        break;
      }
      case "clear":
        if (edit.language !== undefined && !list) {
          slots.set(edit.language, undefined);
          break;
        }
        for (const slot of slots.keys()) slots.set(slot, undefined);
        for (const slot of before?.keys() ?? []) slots.set(slot, undefined);
        break;
      case "setEdge":
      case "deleteEdge":
        break;
    }
  }
  return slots;
}

/** The slot that holds exactly this value; of a list (`kind` given) whichever it is, of a single value its own. */
function findValue(
  edit: Extract<PlainEdit, { kind: "deleteValue" }>,
  slots: Slots,
  before: ReadonlyMap<string, Cell> | undefined,
  kind: ValueKind | undefined,
): string | undefined {
  const wanted = fingerprintValue(edit.value);
  const isWanted = (value: Value | undefined): boolean => {
    if (value === undefined) return false;
    const converted =
      value.kind === edit.value.kind ? value : attempt(() => convertValue(value, edit.value.kind));
    return converted !== undefined && fingerprintValue(converted) === wanted;
  };
  if (kind === undefined) {
    const slot = edit.language;
    const held = slots.has(slot) ? slots.get(slot) : before?.get(slot);
    return isWanted(held?.value) ? slot : undefined;
  }
  const held = slots.has(wanted) ? slots.get(wanted) : before?.get(wanted);
  if (held !== undefined) return wanted;
  for (const [slot, cell] of before ?? []) {
    if (!slots.has(slot) && cell.kind !== kind && isWanted(cell.value)) return slot;
  }
  return undefined;
}

/** The value of a predicate that became a list moves from the untagged slot to the one of an element. */
function moveFormerScalar(slots: Slots, before: ReadonlyMap<string, Cell> | undefined): void {
  if (before === undefined || before.size !== 1) return;
  for (const [slot, cell] of before) {
    slots.set(slot, { value: cell.value, language: "", facets: cell.facets });
  }
  slots.set("", undefined);
}

function addTokenKeys(
  derived: Derived,
  storageId: number,
  group: EditGroup,
  values: readonly TaggedValue[],
): void {
  if (group.predicate.definition.noconflict) return;
  for (const index of group.predicate.indexes) {
    for (const value of values) {
      for (const token of storedTokens(group.predicate, index, value)) {
        derived.conflictKeys.add(tokenKey(storageId, index.id, token));
      }
    }
  }
}

function addConflictKeys(derived: Derived, storageId: number, group: EditGroup): void {
  const { definition, id } = group.predicate;
  if (definition.noconflict) return;
  const place = { storageId, predicate: id, uid: group.uid };
  for (const edit of group.edits) {
    const isElement = edit.kind === "setValue" || edit.kind === "deleteValue";
    if (definition.list && isElement) {
      derived.conflictKeys.add(elementKey(place, fingerprintValue(edit.value)));
    } else {
      derived.conflictKeys.add(groupKeyOf(group, storageId));
    }
  }
}
