// Requests that grow in one construct each: `body(n)` has n of it. `npm run growth` sends each in growing sizes; whoever
// wants a hostile document takes one. `size` is where it begins to hurt when its cost is not linear.

const list = (count, make, separator = " ") =>
  Array.from({ length: count }, (_, i) => make(i)).join(separator);
const graphql = (query, variables, operationName) =>
  JSON.stringify({ query, variables, operationName });

/** What the documents of `constructs` ask about. */
export const sdl = `
interface Named { id: ID!  name: String @search(by: [hash, term, fulltext, regexp]) }
type Person implements Named {
  age: Int @search
  born: DateTime @search
  home: Point @search
  friends: [Person]
  best: Person
  posts: [Post] @hasInverse(field: author)
  things: [Thing]
  kind: Kind @search
}
type Post implements Named { text: String @search(by: [fulltext])  author: Person  score: Float @search }
type Place implements Named { at: Point @search }
union Thing = Post | Place
enum Kind { A B C }
`;

export const schema = `
dname: string @index(exact, term, fulltext, trigram) @lang .
dage: int @index(int) .
dto: [uid] @reverse .
`;

export const facts = list(
  50,
  (i) =>
    `<${i + 1}> <dname> "node ${i}" .\n<${i + 1}> <dage> "${i}" .\n<${i + 1}> <dto> <${((i * 7) % 50) + 1}> .`,
  "\n",
);

const constructs = [];
const add = (path, contentType) => (name, size, body) =>
  constructs.push({ name, path, contentType, size, body });
const onGraphql = add("/graphql", "application/json");
const onQuery = add("/query", "application/dql");
const onQueryJson = add("/query", "application/json");
const onRdf = add("/mutate?commitNow=true", "application/rdf");
const onJson = add("/mutate?commitNow=true", "application/json");
const onAlter = add("/alter", "text/plain");
const onSchema = add("/admin/schema/validate", "text/plain");
const onAdmin = add("/admin", "application/json");

