/**
 * The shape of lowered parts as text: everything but the literals. Requests whose parts have the same shape share a
 * plan, so whatever decides about a plan must show here. Derived from the parts themselves, never kept beside them.
 */
import type {
  Argument,
  Filter,
  FunctionCall,
  FunctionSubject,
  PredicateName,
} from "../../dql/ast.ts";
import { denied } from "./lower-context.ts";
import type { SiteParts } from "./lower-site.ts";

export function shapeOfParts(parts: SiteParts): string {
  let shape = parts.filter === undefined ? "" : shapeOfFilter(parts.filter);
  for (const key of parts.order) {
    const by = key.by.kind === "val" ? `val ${key.by.variable}` : shapeOfPredicate(key.by);
    shape += `${key.descending ? "-" : "+"}${by}`;
  }
  if (parts.page.first !== undefined) shape += "#f";
  if (parts.page.offset !== undefined) shape += "#o";
  if (parts.cascade !== undefined) shape += `!${parts.cascade.join(",")}!`;
  return shape;
}

export function shapeOfFilter(filter: Filter): string {
  switch (filter.kind) {
    case "and":
    case "or":
      return `${filter.kind}(${filter.filters.map(shapeOfFilter).join(" ")})`;
    case "not":
      return `not(${shapeOfFilter(filter.filter)})`;
    case "constant":
      return filter === denied ? "denied" : String(filter.value);
    case "edge": {
      const inner = filter.filter === undefined ? "" : shapeOfFilter(filter.filter);
      return `edge(${shapeOfPredicate(filter.predicate)} ${inner})`;
    }
    case "call":
      return shapeOfCall(filter.call);
  }
}

export function shapeOfCall(call: FunctionCall): string {
  return `${call.name}(${shapeOfSubject(call.subject)} ${call.args.map(shapeOfArgument).join(" ")})`;
}

function shapeOfSubject(subject: FunctionSubject): string {
  switch (subject.kind) {
    case "predicate":
      return shapeOfPredicate(subject);
    case "count":
      return `count ${shapeOfPredicate(subject.predicate)}`;
    case "val":
    case "len":
      return `${subject.kind} ${subject.variable}`;
    case "none":
      return "";
  }
}

function shapeOfArgument(argument: Argument): string {
  switch (argument.kind) {
    case "literal": {
      const literal = argument.literal;
      if (literal.token < 0) return JSON.stringify(literal.text);
      return literal.quoted ? "$q" : "$";
    }
    case "list":
      return `[${argument.items.length}]`;
    case "val":
    case "uid":
      return `${argument.kind} ${argument.variable}`;
    case "regex":
      return `/${argument.flags}`;
    case "option":
      return `${argument.key}:$`;
    case "geo":
      return "$g";
  }
}

function shapeOfPredicate(predicate: PredicateName): string {
  const tags = predicate.languages.length === 0 ? "" : `@${predicate.languages.join(":")}`;
  return `${predicate.reverse ? "~" : ""}<${predicate.name}>${tags}`;
}
