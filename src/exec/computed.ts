/**
 * Fields that are computed once a block's own variables are known: val(), aggregates, math() (reference/dql 4.8 –
 * 4.10). Price: one pass over the rows and the variable beside them; no reads.
 */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import { Heap } from "../base/heap.ts";
import { drive, type MaybePromise, type Steps } from "../base/maybe.ts";
import type { Value } from "../model/value.ts";
import type { AggregateField, FieldPlan, MathField } from "../plan/plan.ts";
import { aggregateValues } from "./aggregate.ts";
import type { EdgeFrame, FieldColumn, ValueColumn } from "./frame.ts";
import type { BlockRun, LevelFrame } from "./level-frame.ts";
import { evaluateMath } from "./math.ts";
import { constantOf, emptyVariable, valuesOf, type Run } from "./run.ts";
import { addNumbers, alignValues, makeColumn } from "./value-column.ts";

/** One field to compute, in one of the frames of its level. */
interface Task {
  readonly here: LevelFrame;
  readonly k: number;
  readonly field: FieldPlan;
}

/**
 * Computes the fields of a block, each after those of the same block that define its variables, whatever the order of
 * the text. Fields of several frames of one level (recursion, expand) add to one variable.
 */
export function computeFields(block: BlockRun): MaybePromise<void> {
  if (block.frames.some(({ level }) => level.fields.some(isComputed))) {
    return drive(computeInSteps(block));
  }
  return undefined;
}

function* computeInSteps(block: BlockRun): Steps<void> {
  const tasks: Task[] = [];
  for (const here of block.frames) {
    here.level.fields.forEach((field, k) => {
      if (isComputed(field)) tasks.push({ here, k, field });
    });
  }
  const order = new TaskOrder(tasks);
  for (const variable of order.variables) block.run.variables[variable] = undefined;
  for (let task = order.next(); task !== undefined; task = order.next()) {
    yield* computeTask(block, task);
    order.finish(task);
    const pause = block.run.yielder.checkSmall(task.here.frame.uids.length + 1);
    if (pause !== undefined) yield pause;
  }
}

/** Tasks whose inputs are known, in the order of the text; in a circle of definitions the first of those that are left. */
class TaskOrder {
  readonly #tasks: readonly Task[];
  /** Tasks that are still to define a variable. */
  readonly #definers = new Map<number, number>();
  /** Tasks that wait for a variable. */
  readonly #waiting = new Map<number, number[]>();
  /** By task: variables that it waits for; −1 for one that was given out. */
  readonly #open: number[];
  readonly #ready = new Heap<number>((a, b) => a < b);
  #first = 0;