// What GraphQL documents are made of.
onGraphql("roots", 2_000, (n) =>
  graphql(`{ ${list(n, (i) => `a${i}: queryPerson(first: 1) { id }`)} }`),
);
onGraphql("roots-get", 2_000, (n) =>
  graphql(`{ ${list(n, (i) => `a${i}: getPerson(id: "0x${i + 1}") { name }`)} }`),
);
onGraphql("roots-typename", 5_000, (n) => graphql(`{ ${list(n, (i) => `a${i}: __typename`)} }`));
onGraphql("roots-introspection", 200, (n) =>
  graphql(`{ ${list(n, (i) => `a${i}: __schema { types { name fields { name } } }`)} }`),
);
onGraphql("aliases", 2_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${list(n, (i) => `a${i}: name`)} } }`),
);
onGraphql("aliased-edges", 1_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${list(n, (i) => `a${i}: friends { id }`)} } }`),
);
onGraphql("aliased-filters", 500, (n) =>
  graphql(
    `{ queryPerson(first: 1) { ${list(n, (i) => `a${i}: friends(filter: { age: { eq: ${i} } }) { id }`)} } }`,
  ),
);
onGraphql("typenames", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${"__typename ".repeat(n)} } }`),
);
onGraphql("same-fields", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${"name ".repeat(n)} } }`),
);
onGraphql("same-roots", 2_000, (n) => graphql(`{ ${"queryPerson(first: 1) { id } ".repeat(n)} }`));
onGraphql("same-nested", 2_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${"friends { friends { id } } ".repeat(n)} } }`),
);
onGraphql("same-arguments", 1_000, (n) =>
  graphql(
    `{ queryPerson(first: 1) { ${'friends(first: 1, filter: { name: { eq: "a" } }) { id } '.repeat(n)} } }`,
  ),
);
onGraphql("conflicts", 1_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${list(n, (i) => `x: friends(first: ${i}) { id }`)} } }`),
);
onGraphql("conflicts-nested", 500, (n) =>
  graphql(
    `{ queryPerson(first: 1) { ${list(n, (i) => `best { best { x: friends(first: ${i}) { id } } }`)} } }`,
  ),
);
onGraphql("nested-doubling", 8, (n) =>
  graphql(`{ queryPerson(first: 1) { ${"best { id ".repeat(n)}${"} best { id } ".repeat(n)} } }`),
);
onGraphql("directives", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { id ${"@include(if: true) ".repeat(n)} } }`),
);
onGraphql("unknown-directives", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { id ${list(n, (i) => `@d${i}`)} } }`),
);
onGraphql("directives-on-fields", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${list(n, (i) => `a${i}: id @include(if: true)`)} } }`),
);
onGraphql("unused-fragments", 3_000, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        id
      }
    }
    ${list(n, (i) => `fragment u${i} on Person { id }`)}
  `),
);
onGraphql("used-fragments", 3_000, (n) =>
  graphql(
    `{ queryPerson(first: 1) { ${list(n, (i) => `...u${i}`)} } } ${list(n, (i) => `fragment u${i} on Person { a${i}: id }`)}`,
  ),
);
onGraphql("fragment-chain", 40, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on Person { id ${i === n - 1 ? "" : `...f${i + 1}`} }`)}
  `),
);
onGraphql("fragment-chain-long", 2_000, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on Person { id ${i === n - 1 ? "" : `...f${i + 1}`} }`)}
  `),
);
onGraphql("fragment-circle", 2_000, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on Person { id ...f${(i + 1) % n} }`)}
  `),
);
onGraphql("fragment-doubling", 8, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on Person { ${i === n - 1 ? "id" : `a: best { ...f${i + 1} } b: best { ...f${i + 1} }`} }`)}
  `),
);
onGraphql("fragment-doubling-flat", 8, (n) =>
  graphql(`
    {
      queryPerson(first: 1) {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on Person { ${i === n - 1 ? "id" : `...f${i + 1} ...f${i + 1}`} }`)}
  `),
);
onGraphql("fragment-spreads", 100, (n) =>
  graphql(
    `{ ${list(n, (i) => `a${i}: queryPerson(first: 1) { ...f }`)} } fragment f on Person { ${list(n, (i) => `b${i}: id`)} }`,
  ),
);
onGraphql("fragment-spread-often", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${"...f ".repeat(n)} } } fragment f on Person { id }`),
);
onGraphql("fragments-by-operations", 300, (n) =>
  graphql(
    `${list(n, (i) => `query q${i} { queryPerson(first: 1) { ...f } }`)} fragment f on Person { ${list(n, (i) => `b${i}: id`)} }`,
    undefined,
    "q0",
  ),
);
onGraphql("inline-fragments", 3_000, (n) =>
  graphql(`{ queryNamed(first: 1) { ${list(n, (i) => `... on Person { a${i}: id }`)} } }`),
);
onGraphql("inline-fragments-nested", 40, (n) =>
  graphql(`{ queryNamed(first: 1) { ${"... on Person { id ".repeat(n)}${"}".repeat(n)} } }`),
);
onGraphql("abstract-levels", 3, (n) =>
  graphql(
    `{ queryPerson(first: 1) { ${list(n, (i) => `things { ... on Post { p${i}: author { id`)}${"} } } ".repeat(n)} } }`.replaceAll(
      "author { id things",
      "author { things",
    ),
  ),
);
onGraphql("operations", 2_000, (n) =>
  graphql(
    list(n, (i) => `query q${i} { queryPerson(first: 1) { id } }`),
    undefined,
    "q0",
  ),
);
onGraphql("variables", 2_000, (n) =>
  graphql(
    `query(${list(n, (i) => `$v${i}: Int`)}) { queryPerson(first: 1) { ${list(n, (i) => `a${i}: friends(first: $v${i}) { id }`)} } }`,
    {},
  ),
);
onGraphql("variables-unused", 3_000, (n) =>
  graphql(`query(${list(n, (i) => `$v${i}: Int`)}) { queryPerson(first: 1) { id } }`, {}),
);
onGraphql("variables-many-uses", 3_000, (n) =>
  graphql(
    `query($f: PersonFilter) { ${list(n, (i) => `a${i}: queryPerson(first: 1, filter: $f) { id }`)} }`,
    { f: { name: { in: ["a", "b"] } } },
  ),
);
onGraphql("variable-large-many-uses", 200, (n) =>
  graphql(
    `query($f: PersonFilter) { ${list(n, (i) => `a${i}: queryPerson(first: 1, filter: $f) { id }`)} }`,
    { f: { name: { in: Array.from({ length: n * 5 }, (_, i) => `v${i}`) } } },
  ),
);
onGraphql("variable-conditions", 1_500, (n) =>
  graphql(
    `query(${list(n, (i) => `$v${i}: Boolean!`)}) { queryPerson(first: 1) { id ${list(n, (i) => `a${i}: id @include(if: $v${i})`)} } }`,
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`v${i}`, i % 2 === 0])),
  ),
);
onGraphql("variable-list", 20_000, (n) =>
  graphql("query($v: [String]) { queryPerson(filter: { name: { in: $v } }, first: 1) { id } }", {
    v: Array.from({ length: n }, (_, i) => `v${i}`),
  }),
);
onGraphql("variable-unknown-keys", 20_000, (n) =>
  graphql("query($v: PersonFilter) { queryPerson(filter: $v, first: 1) { id } }", {
    v: Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 1])),
  }),
);
onGraphql(
  "variable-deep",
  50,
  (n) =>
    `{"query":"query($v: PersonFilter) { queryPerson(filter: $v, first: 1) { id } }","variables":{"v":${'{"not":'.repeat(n)}{}${"}".repeat(n)}}}`,
);
onGraphql(
  "variable-deep-list",
  5_000,
  (n) =>
    `{"query":"query($v: PersonFilter) { queryPerson(filter: $v, first: 1) { id } }","variables":{"v":${"[".repeat(n)}${"]".repeat(n)}}}`,
);
onGraphql("filter-or", 5_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { or: [${list(n, (i) => `{ age: { eq: ${i} } }`)}] }) { id } }`,
  ),
);
onGraphql("filter-and", 5_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { and: [${list(n, (i) => `{ age: { ge: ${i} } }`)}] }) { id } }`,
  ),
);
onGraphql("filter-or-variable", 5_000, (n) =>
  graphql("query($f: PersonFilter) { queryPerson(first: 1, filter: $f) { id } }", {
    f: { or: Array.from({ length: n }, (_, i) => ({ age: { eq: i } })) },
  }),
);
onGraphql("filter-not-has", 5_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { or: [${list(n, () => `{ not: { has: [friends] } }`)}] }) { id } }`,
  ),
);
onGraphql("filter-has", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1, filter: { has: [${list(n, () => "name")}] }) { id } }`),
);
onGraphql("filter-in", 20_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { name: { in: [${list(n, (i) => `"v${i}"`)}] } }) { id } }`,
  ),
);
onGraphql("filter-ids", 20_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { id: [${list(n, (i) => `"0x${(i + 1).toString(16)}"`)}] }) { id } }`,
  ),
);
onGraphql("filter-nested", 30, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: ${"{ not: ".repeat(n)}{ age: { eq: 1 } }${" }".repeat(n)}) { id } }`,
  ),
);
onGraphql("filter-keys", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1, filter: { ${list(n, () => "age: { eq: 1 }")} }) { id } }`),
);
onGraphql("filter-terms", 20_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { name: { anyofterms: "${list(n, (i) => `w${i}`)}" } }) { id } }`,
  ),
);
onGraphql("filter-text", 20_000, (n) =>
  graphql(
    `{ queryPost(first: 1, filter: { text: { alloftext: "${list(n, (i) => `w${i}`)}" } }) { id } }`,
  ),
);
onGraphql("filter-polygon", 1_000, (n) =>
  graphql(
    `{ queryPerson(first: 1, filter: { home: { within: { polygon: { coordinates: [{ points: [${list(n, (i) => `{ longitude: ${Math.cos((i / n) * 6.28) * 10}, latitude: ${Math.sin((i / n) * 6.28) * 10} }`)}, { longitude: 10, latitude: 0 }] }] } } } }) { id } }`,
  ),
);
onGraphql("order-then", 60, (n) =>
  graphql(
    `{ queryPerson(first: 1, order: ${"{ asc: age, then: ".repeat(n)}{ asc: age }${" }".repeat(n)}) { id } }`,
  ),
);
onGraphql("arguments", 5_000, (n) =>
  graphql(`{ queryPerson(${list(n, () => "first: 1")}) { id } }`),
);
onGraphql("arguments-unknown", 3_000, (n) =>
  graphql(`{ queryPerson(${list(n, (i) => `firs${i}: 1`)}) { id } }`),
);
onGraphql("fields-unknown", 3_000, (n) =>
  graphql(`{ queryPerson { ${list(n, (i) => `nam${i}`)} } }`),
);
onGraphql("field-unknown-long", 20_000, (n) => graphql(`{ queryPerson { ${"n".repeat(n)} } }`));
onGraphql("values-wrong", 3_000, (n) =>
  graphql(`{ queryPerson(filter: { name: { in: [${list(n, (i) => `${i}`)}] } }) { id } }`),
);
onGraphql("values-large", 3_000, (n) =>
  graphql(
    `{ queryPerson(filter: { age: { in: [${list(n, (i) => `9999999999999999999999${i}`)}] } }) { id } }`,
  ),
);
onGraphql("number-long", 30_000, (n) => graphql(`{ queryPerson(first: ${"9".repeat(n)}) { id } }`));
onGraphql("id-long", 30_000, (n) => graphql(`{ getPerson(id: "0x${"9".repeat(n)}") { id } }`));
onGraphql("comments", 24, (n) =>
  graphql(`
    ${"#".repeat(n)}
    {
      queryPerson(first: 1) {
        id
      }
    }
  `),
);
onGraphql("comments-many", 5_000, (n) =>
  graphql(`
    ${"#\n".repeat(n)}
    {
      queryPerson(first: 1) {
        id
      }
    }
  `),
);
onGraphql("blanks", 30_000, (n) =>
  graphql(`
    ${" ,".repeat(n)}
    {
      queryPerson(first: 1) {
        id
      }
    }
  `),
);
onGraphql("strings-block", 3_000, (n) =>
  graphql(`{ queryPerson(filter: { name: { in: [${list(n, () => '"""a"""')}] } }) { id } }`),
);
onGraphql("strings-open", 5_000, (n) => graphql(`{ ${'""" " '.repeat(n)}`));
onGraphql("empty-arguments", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) { ${list(n, (i) => `a${i}: name()`)} } }`),
);
onGraphql("cascade-fields", 5_000, (n) =>
  graphql(`{ queryPerson(first: 1) @cascade(fields: [${list(n, () => '"name"')}]) { id name } }`),
);
onGraphql("introspection-types", 1_000, (n) =>
  graphql(
    `{ ${list(n, (i) => `a${i}: __type(name: "Person") { fields { name type { name } } }`)} }`,
  ),
);
onGraphql("introspection-deep", 3, (n) =>
  graphql(`{ __schema { types { ${"fields { type { ".repeat(n)} name ${"} } ".repeat(n)} } } }`),
);
onGraphql("introspection-possible", 3, (n) =>
  graphql(
    `{ __type(name: "Named") { ${"possibleTypes { interfaces { ".repeat(n)} name ${"} } ".repeat(n)} } }`,
  ),
);
onGraphql("mutation-roots", 500, (n) =>
  graphql(
    `mutation { ${list(n, (i) => `a${i}: addPlace(input: [{ name: "p${i}" }]) { numUids }`)} }`,
  ),
);
onGraphql("mutation-inputs", 2_000, (n) =>
  graphql(`mutation { addPlace(input: [${list(n, (i) => `{ name: "p${i}" }`)}]) { numUids } }`),
);
onGraphql("mutation-nested", 30, (n) =>
  graphql(
    `mutation { addPerson(input: [${'{ name: "a", best: '.repeat(n)}{ name: "z" }${" }".repeat(n)}]) { numUids } }`,
  ),
);
onGraphql("mutation-references", 1_000, (n) =>
  graphql(
    `mutation { addPerson(input: [{ name: "a", friends: [${list(n, (i) => `{ name: "f${i}" }`)}] }]) { numUids } }`,
  ),
);
onGraphql("subscription-roots", 1_000, (n) =>
  graphql(`subscription { ${list(n, (i) => `a${i}: queryPerson { id }`)} }`),
);

