/** Plans as text: for people who ask how a query runs, and for the golden files (test/golden). */
import type { FunctionTable } from "./builder.ts";
import type { PlanWords } from "./functions.ts";
import type {
  BlockPlan,
  CallPlan,
  FacetFilterPlan,
  FacetsPlan,
  FieldPlan,
  FilterPlan,
  GroupPlan,
  Level,
  MathPlan,
  OrderPlan,
  PagePlan,
  Plan,
  PredicateUse,
  SlotIndex,
  SlotKind,
  ValuesPlan,
} from "./plan.ts";

/** What a line of a printed plan tells about. */
export type StepKind = "block" | "root" | "or" | "filter" | "order" | "page" | "level" | "field";

/** A line of a printed plan, and what stands below it. */
export interface PlanLine {
  readonly step: StepKind;
  readonly text: string;
  /** The parts of the plan that do this step: what was measured of a run is found by them. */
  readonly of: readonly object[];
  readonly lines: PlanLine[];
}

/**
 * A plan as a tree of lines, its blocks in the order in which they run. Slots print as the literals `texts` where they
 * are given, else as `$0`, `$1` …
 */
export function describePlan(
  plan: Plan,
  functions: FunctionTable,
  texts?: readonly string[],
): readonly PlanLine[] {
  const lines: PlanLine[] = [];
  const printer = new Printer(plan, functions, texts);
  for (const b of plan.schedule) {
    const block = plan.blocks[b];
    if (block !== undefined) printer.block(lines, block, b);
  }
  return lines;
}

/** Slots print as `$0`, `$1` …, with their first literals in a list at the end. */
export function printPlanned(plan: Plan, functions: FunctionTable): string {
  const out: string[] = [];
  const print = (lines: readonly PlanLine[], depth: number): void => {
    for (const line of lines) {
      out.push("  ".repeat(depth) + line.text);
      print(line.lines, depth + 1);
    }
  };
  print(describePlan(plan, functions), 0);
  plan.slots.forEach((slot, i) => {
    out.push(`$${i} ${slot.kind} ${JSON.stringify(slot.literal.text)}`);
  });
  return out.join("\n") + "\n";
}

class Printer {
  readonly #plan: Plan;
  readonly #functions: FunctionTable;
  readonly #words: PlanWords;
  readonly #texts: readonly string[] | undefined;
  readonly #printed = new Set<number>();

