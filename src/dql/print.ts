/** Tree → DQL text for people: explanations, logs, tests. Parsing it gives the same tree (but for places and tokens). */
import type {
  Argument,
  Block,
  Directives,
  Field,
  Filter,
  FacetSelection,
  FunctionCall,
  Literal,
  MathExpression,
  OrderKey,
  Page,
  PredicateField,
  PredicateName,
  QueryDocument,
  SchemaRequest,
} from "./ast.ts";

/** The whole request, two spaces a level. Filters that only lowering makes are printed as comments. */
export function printQuery(document: QueryDocument): string {
  const schema = document.schema === undefined ? "" : printSchemaRequest(document.schema) + "\n";
  if (document.blocks.length === 0) return schema;
  return `${schema}{\n${document.blocks.map((block) => printBlock(block)).join("")}}\n`;
}

/** One filter, without `@filter` and its brackets. */
function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case "and":
    case "or": {
      const parts = filter.filters.map((part) => {
        const text = printFilter(part);
        return part.kind === "and" || part.kind === "or" ? `(${text})` : text;
      });
      return parts.join(filter.kind === "and" ? " AND " : " OR ");
    }
    case "not":
      return `NOT (${printFilter(filter.filter)})`;
    case "call":
      return printCall(filter.call);
    case "constant":
      return `# ${String(filter.value)}\n`;
    case "edge": {
      const inner = filter.filter === undefined ? "" : `: ${printFilter(filter.filter)}`;
      return `# some ${printPredicate(filter.predicate)}${inner}\n`;
    }
  }
}

function printSchemaRequest(schema: SchemaRequest): string {
  const of =
    schema.types !== undefined
      ? `(type: [${schema.types.map(printName).join(", ")}])`
      : schema.predicates !== undefined
        ? `(pred: [${schema.predicates.map(printName).join(", ")}])`
        : "";
  return `schema${of} {${schema.fields.join(" ")}}`;
}

function printBlock(block: Block): string {
  const variable = block.variable === undefined ? "" : `${block.variable} as `;
  const args = [...printRoot(block), ...printPage(block.page), ...block.order.map(printOrder)];
  const filter = block.filter === undefined ? "" : ` @filter(${printFilter(block.filter)})`;
  const among =
    block.among === undefined
      ? ""
      : `  # among ${printFilter(block.among).replaceAll("\n", " ")}\n`;
  const head = `${among}  ${variable}${printName(block.name)}(${args.join(", ")})${filter}`;
  const recurse = printRecurse(block);
  return `${head}${recurse}${printDirectives(block.directives)} {\n${printFields(block.children, "    ")}  }\n`;
}

function printRoot(block: Block): string[] {
  const args = block.root === undefined ? [] : [`func: ${printCall(block.root)}`];
  const { shortest } = block;
  if (shortest === undefined) return args;
  for (const side of ["from", "to"] as const) {
    const end = shortest[side];
    if (end?.kind === "uid") args.push(`${side}: ${end.uid.text}`);
    else if (end?.kind === "variable") args.push(`${side}: uid(${end.name})`);
  }
  const numbers = [
    ["numpaths", shortest.numPaths],
    ["depth", shortest.depth],
    ["minweight", shortest.minWeight],
    ["maxweight", shortest.maxWeight],
    ["maxfrontiersize", shortest.maxFrontierSize],
  ] as const;
  for (const [key, literal] of numbers) {
    if (literal !== undefined) args.push(`${key}: ${literal.text}`);
  }
  return args;
}

function printRecurse(block: Block): string {
  if (block.recurse === undefined) return "";
  const { depth, loop } = block.recurse;
  const args = [
    ...(depth === undefined ? [] : [`depth: ${depth.text}`]),
    ...(loop === undefined ? [] : [`loop: ${loop.text}`]),
  ];
  return args.length === 0 ? " @recurse" : ` @recurse(${args.join(", ")})`;
}

function printPage(page: Page): string[] {
  const { first, offset, after } = page;
  return [
    ...(first === undefined ? [] : [`first: ${first.text}`]),
    ...(offset === undefined ? [] : [`offset: ${offset.text}`]),
    ...(after === undefined ? [] : [`after: ${after.text}`]),
  ];
}

function printOrder({ by, descending }: OrderKey): string {
  const key = descending ? "orderdesc" : "orderasc";
  return `${key}: ${by.kind === "val" ? `val(${by.variable})` : printPredicate(by)}`;
}

function printDirectives(directives: Directives): string {
  const { normalize, ignoreReflex, cascade, groupBy } = directives;
  let text = normalize ? " @normalize" : "";
  if (ignoreReflex) text += " @ignorereflex";
  if (cascade !== undefined) {
    text += cascade.length === 0 ? " @cascade" : ` @cascade(${cascade.map(printName).join(", ")})`;
  }
  if (groupBy !== undefined) {
    const keys = groupBy.map(
      ({ alias, predicate }) =>
        (alias === undefined ? "" : `${alias}: `) + printPredicate(predicate),
    );
    text += ` @groupby(${keys.join(", ")})`;
  }
  return text;
}

function printFields(fields: readonly Field[], indent: string): string {
  return fields.map((field) => `${indent}${printField(field, indent)}\n`).join("");
}