// What DQL is made of.
onQuery("blocks", 2_000, (n) => `{ ${list(n, (i) => `q${i}(func: uid(1)) { uid }`)} }`);
onQuery("fields", 2_000, (n) => `{ q(func: uid(1)) { ${list(n, (i) => `a${i}: dname`)} } }`);
onQuery("edges", 1_000, (n) => `{ q(func: uid(1)) { ${list(n, (i) => `a${i}: dto { uid }`)} } }`);
onQuery("fields-same", 3_000, (n) => `{ q(func: uid(1)) { ${list(n, () => "dname")} } }`);
onQuery("fields-unknown", 3_000, (n) => `{ q(func: uid(1)) { ${list(n, (i) => `unknown${i}`)} } }`);
onQuery(
  "var-blocks",
  1_000,
  (n) =>
    `{ ${list(n, (i) => (i === 0 ? "v0 as var(func: uid(1))" : `v${i} as var(func: uid(v${i - 1}))`))} q(func: uid(v${n - 1})) { uid } }`,
);
onQuery(
  "var-blocks-backwards",
  1_000,
  (n) =>
    `{ q(func: uid(v${n - 1})) { uid } ${list(n, (j) => {
      const i = n - 1 - j;
      return i === 0 ? "v0 as var(func: uid(1))" : `v${i} as var(func: uid(v${i - 1}))`;
    })} }`,
);
onQuery(
  "var-uses",
  1_000,
  (n) =>
    `{ ${list(n, (i) => `v${i} as var(func: uid(1))`)} q(func: uid(${list(n, (i) => `v${i}`, ", ")})) { uid } }`,
);
onQuery(
  "var-of-all",
  100,
  (n) =>
    `{ ${list(n, (i) => `v${i} as var(func: uid(1${list(i, (k) => `, v${k}`)}))`)} q(func: uid(v${n - 1})) { uid } }`,
);
onQuery(
  "value-vars",
  1_000,
  (n) =>
    `{ var(func: uid(1)) { ${list(n, (i) => `v${i} as dage`)} } q(func: uid(1)) { ${list(n, (i) => `val(v${i})`)} } }`,
);
onQuery("vars-unused", 3_000, (n) => `{ ${list(n, (i) => `v${i} as var(func: uid(1))`)} }`);
onQuery(
  "fragment-doubling",
  8,
  (n) =>
    `{ q(func: uid(1)) { ...f0 } } ${list(n, (i) => `fragment f${i} { ${i === n - 1 ? "uid" : `...f${i + 1} ...f${i + 1}`} }`)}`,
);
onQuery(
  "fragment-doubling-edges",
  8,
  (n) =>
    `{ q(func: uid(1)) { ...f0 } } ${list(n, (i) => `fragment f${i} { ${i === n - 1 ? "uid" : `a: dto { ...f${i + 1} } b: dto { ...f${i + 1} }`} }`)}`,
);
onQuery(
  "fragment-chain",
  40,
  (n) =>
    `{ q(func: uid(1)) { ...f0 } } ${list(n, (i) => `fragment f${i} { ${i === n - 1 ? "uid" : `...f${i + 1}`} }`)}`,
);
onQuery(
  "fragment-chain-long",
  3_000,
  (n) =>
    `{ q(func: uid(1)) { ...f0 } } ${list(n, (i) => `fragment f${i} { ${i === n - 1 ? "uid" : `...f${i + 1}`} }`)}`,
);
onQuery(
  "fragment-circle",
  2_000,
  (n) =>
    `{ q(func: uid(1)) { ...f0 } } ${list(n, (i) => `fragment f${i} { uid ...f${(i + 1) % n} }`)}`,
);
onQuery(
  "fragment-spreads",
  100,
  (n) =>
    `{ ${list(n, (i) => `q${i}(func: uid(1)) { ...f }`)} } fragment f { ${list(n, (i) => `a${i}: dname`)} }`,
);
onQuery(
  "fragments-unused",
  3_000,
  (n) => `{ q(func: uid(1)) { uid } } ${list(n, (i) => `fragment f${i} { uid }`)}`,
);
onQuery(
  "filter-or",
  5_000,
  (n) => `{ q(func: uid(1)) @filter(${list(n, (i) => `eq(dage, ${i})`, " or ")}) { uid } }`,
);
onQuery(
  "filter-and",
  5_000,
  (n) => `{ q(func: uid(1)) @filter(${list(n, (i) => `ge(dage, ${i})`, " and ")}) { uid } }`,
);
onQuery(
  "filter-and-or",
  5_000,
  (n) =>
    `{ q(func: uid(1)) @filter(${list(n, (i) => `ge(dage, ${i}) and le(dage, ${i})`, " or ")}) { uid } }`,
);
onQuery(
  "filter-not",
  3_000,
  (n) => `{ q(func: uid(1)) @filter(${"not ".repeat(n)} eq(dage, 1)) { uid } }`,
);
onQuery(
  "filter-nested",
  50,
  (n) => `{ q(func: uid(1)) @filter(${"(".repeat(n)}eq(dage, 1)${")".repeat(n)}) { uid } }`,
);
onQuery(
  "filter-open",
  5_000,
  (n) => `{ q(func: uid(1)) @filter(${"eq(dage, 1) ".repeat(n)}) { uid } }`,
);
onQuery(
  "eq-values",
  20_000,
  (n) => `{ q(func: eq(dname, [${list(n, (i) => `"v${i}"`, ",")}])) { uid } }`,
);
onQuery(
  "eq-values-plain",
  20_000,
  (n) => `{ q(func: eq(dname, ${list(n, (i) => `"v${i}"`, ",")})) { uid } }`,
);
onQuery(
  "eq-values-filter",
  20_000,
  (n) => `{ q(func: uid(1)) @filter(eq(dname, [${list(n, (i) => `"v${i}"`, ",")}])) { uid } }`,
);
onQuery(
  "eq-numbers",
  20_000,
  (n) => `{ q(func: eq(dage, [${list(n, (i) => `${i}`, ",")}])) { uid } }`,
);
onQuery("uid-list", 50_000, (n) => `{ q(func: uid(${list(n, (i) => `${i + 1}`, ",")})) { uid } }`);
onQuery(
  "uid-list-filter",
  50_000,
  (n) => `{ q(func: uid(1)) @filter(uid(${list(n, (i) => `${i + 1}`, ",")})) { uid } }`,
);
onQuery(
  "uid-in-list",
  50_000,
  (n) => `{ q(func: uid(1)) @filter(uid_in(dto, [${list(n, (i) => `${i + 1}`, ",")}])) { uid } }`,
);
onQuery(
  "uid-list-descending",
  50_000,
  (n) => `{ q(func: uid(${list(n, (i) => `${n - i}`, ",")})) { uid } }`,
);
onQuery(
  "terms",
  20_000,
  (n) => `{ q(func: anyofterms(dname, "${list(n, (i) => `w${i}`)}")) { uid } }`,
);
onQuery(
  "terms-all",
  20_000,
  (n) => `{ q(func: allofterms(dname, "${list(n, (i) => `w${i}`)}")) { uid } }`,
);
onQuery(
  "text-all",
  20_000,
  (n) => `{ q(func: alloftext(dname, "${list(n, (i) => `w${i}`)}")) { uid } }`,
);
onQuery(
  "text-any",
  20_000,
  (n) => `{ q(func: anyoftext(dname, "${list(n, (i) => `w${i}`)}")) { uid } }`,
);
onQuery(
  "text-filter",
  20_000,
  (n) => `{ q(func: uid(1)) @filter(alloftext(dname, "${list(n, (i) => `w${i}`)}")) { uid } }`,
);
onQuery(
  "regexp-long",
  2_000,
  (n) => `{ q(func: regexp(dname, /${list(n, (i) => `ab${i}`, "|")}/)) { uid } }`,
);
onQuery("regexp-classes", 200, (n) => `{ q(func: regexp(dname, /${"[abc]".repeat(n)}/)) { uid } }`);
onQuery(
  "regexp-repeats",
  50,
  (n) => `{ q(func: regexp(dname, /${"(abc){1,9}".repeat(n)}/)) { uid } }`,
);
onQuery("match-long", 5_000, (n) => `{ q(func: match(dname, "${"ab".repeat(n)}", 8)) { uid } }`);
onQuery("languages", 1_000, (n) => `{ q(func: uid(1)) { dname@${list(n, () => "en", ":")} } }`);
onQuery(
  "math-sum",
  2_000,
  (n) =>
    `{ var(func: uid(1)) { a as dage } q(func: uid(1)) { x: math(${list(n, () => "a", " + ")}) } }`,
);
onQuery(
  "math-nested",
  50,
  (n) =>
    `{ var(func: uid(1)) { a as dage } q(func: uid(1)) { x: math(${"(a + ".repeat(n)}a${")".repeat(n)}) } }`,
);
onQuery(
  "math-minus",
  5_000,
  (n) => `{ var(func: uid(1)) { a as dage } q(func: uid(1)) { x: math(${"-".repeat(n)}a) } }`,
);
onQuery(
  "math-conds",
  40,
  (n) =>
    `{ var(func: uid(1)) { a as dage } q(func: uid(1)) { x: math(${"cond(a > 1, 1, ".repeat(n)}2${")".repeat(n)}) } }`,
);
onQuery(
  "math-chain",
  500,
  (n) =>
    `{ var(func: uid(1)) { a0 as dage ${list(n, (i) => `a${i + 1} as math(a${i} + 1)`)} } q(func: uid(1)) { val(a${n}) } }`,
);
onQuery("expand-all", 500, (n) => `{ q(func: uid(1)) { ${list(n, () => "expand(_all_)")} } }`);
onQuery(
  "expand-nested",
  30,
  (n) => `{ q(func: uid(1)) { ${"expand(_all_) { ".repeat(n)}uid${" }".repeat(n)} } }`,
);
onQuery(
  "expand-types",
  5_000,
  (n) => `{ q(func: uid(1)) { expand(${list(n, (i) => `T${i}`, ",")}) } }`,
);
onQuery(
  "facets",
  2_000,
  (n) => `{ q(func: uid(1)) { dto @facets(${list(n, (i) => `f${i}`, ", ")}) { uid } } }`,
);
onQuery(
  "facets-variables",
  1_000,
  (n) =>
    `{ var(func: uid(1)) { dto @facets(${list(n, (i) => `v${i} as f${i}`, ", ")}) } q(func: uid(1)) { ${list(n, (i) => `val(v${i})`)} } }`,
);
onQuery(
  "facets-filter",
  2_000,
  (n) => `{ q(func: uid(1)) { dto @facets(${list(n, (i) => `eq(f, ${i})`, " or ")}) { uid } } }`,
);
onQuery(
  "order-keys",
  1_000,
  (n) => `{ q(func: has(dname), ${list(n, () => "orderasc: dage", ", ")}) { uid } }`,
);
onQuery(
  "groupby-keys",
  500,
  (n) => `{ q(func: has(dname)) @groupby(${list(n, (i) => `a${i}: dage`, ", ")}) { count(uid) } }`,
);
onQuery(
  "cascade-fields",
  3_000,
  (n) => `{ q(func: uid(1)) @cascade(${list(n, () => "dname", ", ")}) { dname } }`,
);
onQuery(
  "normalize",
  500,
  (n) =>
    `{ q(func: has(dname)) @normalize { ${list(n, (i) => `a${i}: dname`)} dto { b: dname } } }`,
);
onQuery("depth", 40, (n) => `{ q(func: uid(1)) { ${"dto { ".repeat(n)}uid${" }".repeat(n)} } }`);
onQuery("comments", 5_000, (n) => `${"#\n".repeat(n)}{ q(func: uid(1)) { uid } }`);
onQuery("comment-long", 30_000, (n) => `${"#".repeat(n)}\n{ q(func: uid(1)) { uid } }`);
onQuery("dashes", 5_000, (n) => `{ q(func: uid(1)) { a${"-a".repeat(n)} } }`);
onQuery("name-long", 30_000, (n) => `{ q(func: uid(1)) { ${"a".repeat(n)} } }`);
onQuery("string-escapes", 30_000, (n) => `{ q(func: eq(dname, "${"\\n".repeat(n)}")) { uid } }`);
onQuery(
  "geo-points",
  1_000,
  (n) =>
    `{ q(func: within(dloc, [[${list(n, (i) => `[${Math.cos((i / n) * 6.28) * 10},${Math.sin((i / n) * 6.28) * 10}]`, ",")},[10,0]]])) { uid } }`,
);
onQuery("schema-request", 3_000, (n) => `schema(pred: [${list(n, (i) => `p${i}`, ", ")}]) {}`);
onQuery("schema-fields", 3_000, (n) => `schema { ${list(n, () => "type")} }`);
onQueryJson("variables", 2_000, (n) =>
  JSON.stringify({
    query: `query q(${list(n, (i) => `$v${i}: int`, ", ")}) { q(func: uid(1)) @filter(${list(n, (i) => `eq(dage, $v${i})`, " or ")}) { uid } }`,
    variables: Object.fromEntries(Array.from({ length: n }, (_, i) => [`$v${i}`, String(i)])),
  }),
);
onQueryJson("variables-uids", 20_000, (n) =>
  JSON.stringify({
    query: "query q($v: string) { q(func: uid($v)) { uid } }",
    variables: { $v: `[${list(n, (i) => `${i + 1}`, ",")}]` },
  }),
);
onQueryJson("variable-many-uses", 2_000, (n) =>
  JSON.stringify({
    query: `query q($v: string) { q(func: uid(1)) @filter(${list(n, () => "eq(dname, $v)", " or ")}) { uid } }`,
    variables: { $v: "a" },
  }),
);
onQueryJson("variable-uids-many-uses", 200, (n) =>
  JSON.stringify({
    query: `query q($v: string) { ${list(n, (i) => `q${i}(func: uid($v)) { count(uid) }`)} }`,
    variables: { $v: `[${list(n * 10, (i) => `${i + 1}`, ",")}]` },
  }),
);
onQueryJson("variables-undeclared", 5_000, (n) =>
  JSON.stringify({
    query: "{ q(func: uid(1)) { uid } }",
    variables: Object.fromEntries(Array.from({ length: n }, (_, i) => [`$v${i}`, "1"])),
  }),
);

