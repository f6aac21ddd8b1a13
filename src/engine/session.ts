/** Writes over a view: what a request or a managed transaction adds, seen by its own reads, not yet committed. */
import { assert, must } from "../base/assert.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Overlay } from "../graph/overlay.ts";
import type { Reader } from "../graph/reader.ts";
import type { Look } from "../model/request-budget.ts";
import type { Patch } from "../store/store.ts";
import { derivePatches } from "../write/apply.ts";
import type { Derived } from "../write/edit-group.ts";
import type { Edit } from "../write/edit.ts";
import { expandNodes } from "../write/expand-nodes.ts";
import { applyToOverlay } from "../write/overlay-derived.ts";
import { checkReservedNodes, touchesReserved } from "./reserved-nodes.ts";
import type { WriteRights } from "./reserved-nodes.ts";
import type { View } from "./reader-factory.ts";

const noKeys: ReadonlySet<string> = new Set();

export class WriteSession {
  readonly view: View;
  #hasAdded = false;
  #edits: readonly Edit[] = [];
  #patches: readonly Patch[] = [];
  #conflictKeys: ReadonlySet<string> = noKeys;
  #basisKeys: ReadonlySet<string> = noKeys;
  #touchedNodes: ReadonlySet<string> | undefined = undefined;
  #deletedNodes: ReadonlySet<string> | undefined = undefined;
  readonly #overlay: Overlay;
  /** Derived, but not in the overlay yet: most requests never read what they wrote. */
  #pending: Derived[] = [];

  readonly #rights: WriteRights;
  readonly #look: Look | undefined;

  /** `view` must have been opened with `overlay`. `look`: asked on the way through many edits. */
  constructor(view: View, overlay: Overlay, rights: WriteRights, look?: Look) {
    this.view = view;
    this.#overlay = overlay;
    this.#rights = rights;
    this.#look = look;
  }

  /**
   * Adds edits of one request (or one call of a managed transaction). `fresh`: uids that were leased for them. Nothing is added
   * when it throws.
   */
  async add(edits: readonly Edit[], fresh?: ReadonlySet<number>): Promise<void> {
    const shown = this.show();
    if (shown instanceof Promise) await shown;
    const { reader } = this.view;
    const expanding = expandNodes(reader, edits, this.#rights.access);
    const expanded = expanding instanceof Promise ? await expanding : expanding;
    if (touchesReserved(expanded.edits)) {
      await checkReservedNodes(reader, expanded.edits, this.#rights);
    }
    const deriving = derivePatches(reader, expanded.edits, fresh, this.#look);
    const derived = deriving instanceof Promise ? await deriving : deriving;
    for (const key of expanded.basisKeys) derived.basisKeys.add(key);
    this.#pending.push(derived);
    if (!this.#hasAdded) {
      this.#hasAdded = true;
      // Most requests add once: what was derived is all there is.
      this.#edits = expanded.edits;
      this.#patches = derived.patches;
      this.#conflictKeys = derived.conflictKeys;
      this.#basisKeys = derived.basisKeys;
      this.#touchedNodes = derived.touchedNodes;
      this.#deletedNodes = derived.deletedNodes;
      return;
    }
    this.#edits = [...this.#edits, ...expanded.edits];
    this.#patches = [...this.#patches, ...derived.patches];
    this.#conflictKeys = new Set([...this.#conflictKeys, ...derived.conflictKeys]);
    this.#basisKeys = new Set([...this.#basisKeys, ...derived.basisKeys]);
    this.#touchedNodes = joinKeys(this.#touchedNodes, derived.touchedNodes);
    this.#deletedNodes = joinKeys(this.#deletedNodes, derived.deletedNodes);
  }

  get edits(): readonly Edit[] {
    return this.#edits;
  }

  get patches(): readonly Patch[] {
    return this.#patches;
  }

  get conflictKeys(): ReadonlySet<string> {
    return this.#conflictKeys;
  }

  get basisKeys(): ReadonlySet<string> {
    return this.#basisKeys;
  }

  /** undefined: none. */
  get touchedNodes(): ReadonlySet<string> | undefined {
    return this.#touchedNodes;
  }

  /** undefined: none. */
  get deletedNodes(): ReadonlySet<string> | undefined {
    return this.#deletedNodes;
  }

  /** Makes everything that was added visible to the view's reader. */
  show(): MaybePromise<void> {
    return this.#show(undefined);
  }

  /** `show`, where others have their turn on the way; nothing of the session may be read meanwhile. */
  showInSteps(): MaybePromise<void> {
    return this.#show(this.#look);
  }

  #show(look: Look | undefined): MaybePromise<void> {
    const pending = this.#pending;
    if (pending.length === 0) return undefined;
    this.#pending = [];
    return this.#showEach(pending, 0, look);
  }

  #showEach(pending: readonly Derived[], from: number, look: Look | undefined): MaybePromise<void> {
    for (let i = from; i < pending.length; i++) {
      const derived = must(pending[i], "i is below the end");
      const shown = applyToOverlay(this.#overlay, derived, this.view.reader, look);
      if (shown instanceof Promise) return shown.then(() => this.#showEach(pending, i + 1, look));
    }
    return undefined;
  }

  /** The view with everything that was added; for embedded stores, whose reads answer at once. */
  get reader(): Reader {
    const shown = this.show();
    assert(
      !(shown instanceof Promise),
      "writes over a network store are shown when they are added",
    );
    return this.view.reader;
  }
}

function joinKeys(
  some: ReadonlySet<string> | undefined,
  others: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  if (some === undefined || others === undefined) return some ?? others;
  return new Set([...some, ...others]);
}