  constructor(plan: Plan, functions: FunctionTable, texts: readonly string[] | undefined) {
    this.#plan = plan;
    this.#functions = functions;
    this.#words = {
      slot: (slot) => this.#slot(slot),
      slots: (slots) => this.#slots(slots),
      variable: (variable) => this.#name(variable),
      values: (values) => this.#values(values),
      use: useText,
    };
    this.#texts = texts;
  }

  #variable(variable: number | undefined): string {
    if (variable === undefined) return "";
    return `${this.#plan.variables[variable]?.name ?? "?"} as `;
  }

  #name(variable: number): string {
    return this.#plan.variables[variable]?.name ?? "?";
  }

  /** A slot as the plan names it, or what stands in it. */
  #slot(index: SlotIndex): string {
    const text = this.#texts?.[index];
    if (text === undefined) return `$${index}`;
    const kind = this.#plan.slots[index]?.kind;
    const isBare = kind !== undefined && bareKinds.has(kind);
    if (isBare) return text;
    return JSON.stringify(text.length > textMax ? `${text.slice(0, textMax)}…` : text);
  }

  #slots(indexes: readonly SlotIndex[]): string {
    return indexes.map((index) => this.#slot(index)).join(" ");
  }

  #named(name: string, index: SlotIndex | undefined): string {
    return index === undefined ? "" : `${name} ${this.#slot(index)}`;
  }

  block(lines: PlanLine[], block: BlockPlan, number: number): void {
    const name = block.name === "" ? "" : ` ${block.name}`;
    const text = `${this.#variable(block.variable)}block ${number}: ${block.kind}${name}`;
    const into = add(lines, "block", text, block);
    const { root, recurse, shortest } = block;
    if (root !== undefined) {
      // As written; where another choice is taken, it is one of the conditions.
      const of = [root.choices[0], root.call];
      const others = add(into, "root", `root ${root.accessPath}: ${this.#call(root.call)}`, ...of);
      for (const choice of root.choices.slice(1)) {
        add(others, "or", `or ${this.#call(choice.call)}`, choice);
      }
      if (root.among !== undefined) this.#filterPart(others, root.among, "among ");
    }
    if (recurse !== undefined) {
      const bounds = this.#named(" depth", recurse.depth) + this.#named(" loop", recurse.loop);
      add(into, "level", `recurse${bounds}`);
    }
    if (shortest !== undefined) {
      add(into, "level", `shortest paths${this.#named(" k", shortest.numPaths)}`, shortest);
    }
    this.#filter(
      into,
      block.filter,
      root?.choices.map(({ rest }) => rest),
    );
    this.#order(into, block.order);
    this.#page(into, block.page);
    const flags = [
      block.normalize ? "normalize" : "",
      block.ignoreReflex ? "ignorereflex" : "",
    ].filter((flag) => flag !== "");
    if (flags.length > 0) add(into, "block", flags.join(" "));
    if (block.groupBy !== undefined) this.#group(into, block.groupBy);
    this.#level(into, block.level);
  }

  #level(lines: PlanLine[], level: Level): void {
    if (this.#printed.has(level.id)) {
      add(lines, "level", `level ${level.id} again`);
      return;
    }
    this.#printed.add(level.id);
    const { cascade } = level;
    const names = cascade?.names === undefined ? "" : ` ${cascade.names.join(" ")}`;
    const text = `level ${level.id}${cascade === undefined ? "" : ` cascade${names}`}`;
    const into = add(lines, "level", text, level);
    for (const field of level.fields) this.#field(into, field);
  }

  #field(lines: PlanLine[], field: FieldPlan): void {
    const text = `${this.#variable(field.variable)}${field.kind}${this.#subject(field)}`;
    const into = add(lines, "field", text, field);
    switch (field.kind) {
      case "value":
        return this.#facets(into, field.facets, field.facetFilter);
      case "count":
        this.#facets(into, undefined, field.facetFilter);
        this.#filter(into, field.filter);
        if (field.page !== undefined) this.#page(into, field.page);
        return;
      case "edge":
        this.#facets(into, field.facets, field.facetFilter);
        this.#filter(into, field.filter);
        this.#order(into, field.order);
        this.#page(into, field.page);
        if (field.groupBy !== undefined) this.#group(into, field.groupBy);
        if (field.level !== undefined) this.#level(into, field.level);
        return;
      case "expand":
        this.#filter(into, field.filter);
        if (field.level !== undefined) this.#level(into, field.level);
        return;
      default:
        return;
    }
  }

  /** What a field's line says after its kind. */
  #subject(field: FieldPlan): string {
    switch (field.kind) {
      case "uid":
      case "countUid":
        return "";
      case "value":
        return ` ${useText(field.use)} ${field.form}`;
      case "count":
      case "absent":
        return ` ${useText(field.use)}`;
      case "edge":
        return ` ${useText(field.use)}${field.single ? " single" : ""}`;
      case "val":
        return ` ${this.#name(field.of)}`;
      case "aggregate": {
        const where = field.through === undefined ? "" : ` through field ${field.through}`;
        return ` ${field.function} ${this.#name(field.of)}${where}`;
      }
      case "math":
        return ` ${this.#math(field.expression)}`;
      case "expand":
        return ` ${field.of.kind}`;
      case "checkpwd":
        return ` ${field.predicate.definition.name}`;
      case "refused":
        return ` ${field.refusal.text}`;
    }
  }

  #math(math: MathPlan): string {
    switch (math.kind) {
      case "constant":
        return this.#slot(math.slot);
      case "variable":
        return this.#name(math.variable);
      case "apply":
        return `(${[math.operator, ...math.operands.map((part) => this.#math(part))].join(" ")})`;
    }
  }

  #group(lines: PlanLine[], group: GroupPlan): void {
    const keys = group.keys.map(({ use }) => useText(use)).join(", ");
    const into = add(lines, "field", `group by ${keys}`, group);
    for (const aggregate of group.aggregates) {
      add(into, "field", `${this.#variable(aggregate.variable)}${aggregate.key}`);
    }
  }

  #page(lines: PlanLine[], page: PagePlan): void {
    const text = this.#named(" first", page.first) + this.#named(" offset", page.offset);
    const all = text + this.#named(" after", page.after);
    if (all !== "") add(lines, "page", `page${all}`, page);
  }

  #order(lines: PlanLine[], order: OrderPlan | undefined): void {
    if (order === undefined) return;
    add(lines, "order", `order ${this.#orderText(order)}`, order);
  }

  #orderText(order: OrderPlan): string {
    switch (order.kind) {
      case "refused":
        return `refused: ${order.refusal.text}`;
      case "variable":
        return `by val ${this.#name(order.variable)}${order.descending ? " desc" : ""}`;
      case "values": {
        const keys = order.keys.map((key) => useText(key.use) + (key.descending ? " desc" : ""));
        const walk = order.walk === undefined ? "" : ` (index ${order.walk.tokenizer})`;
        return `by ${keys.join(", ")}${walk}`;
      }
    }
  }

  #facets(
    lines: PlanLine[],
    facets: FacetsPlan | undefined,
    filter: FacetFilterPlan | undefined,
  ): void {
    if (facets !== undefined) {
      const names = facets.all ? ["all"] : facets.fields.map((field) => field.key);
      const order = facets.order.map(({ key, descending }) => `${key}${descending ? " desc" : ""}`);
      const by = order.length === 0 ? "" : ` ordered by ${order.join(", ")}`;
      add(lines, "field", `facets ${names.join(" ")}${by}`);
    }
    if (filter !== undefined) add(lines, "filter", `facet filter ${this.#facetFilter(filter)}`);
  }

  #facetFilter(filter: FacetFilterPlan): string {
    switch (filter.kind) {
      case "and":
      case "or": {
        const parts = filter.filters.map((part) => this.#facetFilter(part));
        return `(${parts.join(` ${filter.kind} `)})`;
      }
      case "not":
        return `not ${this.#facetFilter(filter.filter)}`;
      case "test":
        return `${filter.operator} ${filter.key} ${this.#slot(filter.value)}`;
    }
  }

  /** `instead`: what is tested where another choice of the root is taken. */
  #filter(
    lines: PlanLine[],
    filter: FilterPlan | undefined,
    instead: readonly (FilterPlan | undefined)[] = [],
  ): void {
    if (filter === undefined) return;
    const line = this.#filterPart(lines, filter, "filter ");
    for (const other of instead) if (other !== undefined && other !== filter) line.push(other);
  }

  /** Adds the lines of a filter; gives the parts that its first line is about. */
  #filterPart(lines: PlanLine[], filter: FilterPlan, before: string): object[] {
    const start = filter.rule === undefined ? before : `${before}rule of ${filter.rule}: `;
    const of: object[] = [filter.kind === "call" ? filter.call : filter];
    const line = (text: string): PlanLine[] => {
      const made: PlanLine = { step: "filter", text: start + text, of, lines: [] };
      lines.push(made);
      return made.lines;
    };
    switch (filter.kind) {
      case "and":
      case "or": {
        const into = line(filter.kind);
        for (const part of filter.filters) this.#filterPart(into, part, "");
        return of;
      }
      case "not": {
        // The line tells what is left, so it is about the negation.
        const inner = this.#filterPart(lines, filter.filter, `${start}not `);
        inner.splice(0, inner.length, filter);
        return inner;
      }
      case "constant":
        line(String(filter.value));
        return of;
      case "call":
        line(this.#call(filter.call));
        return of;
      case "edge": {
        const into = line(`edge ${useText(filter.use)}`);
        if (filter.filter !== undefined) this.#filterPart(into, filter.filter, "");
        return of;
      }
    }
  }

  #call(call: CallPlan): string {
    return this.#functions.of(call).describe(call, this.#words);
  }

  #values(values: ValuesPlan): string {
    return values.variable === undefined
      ? this.#slots(values.slots)
      : `val ${this.#name(values.variable)}`;
  }
}

/** Literals of these kinds are told without quotes. */
const bareKinds: ReadonlySet<SlotKind> = new Set([
  "first",
  "offset",
  "after",
  "uid",
  "count",
  "number",
  "depth",
  "loop",
]);

/** Characters of a literal that are shown. */
const textMax = 60;

function add(
  lines: PlanLine[],
  step: StepKind,
  text: string,
  ...of: readonly (object | undefined)[]
): PlanLine[] {
  const line = { step, text, of: of.filter((part) => part !== undefined), lines: [] };
  lines.push(line);
  return line.lines;
}

function useText(use: PredicateUse): string {
  const tags = use.languages.length === 0 ? "" : `@${use.languages.join(":")}`;
  return `${use.reverse ? "~" : ""}${use.name}${tags}`;
}