// Mutations.
onRdf("facts", 3_000, (n) => `{ set { ${list(n, (i) => `_:n${i} <dname> "x${i}" .`, "\n")} } }`);
onRdf(
  "fact-facets",
  2_000,
  (n) => `{ set { _:a <dto> <1> (${list(n, (i) => `f${i}=${i}`, ", ")}) . } }`,
);
onRdf("fact-same", 5_000, (n) => `{ set { ${list(n, (i) => `<1> <dage> "${i}" .`, "\n")} } }`);
onRdf(
  "facts-edges",
  3_000,
  (n) => `{ set { ${list(n, (i) => `<1> <dto> <${(i % 50) + 1}> .`, "\n")} } }`,
);
onRdf(
  "deletes",
  3_000,
  (n) => `{ delete { ${list(n, (i) => `<${i + 5000}> <dname> * .`, "\n")} } }`,
);
onRdf("deletes-same", 2_000, (n) => `{ delete { ${list(n, () => "<5000> * * .", "\n")} } }`);
onRdf(
  "conditions",
  500,
  (n) =>
    `upsert { query { v as var(func: uid(1)) } ${list(n, (i) => `mutation @if(eq(len(v), 5)) { set { <1> <dname> "x${i}" . } }`, "\n")} }`,
);
onRdf(
  "condition-members",
  3_000,
  (n) =>
    `upsert { query { v as var(func: uid(1)) } mutation @if(${list(n, (i) => `eq(len(v), ${i + 5})`, " or ")}) { set { <1> <dname> "x" . } } }`,
);
onRdf(
  "upsert-variables",
  500,
  (n) =>
    `upsert { query { ${list(n, (i) => `v${i} as var(func: eq(dname, "zz${i}"))`, "\n")} } mutation { delete { ${list(n, (i) => `uid(v${i}) <dage> * .`, "\n")} } } }`,
);
onRdf(
  "upsert-values",
  500,
  (n) =>
    `upsert { query { v as var(func: eq(dname, "zz")) } mutation { delete { ${list(n, () => "uid(v) <dage> * .", "\n")} } } }`,
);
onRdf("blank-long", 30_000, (n) => `{ set { _:${"a".repeat(n)} <dname> "x" . } }`);
onRdf("comments", 5_000, (n) => `{ set { ${"# a\n".repeat(n)} } }`);
onJson("objects", 3_000, (n) =>
  JSON.stringify({ set: Array.from({ length: n }, (_, i) => ({ dname: `x${i}` })) }),
);
onJson("object-deep", 40, (n) => `{"set":${'{"dto":'.repeat(n)}{"dname":"a"}${"}".repeat(n)}}`);
onJson("lists-deep", 2_000, (n) => `{"set":${"[".repeat(n)}{"dname":"a"}${"]".repeat(n)}}`);
onJson("object-keys", 2_000, (n) =>
  JSON.stringify({
    delete: {
      uid: "5000",
      ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, null])),
    },
  }),
);
onJson("object-same-uids", 3_000, (n) =>
  JSON.stringify({ set: Array.from({ length: n }, () => ({ uid: "_:a", dname: "x" })) }),
);
onJson("object-facets", 1_000, (n) =>
  JSON.stringify({
    set: {
      dname: "x",
      ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`dname|f${i}`, i])),
    },
  }),
);
onJson("mutations", 1_000, (n) =>
  JSON.stringify({
    query: "{ v as var(func: uid(1)) }",
    mutations: Array.from({ length: n }, (_, i) => ({
      set: [{ uid: "1", dname: `x${i}` }],
      cond: "@if(eq(len(v), 5))",
    })),
  }),
);
onJson("mutations-plain", 1_000, (n) =>
  JSON.stringify({
    mutations: Array.from({ length: n }, (_, i) => ({ set: [{ uid: "1", dname: `x${i}` }] })),
  }),
);
onJson("condition-open", 20_000, (n) =>
  JSON.stringify({
    query: "{ v as var(func: uid(1)) }",
    mutations: [{ set: [{ uid: "1", dname: "x" }], cond: `@if(${"(".repeat(n)}` }],
  }),
);

