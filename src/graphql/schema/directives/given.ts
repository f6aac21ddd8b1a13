import type { SdlPosition } from "../sdl-position.ts";

/** Of every directive that was read: where it stands. */
export interface Given {
  readonly at: SdlPosition;
}

/**
 * What stands at a type or a field: each directive by its name, read; where one stands twice, the first. The file of each
 * directive adds its member.
 */
export interface GivenDirectives {}
