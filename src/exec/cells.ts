/** Cells as a query sees them: of the languages asked for, and of the predicate's type as it is now. */
import type { Cell } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import { toFault } from "../model/conversion-error.ts";
import { convertValue } from "../model/convert.ts";
import { secondsOf } from "../model/datetime.ts";
import { printValueJson, printValueText } from "../model/print-value.ts";
import type { Value, ValueKind } from "../model/value.ts";
import { fingerprintKey } from "../tokens/fingerprint.ts";

const encoder = new TextEncoder();

/** A cell made of a value: for conversions, variables and the like. */
export function makeCell(value: Value, language: string, facets: Facets | undefined): Cell {
  const json = encoder.encode(printValueJson(value));
  return {
    kind: value.kind,
    language,
    number: numberOf(value),
    jsonLength: json.length,
    copyJson: (target, at) => target.set(json, at),
    text: printValueText(value),
    facets,
    value,
  };
}

/** As `Cell.number`. */
export function numberOf(value: Value): number {
  switch (value.kind) {
    case "int":
      return Number(value.int);
    case "float":
      return value.float;
    case "bool":
      return value.bool ? 1 : 0;
    case "datetime":
      return secondsOf(value.time) * 1000;
    default:
      return Number.NaN;
  }
}

/**
 * The cell as its predicate's type: values keep the type they were stored with and convert on reading. One value
 * that cannot be converted ends the query (reference/dql 2.10).
 */
export function convertCell(cell: Cell, kind: ValueKind): Cell {
  if (cell.kind === kind) return cell;
  try {
    return makeCell(convertValue(cell.value, kind), cell.language, cell.facets);
  } catch (error) {
    throw toFault("E_QUERY", error);
  }
}

/** As `convertCell`; undefined where a value cannot be converted (ordering does not fail on it). */
export function tryConvertCell(cell: Cell, kind: ValueKind): Cell | undefined {
  if (cell.kind === kind) return cell;
  try {
    return makeCell(convertValue(cell.value, kind), cell.language, cell.facets);
  } catch (error) {
    if (toFault("E_QUERY", error) === error) throw error;
    return undefined;
  }
}

/**
 * Picks among a node's cells of one predicate: languages in order, "." for untagged and then any (reference/dql 4.12).
 */
type CellChoice = (cells: readonly Cell[]) => Cell | undefined;

export function buildChoice(languages: readonly string[]): CellChoice {
  const [only] = languages;
  if (only === undefined) return untagged;
  if (languages.length === 1 && only !== ".") return (cells) => tagged(cells, only);
  return (cells) => {
    for (const language of languages) {
      const cell =
        language === "." ? (untagged(cells) ?? anyTagged(cells)) : tagged(cells, language);
      if (cell !== undefined) return cell;
    }
    return undefined;
  };
}

function untagged(cells: readonly Cell[]): Cell | undefined {
  const first = cells[0];
  // Untagged stands first (graph/reader.ts).
  return first !== undefined && first.language === "" ? first : undefined;
}

/** The tag with the smallest fingerprint, as the reference has it (reference/dql 4.12). */
function anyTagged(cells: readonly Cell[]): Cell | undefined {
  let best: Cell | undefined;
  let bestKey = "";
  for (const cell of cells) {
    const key = cells.length === 1 ? "" : fingerprintKey(cell.language);
    if (best !== undefined && key >= bestKey) continue;
    best = cell;
    bestKey = key;
  }
  return best;
}

function tagged(cells: readonly Cell[], language: string): Cell | undefined {
  for (const cell of cells) if (cell.language === language) return cell;
  return undefined;
}
