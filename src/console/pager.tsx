/** Pages of a list that is walked by the last uid of each: how often it was gone on is how one comes back. */
import { type ReactNode, useState } from "react";
import { pageSize } from "./graph-queries.ts";
import { printCount } from "./parts.tsx";

interface Pager {
  /** The last uid of the page before; "" on the first. */
  readonly after: string;
  /** How many lines stand before this page. */
  readonly before: number;
  readonly next: (last: string) => void;
  readonly back: () => void;
}

export function usePager(): Pager {
  const [lasts, setLasts] = useState<readonly string[]>([]);
  return {
    after: lasts.at(-1) ?? "",
    before: lasts.length * pageSize,
    next: (last) => setLasts([...lasts, last]),
    back: () => setLasts(lasts.slice(0, -1)),
  };
}

interface PagerBarProps {
  readonly pager: Pager;
  /** Lines of this page. */
  readonly count: number;
  readonly total: number;
  /** The uid of the last line. */
  readonly last: string | undefined;
  readonly what: string;
}

export function PagerBar({ pager, count, total, last, what }: PagerBarProps): ReactNode {
  if (total <= pageSize && pager.before === 0) return null;
  const end = pager.before + count;
  return (
    <div className="pager" role="navigation" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={pager.before === 0} onClick={pager.back}>
        Back
      </button>
      <span role="status">
        {printCount(Math.min(pager.before + 1, end))}–{printCount(end)} of {printCount(total)}
      </span>
      <button
        type="button"
        disabled={end >= total || last === undefined || count < pageSize}
        onClick={() => pager.next(last ?? "")}
      >
        Next
      </button>
    </div>
  );
}