  constructor(tasks: readonly Task[]) {
    this.#tasks = tasks;
    for (const { field } of tasks) {
      if (field.variable === undefined) continue;
      this.#definers.set(field.variable, (this.#definers.get(field.variable) ?? 0) + 1);
    }
    this.#open = tasks.map((task, i) => {
      let open = 0;
      for (const input of new Set(inputsOf(task.field))) {
        if (!this.#definers.has(input)) continue;
        open++;
        const waiting = this.#waiting.get(input);
        if (waiting === undefined) this.#waiting.set(input, [i]);
        else waiting.push(i);
      }
      if (open === 0) this.#ready.push(i);
      return open;
    });
  }

  get variables(): Iterable<number> {
    return this.#definers.keys();
  }

  next(): Task | undefined {
    let place = this.#ready.pop();
    if (place === undefined) {
      while (this.#open[this.#first] === -1) this.#first++;
      place = this.#first;
    }
    this.#open[place] = -1;
    return this.#tasks[place];
  }

  finish({ field: { variable } }: Task): void {
    if (variable === undefined) return;
    const left = (this.#definers.get(variable) ?? 0) - 1;
    this.#definers.set(variable, left);
    if (left > 0) return;
    for (const place of this.#waiting.get(variable) ?? []) {
      const open = must(this.#open[place], "each task waits for so many");
      if (open < 0) continue;
      this.#open[place] = open - 1;
      if (open === 1) this.#ready.push(place);
    }
  }
}

function isComputed(field: FieldPlan): boolean {
  return field.kind === "val" || field.kind === "aggregate" || field.kind === "math";
}

function inputsOf(field: FieldPlan): readonly number[] {
  switch (field.kind) {
    case "val":
    case "aggregate":
      return [field.of];
    case "math":
      return field.variables;
    default:
      return [];
  }
}

function* computeTask(block: BlockRun, { here, k, field }: Task): Steps<void> {
  const { run } = block;
  const column = yield* computeField(block, here, field);
  here.frame.fields[k] = column.shown;
  if (field.variable === undefined) return;
  const before = run.variables[field.variable];
  if (column.constant !== undefined) {
    run.variables[field.variable] = { ...emptyVariable, constant: column.constant };
    return;
  }
  const merged = new Map<number, Value>();
  for (const part of [before?.values, column.values]) {
    part?.uids.forEach((uid, i) => merged.set(uid, part.values[i] as Value));
  }
  const values = makeColumn(merged);
  run.variables[field.variable] = { ...emptyVariable, uids: values.uids, values };
}

interface Computed {
  readonly shown: FieldColumn;
  readonly values: ValueColumn | undefined;
  readonly constant: Value | undefined;
}

function* computeField(block: BlockRun, here: LevelFrame, field: FieldPlan): Steps<Computed> {
  const { run } = block;
  switch (field.kind) {
    case "val":
      return show(here, valuesOf(run, field.of));
    case "aggregate":
      return field.through === undefined
        ? aggregateAll(run, field)
        : yield* aggregateBelow(run, here, field, field.through);
    case "math":
      return yield* computeMath(block, here, field);
    default:
      return { shown: { kind: "nothing" }, values: undefined, constant: undefined };
  }
}

function show(here: LevelFrame, column: ValueColumn): Computed {
  const values = alignValues(column, here.frame.uids);
  return { shown: { kind: "computed", values }, values: column, constant: undefined };
}

/** In an empty block: over all values of the variable. */
function aggregateAll(run: Run, field: AggregateField): Computed {
  const constant = constantOf(run, field.of);
  const values = constant === undefined ? valuesOf(run, field.of).values : [constant];
  const value = aggregateValues(field.function, values);
  return { shown: { kind: "computed", values: [value] }, values: undefined, constant: value };
}

/** Beside an edge: over the values at each node's own targets. */
function* aggregateBelow(
  run: Run,
  here: LevelFrame,
  field: AggregateField,
  through: number,
): Steps<Computed> {
  const edges = edgesOf(here.frame.fields[through]);
  const column = valuesOf(run, field.of);
  const byUid = yield* mapValues(run, column);
  const results = new Map<number, Value>();
  const { uids } = here.frame;
  const shown: (Value | undefined)[] = [];
  let work = 0;
  for (let row = 0; row < uids.length; row++) {
    const values: Value[] = [];
    for (const { offsets, targets } of edges) {
      const end = must(offsets[row + 1], "each row has its edges");
      work += end - must(offsets[row], "each row has its edges") + 1;
      for (let e = must(offsets[row], "each row has its edges"); e < end; e++) {
        const value = byUid.get(must(targets[e], "each edge has its target"));
        if (value !== undefined) values.push(value);
      }
    }
    const result = values.length === 0 ? undefined : aggregateValues(field.function, values);
    if (result !== undefined) results.set(must(uids[row], "each row has its node"), result);
    shown.push(result);
    if (work < workPerLook) continue;
    const pause = run.yielder.check(work);
    if (pause !== undefined) yield pause;
    work = 0;
  }
  return {
    shown: { kind: "computed", values: shown },
    values: makeColumn(results),
    constant: undefined,
  };
}

/** Rows and edges between two looks at the clock. */
const workPerLook = 4096;

/** An entry of a map from nodes to values. */
const entryBytes = 48;

function* mapValues(run: Run, { uids, values }: ValueColumn): Steps<Map<number, Value>> {
  run.budget.chargeBytes(uids.length * entryBytes);
  const byUid = new Map<number, Value>();
  for (let i = 0; i < uids.length; i++) {
    byUid.set(must(uids[i], "each row has its node"), values[i] as Value);
    if (i % workPerLook !== workPerLook - 1) continue;
    const pause = run.yielder.check(workPerLook);
    if (pause !== undefined) yield pause;
  }
  return byUid;
}

function edgesOf(column: FieldColumn | undefined): readonly EdgeFrame[] {
  if (column?.kind === "edges") return [column];
  return column?.kind === "expanded" ? column.columns.flatMap(edgesOf) : [];
}

function* computeMath(block: BlockRun, here: LevelFrame, field: MathField): Steps<Computed> {
  const { run } = block;
  const columns = new Map<number, ValueColumn>();
  for (const variable of field.variables) {
    if (!columns.has(variable)) columns.set(variable, yield* propagate(block, here, variable));
  }
  const result = evaluateMath(run, field.expression, {
    uids: here.frame.uids,
    column: (variable) => columns.get(variable) ?? valuesOf(run, variable),
    constant: (variable) => constantOf(run, variable),
  });
  if (here.level.path[0] !== -1) {
    const values = alignValues(result.values, here.frame.uids);
    return { shown: { kind: "computed", values }, values: result.values, constant: undefined };
  }
  if (result.constant === undefined) checkAggregated(run, here, field);
  return {
    shown: { kind: "computed", values: [result.constant] },
    values: undefined,
    constant: result.constant,
  };
}

/** Values of nodes have no place in a block without nodes; aggregates of nothing are null. */
function checkAggregated(run: Run, here: LevelFrame, field: MathField): void {
  const isPrinted = run.plan.blocks[here.level.block]?.name !== "";
  const isOfNodes = field.variables.some(
    (variable) =>
      constantOf(run, variable) === undefined && valuesOf(run, variable).values.length > 0,
  );
  if (!isPrinted || !isOfNodes) return;
  // Raised by the reference while it writes the answer, and so without a prefix.
  throw new Fault("E_DQL_SYNTAX", "Only aggregated variables allowed within empty block.");
}

/**
 * A variable as a level sees it: values of a level above are pushed along the edges, summed over all paths; what is
 * no number is dropped on the way (reference/dql 4.8).
 */
function* propagate(block: BlockRun, here: LevelFrame, variable: number): Steps<ValueColumn> {
  const column = valuesOf(block.run, variable);
  const plan = block.run.plan.variables[variable];
  if (plan === undefined || !here.level.path.includes(plan.level)) return column;
  const chain: LevelFrame[] = [];
  for (let at: LevelFrame | undefined = here; at !== undefined; at = at.parent) {
    if (at.level.id === plan.level) break;
    chain.unshift(at);
  }
  let values = yield* mapValues(block.run, column);
  for (const level of chain) values = yield* pushDown(block.run, level, values);
  return makeColumn(values);
}

function* pushDown(
  run: Run,
  level: LevelFrame,
  values: ReadonlyMap<number, Value>,
): Steps<Map<number, Value>> {
  const pushed = new Map<number, Value>();
  const { edges, parent } = level;
  if (edges === undefined || parent === undefined) return pushed;
  const { uids } = parent.frame;
  let work = 0;
  for (let row = 0; row < uids.length; row++) {
    const value = values.get(must(uids[row], "each row has its node"));
    if (value === undefined || (value.kind !== "int" && value.kind !== "float")) continue;
    work +=
      must(edges.offsets[row + 1], "each row has its edges") -
      must(edges.offsets[row], "each row has its edges") +
      1;
    for (
      let e = must(edges.offsets[row], "each row has its edges");
      e < must(edges.offsets[row + 1], "each row has its edges");
      e++
    ) {
      const target = must(edges.targets[e], "each edge has its target");
      const known = pushed.get(target);
      pushed.set(target, known === undefined ? value : addNumbers(known, value));
    }
    if (work < workPerLook) continue;
    run.budget.chargeBytes(work * entryBytes);
    const pause = run.yielder.check(work);
    if (pause !== undefined) yield pause;
    work = 0;
  }
  return pushed;
}