// Schemas.
onAlter("predicates", 500, (n) => list(n, (i) => `pp${i}: string .`, "\n"));
onAlter("types", 500, (n) => `pp0: string .\n${list(n, (i) => `type TT${i} { pp0 }`, "\n")}`);
onAlter(
  "type-fields",
  1_000,
  (n) =>
    `pp0: string .\n${list(n, (i) => `pp${i}: string .`, "\n")}\ntype TT { ${list(n, (i) => `pp${i}`, "\n")} }`,
);
onAlter(
  "type-fields-same",
  3_000,
  (n) => `pp0: string .\ntype TT { ${list(n, () => "pp0", "\n")} }`,
);
onAlter("tokenizers", 5_000, (n) => `pp0: string @index(${list(n, () => "exact", ", ")}) .`);
onAlter("predicates-same", 3_000, (n) => list(n, () => "pp0: string .", "\n"));
onAlter("comments", 5_000, (n) => `${"# a\n".repeat(n)}pp0: string .`);
onSchema("types", 300, (n) => list(n, (i) => `type T${i} { id: ID! name: String @search }`, "\n"));
onSchema(
  "fields",
  500,
  (n) => `type T { id: ID! ${list(n, (i) => `f${i}: String @search(by: [hash])`, "\n")} }`,
);
onSchema("edges", 200, (n) =>
  list(
    n,
    (i) =>
      `type T${i} { id: ID! to: T${(i + 1) % n} @hasInverse(field: from) from: T${(i + n - 1) % n} }`,
    "\n",
  ),
);
onSchema(
  "implementors",
  200,
  (n) =>
    `interface I { id: ID! name: String @search(by: [hash]) }\n${list(n, (i) => `type T${i} implements I { a${i}: String }`, "\n")}`,
);
onSchema(
  "interface-fields",
  60,
  (n) =>
    `interface I { id: ID! ${list(n, (i) => `f${i}: String`, "\n")} }\n${list(n, (i) => `type T${i} implements I { a${i}: String }`, "\n")}`,
);
onSchema(
  "interfaces-of-one",
  100,
  (n) =>
    `${list(n, (i) => `interface I${i} { f${i}: String }`, "\n")}\ntype T implements ${list(n, (i) => `I${i}`, " & ")} { id: ID! }`,
);
onSchema(
  "union-members",
  200,
  (n) =>
    `${list(n, (i) => `type T${i} { id: ID! a: String }`, "\n")}\nunion U = ${list(n, (i) => `T${i}`, " | ")}\ntype H { id: ID! u: [U] }`,
);
onSchema(
  "unions",
  60,
  (n) =>
    `${list(n, (i) => `type T${i} { id: ID! a: String us: [U${i}] }`, "\n")}\n${list(n, (k) => `union U${k} = ${list(n, (i) => `T${i}`, " | ")}`, "\n")}`,
);
onSchema(
  "enum-members",
  2_000,
  (n) => `enum E { ${list(n, (i) => `E${i}`, "\n")} }\ntype T { id: ID! e: E @search }`,
);
onSchema(
  "enum-same",
  3_000,
  (n) => `enum E { ${list(n, () => "A", "\n")} }\ntype T { id: ID! e: E }`,
);
onSchema(
  "unknown-types",
  1_000,
  (n) => `type T { id: ID! ${list(n, (i) => `f${i}: Tx${i}`, "\n")} }`,
);
onSchema(
  "unknown-directives",
  2_000,
  (n) => `type T { id: ID! ${list(n, (i) => `f${i}: String @x${i}`, "\n")} }`,
);
onSchema(
  "directives-same",
  2_000,
  (n) => `type T { id: ID! name: String ${"@search ".repeat(n)} }`,
);
onSchema("fields-same", 3_000, (n) => `type T { id: ID! ${"name: String\n".repeat(n)} }`);
onSchema("types-same", 2_000, (n) => "type T { id: ID! }\n".repeat(n));
onSchema(
  "list-type-deep",
  50,
  (n) => `type T { id: ID! f: ${"[".repeat(n)}String${"]".repeat(n)} }`,
);
onSchema(
  "list-type-long",
  3_000,
  (n) => `type T { id: ID! f: ${"[".repeat(n)}String${"]".repeat(n)} }`,
);
onSchema(
  "search-arguments",
  2_000,
  (n) => `type T { id: ID! f: String @search(by: [${list(n, () => "hash", ", ")}]) }`,
);
onSchema(
  "auth-or",
  200,
  (n) =>
    `type T @auth(query: { or: [${list(n, (i) => `{ rule: "{$X: { eq: \\"${i}\\" } }" }`)}] }) { id: ID! name: String @search }`,
);
onSchema("auth-rule-types", 200, (n) =>
  list(
    n,
    (i) =>
      `type T${i} @auth(query: { rule: "query($X: String!) { queryT${i}(filter: { name: { eq: $X } }) { id } }" }) { id: ID! name: String @search(by: [hash]) }`,
    "\n",
  ),
);
onSchema("comments", 24, (n) => `${"#".repeat(n)}\ntype T { id: ID! }`);
onSchema("comments-many", 5_000, (n) => `${"#\n".repeat(n)}type T { id: ID! }`);
onSchema("description", 20_000, (n) => `"""${"a\n".repeat(n)}"""\ntype T { id: ID! }`);
onSchema("ids", 500, (n) => `type T { id: ID! ${list(n, (i) => `f${i}: String! @id`, "\n")} }`);
onSchema(
  "custom",
  200,
  (n) =>
    `type T { id: ID! }\ntype Query { ${list(n, (i) => `q${i}: [T] @custom(dql: "query { q${i}(func: type(T)) { id: uid } }")`, "\n")} }`,
);
onSchema(
  "secret",
  1_000,
  (n) => `type T @secret(field: "p") { id: ID! ${list(n, (i) => `f${i}: Int`, "\n")} }`,
);
onAdmin("roots", 500, (n) => graphql(`{ ${list(n, (i) => `a${i}: health { status }`)} }`));
onAdmin("roots-schema", 300, (n) =>
  graphql(`{ ${list(n, (i) => `a${i}: getGQLSchema { schema generatedSchema }`)} }`),
);
onAdmin("fragment-doubling", 8, (n) =>
  graphql(`
    {
      health {
        ...f0
      }
    }
    ${list(n, (i) => `fragment f${i} on NodeState { ${i === n - 1 ? "status" : `...f${i + 1} ...f${i + 1}`} }`)}
  `),
);
onAdmin("aliases", 3_000, (n) => graphql(`{ health { ${list(n, (i) => `a${i}: status`)} } }`));
onAdmin("same-fields", 3_000, (n) => graphql(`{ health { ${"status ".repeat(n)} } }`));
onAdmin("directives", 3_000, (n) =>
  graphql(`{ health { status ${"@include(if: true) ".repeat(n)} } }`),
);
onAdmin("comments", 24, (n) =>
  graphql(`
    ${"#".repeat(n)}
    {
      health {
        status
      }
    }
  `),
);
onAdmin("introspection", 3, (n) =>
  graphql(`{ __schema { types { ${"fields { type { ".repeat(n)} name ${"} } ".repeat(n)} } } }`),
);
onAdmin("mutation-sdl", 200, (n) =>
  graphql(`mutation { ${list(n, (i) => `a${i}: config(input: {}) { response { code } }`)} }`),
);

export { constructs };
