/** Plans as text: for people who ask how a query runs, and for the golden files (test/golden). */
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
} from "./plan.ts";

/** Slots print as `$0`, `$1` …, with their first literals in a list at the end. */
export function printPlan(plan: Plan): string {
  const lines: string[] = [];
  const printer = new Printer(plan, lines);
  for (const b of plan.schedule) {
    const block = plan.blocks[b];
    if (block !== undefined) printer.block(block, b);
  }
  plan.slots.forEach((slot, i) => {
    lines.push(`$${i} ${slot.kind} ${JSON.stringify(slot.literal.text)}`);
  });
  return lines.join("\n") + "\n";
}

class Printer {
  readonly #plan: Plan;
  readonly #lines: string[];
  readonly #printed = new Set<number>();

  constructor(plan: Plan, lines: string[]) {
    this.#plan = plan;
    this.#lines = lines;
  }

  #add(depth: number, text: string): void {
    this.#lines.push("  ".repeat(depth) + text);
  }

  #variable(variable: number | undefined): string {
    if (variable === undefined) return "";
    return `${this.#plan.variables[variable]?.name ?? "?"} as `;
  }

  #name(variable: number): string {
    return this.#plan.variables[variable]?.name ?? "?";
  }

  block(block: BlockPlan, number: number): void {
    const name = block.name === "" ? "" : ` ${block.name}`;
    this.#add(0, `${this.#variable(block.variable)}block ${number}: ${block.kind}${name}`);
    if (block.root !== undefined) {
      this.#add(1, `root ${block.root.way}: ${this.call(block.root.call)}`);
      for (const choice of block.root.choices.slice(1)) {
        this.#add(2, `or ${this.call(choice.call)}`);
      }
    }
    const { recurse, shortest } = block;
    if (recurse !== undefined) {
      this.#add(1, `recurse${slot(" depth", recurse.depth)}${slot(" loop", recurse.loop)}`);
    }
    if (shortest !== undefined) this.#add(1, `shortest paths${slot(" k", shortest.numPaths)}`);
    this.#filter(block.filter, 1);
    this.#order(block.order, 1);
    this.#page(block.page, 1);
    const flags = [
      block.normalize ? "normalize" : "",
      block.ignoreReflex ? "ignorereflex" : "",
    ].filter((flag) => flag !== "");
    if (flags.length > 0) this.#add(1, flags.join(" "));
    if (block.groupBy !== undefined) this.#group(block.groupBy, 1);
    this.#level(block.level, 1);
  }

  #level(level: Level, depth: number): void {
    if (this.#printed.has(level.id)) {
      this.#add(depth, `level ${level.id} again`);
      return;
    }
    this.#printed.add(level.id);
    const { cascade } = level;
    const names = cascade?.names === undefined ? "" : ` ${cascade.names.join(" ")}`;
    this.#add(depth, `level ${level.id}${cascade === undefined ? "" : ` cascade${names}`}`);
    for (const field of level.fields) this.#field(field, depth + 1);
  }

  #field(field: FieldPlan, depth: number): void {
    const start = `${this.#variable(field.variable)}${field.kind}`;
    switch (field.kind) {
      case "uid":
      case "countUid":
        return this.#add(depth, start);
      case "value":
        this.#add(depth, `${start} ${useText(field.use)} ${field.form}`);
        return this.#facets(field.facets, field.facetFilter, depth + 1);
      case "count":
        this.#add(depth, `${start} ${useText(field.use)}`);
        this.#facets(undefined, field.facetFilter, depth + 1);
        return this.#filter(field.filter, depth + 1);
      case "edge":
        this.#add(depth, `${start} ${useText(field.use)}${field.single ? " single" : ""}`);
        this.#facets(field.facets, field.facetFilter, depth + 1);
        this.#filter(field.filter, depth + 1);
        this.#order(field.order, depth + 1);
        this.#page(field.page, depth + 1);
        if (field.groupBy !== undefined) this.#group(field.groupBy, depth + 1);
        if (field.level !== undefined) this.#level(field.level, depth + 1);
        return;
      case "val":
        return this.#add(depth, `${start} ${this.#name(field.of)}`);
      case "aggregate": {
        const where = field.through === undefined ? "" : ` through field ${field.through}`;
        return this.#add(depth, `${start} ${field.function} ${this.#name(field.of)}${where}`);
      }
      case "math":
        return this.#add(depth, `${start} ${this.#math(field.expression)}`);
      case "expand":
        this.#add(depth, `${start} ${field.of.kind}`);
        this.#filter(field.filter, depth + 1);
        if (field.level !== undefined) this.#level(field.level, depth + 1);
        return;
      case "checkpwd":
        return this.#add(depth, `${start} ${field.predicate.definition.name}`);
      case "absent":
        return this.#add(depth, `${start} ${useText(field.use)}`);
      case "refused":
        return this.#add(depth, `${start} ${field.refusal.text}`);
    }
  }

  #math(math: MathPlan): string {
    switch (math.kind) {
      case "constant":
        return `$${math.slot}`;
      case "variable":
        return this.#name(math.variable);
      case "apply":
        return `(${[math.operator, ...math.operands.map((part) => this.#math(part))].join(" ")})`;
    }
  }

  #group(group: GroupPlan, depth: number): void {
    const keys = group.keys.map(({ use }) => useText(use)).join(", ");
    this.#add(depth, `group by ${keys}`);
    for (const aggregate of group.aggregates) {
      this.#add(depth + 1, `${this.#variable(aggregate.variable)}${aggregate.key}`);
    }
  }

  #page(page: PagePlan, depth: number): void {
    const text = slot(" first", page.first) + slot(" offset", page.offset);
    const all = text + slot(" after", page.after);
    if (all !== "") this.#add(depth, `page${all}`);
  }

  #order(order: OrderPlan | undefined, depth: number): void {
    if (order === undefined) return;
    if (order.kind === "refused") return this.#add(depth, `order refused: ${order.refusal.text}`);
    if (order.kind === "variable") {
      const direction = order.descending ? " desc" : "";
      return this.#add(depth, `order by val ${this.#name(order.variable)}${direction}`);
    }
    const keys = order.keys.map((key) => useText(key.use) + (key.descending ? " desc" : ""));
    const walk = order.walk === undefined ? "" : ` (index ${order.walk.tokenizer})`;
    this.#add(depth, `order by ${keys.join(", ")}${walk}`);
  }

  #facets(
    facets: FacetsPlan | undefined,
    filter: FacetFilterPlan | undefined,
    depth: number,
  ): void {
    if (facets !== undefined) {
      const names = facets.all ? ["all"] : facets.fields.map((field) => field.key);
      const order = facets.order.map(({ key, descending }) => `${key}${descending ? " desc" : ""}`);
      const by = order.length === 0 ? "" : ` ordered by ${order.join(", ")}`;
      this.#add(depth, `facets ${names.join(" ")}${by}`);
    }
    if (filter !== undefined) this.#add(depth, `facet filter ${facetFilterText(filter)}`);
  }

  #filter(filter: FilterPlan | undefined, depth: number): void {
    if (filter !== undefined) this.#filterPart(filter, depth, "filter ");
  }

  #filterPart(filter: FilterPlan, depth: number, before: string): void {
    switch (filter.kind) {
      case "and":
      case "or":
        this.#add(depth, `${before}${filter.kind}`);
        for (const part of filter.filters) this.#filterPart(part, depth + 1, "");
        return;
      case "not":
        return this.#filterPart(filter.filter, depth, `${before}not `);
      case "constant":
        return this.#add(depth, `${before}${filter.value}`);
      case "call":
        return this.#add(depth, before + this.call(filter.call));
      case "edge":
        this.#add(depth, `${before}edge ${useText(filter.use)}`);
        if (filter.filter !== undefined) this.#filterPart(filter.filter, depth + 1, "");
        return;
    }
  }

  call(call: CallPlan): string {
    switch (call.kind) {
      case "compare": {
        const index = call.index === undefined ? "values" : `index ${call.index.tokenizer}`;
        return `${call.operator} ${useText(call.use)} ${this.#values(call.values)} (${index})`;
      }
      case "compareCount":
        return `${call.operator} count ${useText(call.use)} ${slots(call.values)}`;
      case "compareVal":
        return `${call.operator} val ${this.#name(call.variable)} ${this.#values(call.values)}`;
      case "compareLen":
        return `${call.operator} len ${this.#name(call.variable)} ${this.#values(call.values)}`;
      case "terms":
        return `${call.name} ${useText(call.use)} ${this.#values(call.values)} (index ${call.index.tokenizer})`;
      case "regexp": {
        const index = call.index === undefined ? "values" : "index trigram";
        return `regexp ${useText(call.use)} $${call.source} (${index})`;
      }
      case "match":
        return `match ${useText(call.use)} $${call.text} $${call.distance} (index trigram)`;
      case "uid": {
        const names = call.variables.map((variable) => this.#name(variable));
        return ["uid", ...names, slots(call.uids)].filter((part) => part !== "").join(" ");
      }
      case "uidIn": {
        const of = call.variable === undefined ? slots(call.uids) : this.#name(call.variable);
        return `uid_in ${useText(call.use)} ${of}`;
      }
      case "has":
        return `has ${useText(call.use)}`;
      case "geo":
        return `${call.name} ${useText(call.use)} $${call.geometry} (index geo)`;
      case "similar":
        return `similar_to ${useText(call.use)} $${call.neighbors}`;
      case "nothing":
        return `nothing${call.use === undefined ? "" : ` ${useText(call.use)}`}`;
      case "refused":
        return `refused: ${call.refusal.text}`;
    }
  }

  #values(values: { readonly slots: readonly SlotIndex[]; readonly variable: number | undefined }) {
    return values.variable === undefined
      ? slots(values.slots)
      : `val ${this.#name(values.variable)}`;
  }
}

function useText(use: PredicateUse): string {
  const tags = use.languages.length === 0 ? "" : `@${use.languages.join(":")}`;
  return `${use.reverse ? "~" : ""}${use.name}${tags}`;
}

function slot(name: string, index: SlotIndex | undefined): string {
  return index === undefined ? "" : `${name} $${index}`;
}

function slots(indexes: readonly SlotIndex[]): string {
  return indexes.map((index) => `$${index}`).join(" ");
}

function facetFilterText(filter: FacetFilterPlan): string {
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${filter.filters.map(facetFilterText).join(` ${filter.kind} `)})`;
    case "not":
      return `not ${facetFilterText(filter.filter)}`;
    case "test":
      return `${filter.operator} ${filter.key} $${filter.value}`;
  }
}