function printField(field: Field, indent: string): string {
  if (field.kind === "expand") {
    const filter = field.filter === undefined ? "" : ` @filter(${printFilter(field.filter)})`;
    return `expand(${printExpandOf(field.of)})${filter}${printChildren(field.children, indent)}`;
  }
  const variable =
    field.kind === "val" || field.variable === undefined ? "" : `${field.variable} as `;
  const alias = field.alias === undefined ? "" : `${printName(field.alias)}: `;
  const head = variable + alias;
  switch (field.kind) {
    case "predicate":
      return head + printPredicateField(field, indent);
    case "uid":
      return `${head}uid`;
    case "countUid":
      return `${head}count(uid)`;
    case "count": {
      const filter = field.filter === undefined ? "" : ` @filter(${printFilter(field.filter)})`;
      const facets =
        field.facetFilter === undefined ? "" : ` @facets(${printFilter(field.facetFilter)})`;
      return `${head}count(${printPredicate(field.predicate)}${facets}${filter})`;
    }
    case "val":
      return `${head}val(${field.variable})`;
    case "aggregate": {
      const of = field.of.kind === "val" ? `val(${field.of.variable})` : printPredicate(field.of);
      return `${head}${field.function}(${of})`;
    }
    case "math":
      return `${head}math(${printMath(field.expression)})`;
    case "checkpwd":
      return `${head}checkpwd(${printPredicate(field.predicate)}, ${printLiteral(field.password)})`;
  }
}

function printExpandOf(of: Extract<Field, { kind: "expand" }>["of"]): string {
  switch (of.kind) {
    case "all":
      return "_all_";
    case "types":
      return of.names.map(printName).join(", ");
    case "val":
      return `val(${of.variable})`;
  }
}

function printPredicateField(field: PredicateField, indent: string): string {
  const args = [...printPage(field.page), ...field.order.map(printOrder)];
  let text = printPredicate(field.predicate);
  if (args.length > 0) text += ` (${args.join(", ")})`;
  if (field.facets !== undefined) text += printFacets(field.facets);
  if (field.facetFilter !== undefined) text += ` @facets(${printFilter(field.facetFilter)})`;
  if (field.filter !== undefined) text += ` @filter(${printFilter(field.filter)})`;
  text += printDirectives(field.directives);
  return text + printChildren(field.children, indent);
}

function printChildren(children: readonly Field[] | undefined, indent: string): string {
  if (children === undefined) return "";
  return ` {\n${printFields(children, indent + "  ")}${indent}}`;
}

function printFacets(facets: FacetSelection): string {
  if (facets.all) return " @facets";
  const items = facets.fields.map(({ key, alias, variable }) => {
    const order = facets.order.find((other) => other.key === key);
    const label =
      order !== undefined
        ? `${order.descending ? "orderdesc" : "orderasc"}: `
        : alias === undefined
          ? ""
          : `${printName(alias)}: `;
    return `${label}${variable === undefined ? "" : `${variable} as `}${printName(key)}`;
  });
  return ` @facets(${items.join(", ")})`;
}

function printCall(call: FunctionCall): string {
  const subject = printSubject(call);
  const args = call.args.map((argument) =>
    argument.kind === "uid" && call.name !== "uid"
      ? `uid(${argument.variable})`
      : printArgument(argument),
  );
  return `${call.name}(${[...(subject === "" ? [] : [subject]), ...args].join(", ")})`;
}

function printSubject({ subject }: FunctionCall): string {
  switch (subject.kind) {
    case "predicate":
      return printPredicate(subject);
    case "count":
      return `count(${printPredicate(subject.predicate)})`;
    case "val":
    case "len":
      return `${subject.kind}(${subject.variable})`;
    case "none":
      return "";
  }
}

function printArgument(argument: Argument): string {
  switch (argument.kind) {
    case "literal":
      return printLiteral(argument.literal);
    case "list":
      return `[${argument.items.map(printLiteral).join(", ")}]`;
    case "val":
      return `val(${argument.variable})`;
    case "uid":
      return argument.variable;
    case "regex":
      return `/${argument.source.text.replaceAll("/", "\\/")}/${argument.flags}`;
    case "option":
      return `${argument.key}: ${argument.value.text}`;
    case "geo":
      return argument.json.text;
  }
}

function printLiteral(literal: Literal): string {
  return literal.quoted ? quote(literal.text) : literal.text;
}

/** In double quotes; what the lexer would not take there is written as `\uXXXX`. */
function quote(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const escaped = text.replace(/["\\\u0000-\u001f\u007f]/g, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

function printMath(expression: MathExpression): string {
  switch (expression.kind) {
    case "constant":
      return expression.literal.text;
    case "variable":
      return expression.name;
    case "apply": {
      const { operator } = expression;
      const operands = expression.operands.map(printMath);
      if (operator === "u-") return `(-(${operands[0] ?? ""}))`;
      if (/^[a-z]{2,}$/.test(operator) && operator !== "dot") {
        return `${operator}(${operands.join(", ")})`;
      }
      return `(${operands.join(` ${operator} `)})`;
    }
  }
}

function printPredicate(predicate: PredicateName): string {
  const name = printName((predicate.reverse ? "~" : "") + predicate.name);
  return predicate.languages.length === 0 ? name : `${name}@${predicate.languages.join(":")}`;
}

/** In angle brackets where it is no plain name. */
function printName(name: string): string {
  return /^[A-Za-z_~][A-Za-z0-9_.~]*$/.test(name) ? name : `<${name}>`;
}
