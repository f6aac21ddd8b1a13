/**
 * Which of the nodes that an input refers to the caller may see, on the state before the write. A hidden one is as good
 * as none: what is said of it is what would be said if it did not exist.
 */
import type { InterfaceType, NamedType, NodeType } from "../schema/compiled-schema.ts";
import { isNode } from "../operation/meta.ts";
import type { Guard } from "./lower-context.ts";
import type { InputNode, InputXid } from "./mutation-input.ts";
import type { FoundNode, Lookups } from "./mutation-lookup.ts";
import { findPermitted } from "./mutation-permitted.ts";
import type { MutationStage } from "./mutation-stage.ts";

export class Sight {
  readonly #guard: Guard | undefined;
  readonly #hidden: ReadonlyMap<NamedType, ReadonlySet<number>>;

  constructor(guard: Guard | undefined, hidden: ReadonlyMap<NamedType, ReadonlySet<number>>) {
    this.#guard = guard;
    this.#hidden = hidden;
  }

  /** Whether a node is hidden, as one of the type under which it was looked up. */
  hides(type: NamedType, uid: number): boolean {
    return this.#hidden.get(type)?.has(uid) === true;
  }

  /**
   * Whether a reference to a node that the caller may not see is refused: one by its `ID`, which alone can be kept
   * secret, and one whose edge has another side there, which would be changed.
   */
  isBarred({ id, edge }: InputNode): boolean {
    if (id !== undefined) return true;
    if (edge?.source.kind !== "edge") return false;
    return edge.source.inverse !== undefined || this.#guard?.goesBy(edge.source) === true;
  }
}

/** Of schemas without rules. */
export const openSight = new Sight(undefined, new Map());

/** Asks for the nodes of references; those at the top are judged where they are taken. */
export async function lookAround(
  stage: MutationStage,
  nodes: readonly InputNode[],
  lookups: Lookups,
): Promise<Sight> {
  const { guard } = stage;
  const asked = new Map<NamedType, Set<number>>();
  if (guard === undefined) return openSight;
  const note = (type: NodeType, found: FoundNode | undefined): void => {
    if (found === undefined || !guard.hides(type)) return;
    const uids = asked.get(type);
    if (uids === undefined) asked.set(type, new Set([found.uid]));
    else uids.add(found.uid);
  };
  for (const { type, edge, id, xids } of nodes) {
    if (edge === undefined) continue;
    const own = (node: FoundNode | undefined): boolean =>
      node?.types.has(type.node.typeName) === true;
    const byId = id === undefined ? undefined : lookups.byId(id);
    if (own(byId)) note(type, byId);
    for (const xid of xids) {
      for (const node of lookups.byKey(xid.key)) if (own(node)) note(type, node);
      const foreign = foreignHolder(lookups, type, xid);
      if (foreign !== undefined) note(foreign.face, foreign.node);
    }
  }
  const found = new Map<NamedType, ReadonlySet<number>>();
  for (const [type, uids] of asked) found.set(type, await findHidden(stage, type, [...uids]));
  return new Sight(guard, found);
}

/** Of some nodes those that the caller does not see. */
export async function findHidden(
  stage: MutationStage,
  type: NamedType,
  uids: readonly number[],
): Promise<ReadonlySet<number>> {
  const seen = await findPermitted(stage, type, uids, "query");
  return new Set(seen === undefined ? [] : uids.filter((uid) => !seen.has(uid)));
}

/** Whether an object names, by an id of its own, what could be a hidden node. */
export function mayBeHidden(guard: Guard, { type, id, xids }: InputNode): boolean {
  if (id === undefined && xids.length === 0) return false;
  return (
    guard.hides(type) || xids.some((xid) => wideOf(type, xid).some((face) => guard.hides(face)))
  );
}

interface ForeignHolder {
  readonly node: FoundNode;
  /** The interface in which the id must be unique. */
  readonly face: NodeType & InterfaceType;
}

/** A node of another implementing type that has an id which must be unique in the whole interface. */
export function foreignHolder(
  lookups: Lookups,
  type: NodeType,
  xid: InputXid,
): ForeignHolder | undefined {
  const [face] = wideOf(type, xid);
  if (face === undefined) return undefined;
  const node = lookups
    .byKey(xid.key)
    .find(({ types }) => types.has(face.node.typeName) && !types.has(type.node.typeName));
  return node && { node, face };
}

/** The interface, if any, in all of which an id must be unique. */
function wideOf(
  type: NodeType,
  { field: { source } }: InputXid,
): readonly (NodeType & InterfaceType)[] {
  if (source.kind !== "value" || source.xid?.isInterfaceWide !== true) return [];
  if (type.kind !== "object") return [];
  const face = type.interfaces.find((one) => one.name === source.declaredIn);
  return isNode(face) && face.kind === "interface" ? [face] : [];
}
