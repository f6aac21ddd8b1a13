/** Which view is shown, by the part of the address behind `#`: `#/data/node/0x1`. Its steps are in the browser's history. */
import { useSyncExternalStore } from "react";

export const viewNames = ["graphql", "dql", "schema", "data", "requests", "health"] as const;
export type ViewName = (typeof viewNames)[number];

interface Route {
  readonly view: ViewName;
  /** What follows the view's name, decoded. */
  readonly rest: readonly string[];
}

export function useRoute(): Route {
  return readRoute(useSyncExternalStore(subscribe, () => location.hash));
}

/** Without a part of that name GraphQL is shown. */
export function readRoute(hash: string): Route {
  const [name = "", ...rest] = hash.replace(/^#\/?/, "").split("/").map(decode);
  const view = viewNames.find((one) => one === name);
  return view === undefined ? { view: "graphql", rest: [] } : { view, rest };
}

export function linkTo(view: ViewName, ...rest: readonly string[]): string {
  return `#/${[view, ...rest].map(encodeURIComponent).join("/")}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
