// Texts for the fuzzer: each language by a grammar of its own that knows the names of the store below, mostly well
// formed, so that they get past the parser; `damage` then breaks some of them.

/** The store that the texts speak of. */
export const storeSchema = `
name: string @index(exact, term, trigram, fulltext) @lang .
nick: [string] @index(hash) .
age: int @index(int) @upsert .
score: float @index(float) .
born: datetime @index(day) .
alive: bool @index(bool) .
big: bigfloat @index(bigfloat) .
place: geo @index(geo) .
pass: password .
vec: float32vector @index(hnsw(metric: "euclidean")) .
friend: [uid] @reverse @count .
boss: uid @reverse .
free: default .
type Person {
  name
  nick
  age
  score
  born
  alive
  friend
  boss
}
type Thing {
  name
  free
}
`;

export const storeSdl = `
type Author { id: ID! login: String! @id name: String @search(by: [hash, trigram]) age: Int @search
  posts: [Post!] @hasInverse(field: author) rank: Rank @search place: Point @search }
type Post { id: ID! title: String! @search(by: [fulltext, exact]) score: Float @search at: DateTime @search author: Author }
enum Rank { LOW HIGH }
`;

const strings = [
  "ann", "bo", "", " ", "a b c", "İstanbul", "日本語テキスト", "👩‍👩‍👧", "\\u0000", "\\ud800", "%", "../..", "0x1", "true", "null",
  "1e309", "-0", "9223372036854775808", "2006-01-02T15:04:05Z", "0000-00-00", "{\\\"type\\\":\\\"Point\\\",\\\"coordinates\\\":[1,2]}",
  "[1,2,3]", "[0.1, NaN]", "x".repeat(300), "uid(v)", "val(v)", "__proto__", "constructor",
]; // prettier-ignore
const numbers = ["0", "1", "-1", "7", "0x10", "1.5", "-1e300", "1e309", "9223372036854775807", "-9223372036854775808",
  "9223372036854775808", "18446744073709551616", "00", "0.1e-400", "NaN", "Inf", "-Inf"]; // prettier-ignore
const saneNumbers = ["0", "1", "-1", "2", "7"];
const sane = 0.85;
const predicates = ["name", "nick", "age", "score", "born", "alive", "big", "place", "pass", "vec", "friend", "boss", "free",
  "nowhere", "dgraph.type", "~friend", "~boss", "name@en", "name@en:de:.", "name@.", "name@*", "uid", "<strange name>",
  "__proto__", "constructor", "Author.name", "Author.posts"]; // prettier-ignore
const tokenizers = ["exact", "hash", "term", "fulltext", "trigram", "int", "float", "bool", "day", "year", "hour", "geo",
  "bigfloat", "sha256", "ngram", "hnsw", "hnsw(metric: \"cosine\")", "nothing"]; // prettier-ignore

/** Generators over one source of randomness (a function that gives numbers below 1). */
export class Grammar {
  constructor(random) {
    this.random = random;
    this.depth = 0;
  }

  int(max) {
    return Math.floor(this.random() * max);
  }

  chance(share) {
    return this.random() < share;
  }

  pick(list) {
    return list[this.int(list.length)];
  }

  /** `make` so many times, joined; deep down only the fewest. */
  many(min, max, make, glue = " ") {
    const count = this.depth > 5 ? min : min + this.int(max - min + 1);
    this.depth++;
    const parts = Array.from({ length: count }, () => make());
    this.depth--;
    return parts.join(glue);
  }

  quoted() {
    return `"${this.pick(strings)}"`;
  }

  value() {
    return this.chance(0.5) ? this.quoted() : this.number();
  }

  /** Mostly one that is nothing special. */
  number() {
    return this.pick(this.chance(sane) ? saneNumbers : numbers);
  }

  uid() {
    return this.pick([
      "0x1",
      "0x2",
      "0x3",
      "1",
      "0x0",
      "0xffffffffffffffff",
      "0xzz",
      "9007199254740993",
    ]);
  }

  predicate() {
    return this.pick(predicates);
  }

  variable() {
    return this.pick(["v", "w", "x", "p"]);
  }

  subject() {
    return this.pick([
      () => this.predicate(),
      () => `val(${this.variable()})`,
      () => `count(${this.predicate()})`,
      () => `len(${this.variable()})`,
    ])();
  }

  call() {
    const compare = this.pick(["eq", "le", "lt", "ge", "gt"]);
    return this.pick([
      () => `${compare}(${this.subject()}, ${this.value()})`,
      () => `eq(${this.predicate()}, [${this.many(0, 3, () => this.value(), ", ")}])`,
      () => `between(${this.subject()}, ${this.value()}, ${this.value()})`,
      () => `has(${this.predicate()})`,
      () => `uid(${this.many(0, 3, () => this.pick([this.uid(), this.variable()]), ", ")})`,
      () => `uid_in(${this.predicate()}, ${this.uid()})`,
      () => `type(${this.pick(["Person", "Thing", "Nothing"])})`,
      () => `${this.pick(["allofterms", "anyofterms", "alloftext", "anyoftext", "ngram"])}(${this.predicate()}, ${this.quoted()})`,
      () => `regexp(${this.predicate()}, /${this.pick(["a.*n", "^b", "(((", "[a-z]{3,}", "(a|b)*c", "\\\\p{L}+", "a{1000}"])}/${this.pick(["", "i", "z"])})`,
      () => `match(${this.predicate()}, ${this.quoted()}, ${this.number()})`,
      () => `near(${this.predicate()}, [${this.number()}, ${this.number()}], ${this.number()})`,
      () => `${this.pick(["within", "contains", "intersects"])}(${this.predicate()}, ${this.pick(["[1,2]", "[[[0,0],[5,0],[5,5],[0,0]]]", "[[[0,0]]]", "[]"])})`,
      () => `similar_to(${this.predicate()}, ${this.number()}, ${this.pick(["\"[1, 2]\"", "\"[]\"", "0x1", "\"x\""])})`,
      () => `checkpwd(${this.predicate()}, ${this.quoted()})`,
    ])(); // prettier-ignore
  }

  filter() {
    return this.pick([
      () => this.call(),
      () => this.call(),
      () => `${this.filter()} ${this.pick(["and", "or", "AND"])} ${this.filter()}`,
      () => `not ${this.call()}`,
      () => `(${this.call()})`,
    ])();
  }

  page() {
    return this.many(
      0,
      2,
      () =>
        this.pick([
          () => `first: ${this.number()}`,
          () => `offset: ${this.number()}`,
          () => `after: ${this.uid()}`,
          () => `${this.pick(["orderasc", "orderdesc"])}: ${this.pick([this.predicate(), `val(${this.variable()})`])}`,
        ])(),
      ", ",
    ); // prettier-ignore
  }

  directive() {
    return this.pick([
      () => `@filter(${this.filter()})`,
      () => "@cascade",
      () => `@cascade(${this.predicate()})`,
      () => "@normalize",
      () => "@ignorereflex",
      () => `@groupby(${this.predicate()})`,
      () => `@recurse(depth: ${this.number()}, loop: ${this.pick(["true", "false"])})`,
      () => `@facets(${this.pick(["since", "eq(close, true)", "orderasc: since", "w as since"])})`,
      () => "@facets",
    ])();
  }

  math() {
    const deeper = this.depth < 6;
    this.depth++;
    const text = this.pick([
      () => this.variable(),
      () => this.number(),
      () => (deeper ? `${this.math()} ${this.pick(["+", "-", "*", "/", "%", "<", "=="])} ${this.math()}` : "1"),
      () => (deeper ? `${this.pick(["sqrt", "ln", "exp", "floor", "since", "logbase", "pow", "max", "cond", "dot"])}(${this.math()}, ${this.math()})` : "v"),
    ])(); // prettier-ignore
    this.depth--;
    return text;
  }

  field() {
    return this.pick([
      () => this.predicate(),
      () => this.predicate(),
      () => `alias: ${this.predicate()}`,
      () => `${this.variable()} as ${this.predicate()}`,
      () => `count(${this.predicate()})`,
      () => "count(uid)",
      () => `${this.pick(["min", "max", "sum", "avg"])}(val(${this.variable()}))`,
      () => `val(${this.variable()})`,
      () => `m: math(${this.math()})`,
      () => `${this.variable()} as math(${this.math()})`,
      () => `expand(${this.pick(["_all_", "Person", "Nothing"])}) ${this.selection()}`,
      () => `${this.pick(["friend", "boss", "~friend", this.predicate()])} (${this.page()}) ${this.many(0, 2, () => this.directive())} ${this.selection()}`,
      () => `friend ${this.many(0, 1, () => this.directive())} ${this.selection()}`,
      () => (this.chance(sane) ? "name" : "...part"),
      () => `checkpwd(pass, "secret1")`,
    ])(); // prettier-ignore
  }

  selection() {
    return `{ ${this.many(1, 4, () => this.field())} }`;
  }

  block() {
    const page = this.page();
    return this.pick([
      () => `q${this.int(3)}(func: ${this.call()}${page === "" ? "" : `, ${page}`}) ${this.many(0, 2, () => this.directive())} ${this.selection()}`,
      () => `${this.variable()} as var(func: ${this.call()}) ${this.selection()}`,
      () => `var(func: ${this.call()}) { ${this.variable()} as ${this.predicate()} }`,
      () => `p as shortest(from: ${this.uid()}, to: ${this.uid()}, numpaths: ${this.number()}, depth: ${this.number()}) { friend @facets(close) boss }`,
      () => `r(func: ${this.call()}) @recurse(depth: ${this.pick(["2", "3", "0"])}) { name friend }`,
      () => `a() { ${this.many(1, 2, () => this.field())} }`,
    ])(); // prettier-ignore
  }

  /** Defines what a text uses and uses what it defines: most texts would be refused for that alone. */
  tie(blocks) {
    if (!this.chance(sane)) return blocks;
    const defined = new Set(Array.from(blocks.matchAll(/\b([vwxp]) as /g), ([, name]) => name));
    const used = Array.from(blocks.matchAll(/\b(?:val|uid|len)\(([vwxp])\)/g), ([, name]) => name);
    const before = [...new Set(used)].filter((name) => !defined.has(name));
    for (const name of before) defined.add(name);
    const definitions = before.map((name) =>
      this.pick([
        `${name} as var(func: has(age), first: 3)`,
        `var(func: has(age)) { ${name} as age }`,
        `var(func: has(friend)) { ${name} as count(friend) }`,
      ]),
    );
    const users = [...defined].map((name) => `z${name}(func: uid(${name})) { uid }`);
    return [...definitions, blocks, ...users].join("\n");
  }

  dql() {
    const blocks = this.tie(this.many(1, 3, () => this.block(), "\n"));
    return this.pick([
      () => `{ ${blocks} }`,
      () => `query Q($a: int = 3, $b: string) { ${blocks} } fragment part { name friend { name } }`,
      () => `{ ${blocks} }\nfragment part { ${this.field()} }`,
      () => `schema(pred: [${this.many(0, 2, () => this.predicate(), ", ")}]) { ${this.pick(["type", "index", "reverse tokenizer", "x"])} }`,
    ])(); // prettier-ignore
  }

  term() {
    return this.pick([
      () => `<${this.uid()}>`,
      () => `_:${this.pick(["a", "b", "c.d", "é"])}`,
      () => `uid(${this.variable()})`,
      () => "<0x1>",
    ])();
  }

  object() {
    return this.pick([
      () => this.quoted(),
      () => `${this.quoted()}@${this.pick(["en", "de", "zh-Hans", "x"])}`,
      () => `${this.quoted()}^^<${this.pick(["xs:int", "xs:float", "xs:dateTime", "xs:boolean", "geo:geojson", "xs:password", "float32vector", "xs:nothing"])}>`,
      () => this.term(),
      () => "*",
      () => `val(${this.variable()})`,
    ])(); // prettier-ignore
  }

  /** An object that fits the predicate, as RDF and as JSON. */
  fitting(predicate) {
    const [rdf, json] = this.pick(
      {
        age: [['"7"', "7"], ['"-3"^^<xs:int>', "-3"]],
        score: [['"1.5"', "1.5"]],
        born: [['"1990-02-03"', '"1990-02-03"']],
        alive: [['"true"', "true"]],
        big: [['"1.5e10"', '"15"']],
        place: [['"{\\"type\\":\\"Point\\",\\"coordinates\\":[1,2]}"^^<geo:geojson>', '{"type":"Point","coordinates":[1,2]}']],
        pass: [['"secret"', '"secret"']],
        vec: [['"[1, 2]"', '"[1, 2]"']],
        friend: [["<0x2>", '[{"uid":"0x2"}]'], ["_:b", '[{"uid":"_:b"}]']],
        boss: [["<0x3>", '{"uid":"0x3"}']],
      }[predicate] ?? [[`"${this.pick(["ann", "bo", "cy dee"])}"`, `"${this.pick(["ann", "bo"])}"`]],
    ); // prettier-ignore
    return { rdf, json };
  }

  storedPredicate() {
    return this.pick(["name", "nick", "age", "score", "born", "alive", "big", "place", "pass", "vec", "friend", "boss", "free"]); // prettier-ignore
  }

  facets() {
    const value = () =>
      this.chance(sane) ? "true" : this.pick([this.quoted(), "2006-01-02", "1.5", "1e400"]);
    return ` (${this.many(1, 2, () => `${this.pick(["since", "close", "w"])}=${value()}`, ", ")})`;
  }

  nquad() {
    const facets = this.chance(0.1) ? this.facets() : "";
    if (this.chance(sane)) {
      const predicate = this.storedPredicate();
      const subject = this.pick(["<0x1>", "<0x2>", "_:a", "<0x5>"]);
      return `${subject} <${predicate}> ${this.fitting(predicate).rdf}${facets} .`;
    }
    const predicate = this.chance(0.9) ? `<${this.predicate().replace(/[@<>].*$|^~/g, "")}>` : "*";
    return `${this.term()} ${predicate} ${this.object()}${facets} .`;
  }

  rdf() {
    const facts = () => this.many(1, 4, () => this.nquad(), "\n");
    const body = `${this.pick(["set", "delete"])} {\n${facts()}\n}`;
    return this.pick([
      () => `{ ${body} }`,
      () => `{ ${body} ${this.pick(["set", "delete"])} { ${facts()} } }`,
      () => `upsert { query { ${this.tie(this.block())} } mutation @if(${this.pick(["eq(len(v), 1)", "gt(len(v), 0) and not eq(len(w), 2)", "between(len(v), 0, 3)", this.call()])}) { ${body} } }`,
    ])(); // prettier-ignore
  }

  jsonValue() {
    const deeper = this.depth < 5;
    return this.pick([
      () => this.quoted(),
      () => this.pick(["1", "-1.5", "true", "false", "null", "1e309", "123456789012345678901234567890"]),
      () => (deeper ? this.jsonObject() : "{}"),
      () => (deeper ? `[${this.many(0, 3, () => this.jsonValue(), ",")}]` : "[]"),
      () => '{"type":"Point","coordinates":[1.5,2]}',
    ])(); // prettier-ignore
  }

  jsonObject() {
    const key = () =>
      this.pick([...predicates, "uid", "dgraph.type", "friend|since", "name|close", "pass", "vec"]);
    const member = () => {
      if (this.chance(0.2)) return `"${key()}":${this.jsonValue()}`;
      const predicate = this.storedPredicate();
      return `"${predicate}":${this.fitting(predicate).json}`;
    };
    return `{${this.many(0, 4, member, ",")}}`;
  }

  json() {
    return this.pick([
      () => `{"set":[${this.many(0, 3, () => this.jsonObject(), ",")}]}`,
      () => `{"delete":${this.jsonValue()}}`,
      () => `{"query":"{ v as var(func: has(name)) }","mutations":[{"set":[${this.jsonObject()}],"cond":"@if(eq(len(v), 0))"}]}`,
      () => this.jsonValue(),
    ])(); // prettier-ignore
  }

  definition() {
    const type = this.pick(["string", "int", "float", "bool", "datetime", "uid", "[uid]", "[string]", "[int]", "geo",
      "password", "default", "bigfloat", "float32vector", "nothing", "[[int]]"]); // prettier-ignore
    const directive = () =>
      this.pick([
        () => `@index(${this.many(1, 2, () => this.pick(tokenizers), ", ")})`,
        () => "@reverse", () => "@count", () => "@lang", () => "@upsert", () => "@unique", () => "@noconflict",
        () => "@strange",
      ])(); // prettier-ignore
    const name = this.pick(["fuzz1", "fuzz2", "<fuzz three>", "free", "age", "dgraph.own", "0-1"]);
    return `${name}: ${type} ${this.many(0, 3, directive)} .`;
  }

  alter() {
    return this.pick([
      () => this.many(1, 3, () => this.definition(), "\n"),
      () => `type ${this.pick(["Fuzz", "Person", "dgraph.x", "<a b>"])} { ${this.many(0, 4, () => this.predicate())} }`,
      () => `{"drop_attr": "${this.pick(["fuzz1", "fuzz2", "~friend", ""])}"}`,
      () => `{"drop_op": "${this.pick(["TYPE", "ATTR", "x"])}", "drop_value": "${this.pick(["Fuzz", "fuzz1", ""])}"}`,
      () => `{"schema": "${this.definition().replaceAll('"', '\\"')}"}`,
    ])(); // prettier-ignore
  }

  graphqlValue() {
    const deeper = this.depth < 5;
    this.depth++;
    const text = this.pick([
      () => this.quoted(),
      () => this.number(),
      () => this.pick(["true", "null", "HIGH", "$v", '"0x1"', "[]", "{}"]),
      () => (deeper ? `{ ${this.many(0, 3, () => `${this.pick(["eq", "and", "or", "not", "has", "in", "id", "name", "login", "age", "ge", "regexp", "alloftext", "between", "min", "max", "near", "posts", "title", "asc", "desc", "then", "set", "remove", "filter"])}: ${this.graphqlValue()}`)} }` : "1"),
      () => (deeper ? `[${this.many(0, 3, () => this.graphqlValue(), ", ")}]` : "[]"),
    ])(); // prettier-ignore
    this.depth--;
    return text;
  }

  graphqlField(type) {
    const other = type === "Author" ? "Post" : "Author";
    const deeper = this.depth < 6;
    const plain = {
      Author: ["id", "name", "login", "age", "rank", "place { latitude }"],
      Post: ["id", "title", "score", "at"],
    };
    if (!deeper || this.chance(0.5))
      return `f${this.int(99)}: ${this.pick([...plain[type], "__typename"])}`;
    const edge = type === "Author" ? "posts" : "author";
    return this.pick([
      () => `e${this.int(99)}: ${edge}${this.graphqlPage(other)} ${this.graphqlSelection(other)}`,
      () => (type === "Author" ? `postsAggregate${this.graphqlFilter("Post")} { count scoreAvg titleMin }` : "id"),
      () => `... on ${type} ${this.graphqlSelection(type)}`,
      () => `s${this.int(9)}: id ${this.pick(["@include(if: true)", "@skip(if: true)", "@cascade", "@cascade", this.pick(["@skip", "@nothing"])])}`,
      () => (this.chance(sane) ? "id" : this.pick(["nothing", "...Part", `... on ${other} { id }`])),
    ])(); // prettier-ignore
  }

  graphqlSelection(type) {
    return `{ ${this.many(1, 4, () => this.graphqlField(type))} }`;
  }

  graphqlCondition(type) {
    if (!this.chance(sane)) return this.graphqlValue();
    this.depth++;
    const own = {
      Author: ['name: { eq: "ann" }', 'name: { regexp: "/an.*/" }', "age: { ge: 3 }", "age: { between: { min: 1, max: 5 } }", "rank: { eq: HIGH }", 'login: { in: ["a", "b"] }', "has: posts", "place: { near: { distance: 10, coordinate: { latitude: 1, longitude: 2 } } }", "age: { eq: null }"],
      Post: ['title: { alloftext: "ann bo" }', "score: { lt: 3.5 }", 'at: { le: "2020-01-01" }', "has: [title, score]"],
    }[type]; // prettier-ignore
    const text = this.pick([
      () => `{ ${this.pick(own)} }`,
      () => `{ ${this.pick(own)} }`,
      () => (this.depth < 5 ? `{ and: [${this.graphqlCondition(type)}, ${this.graphqlCondition(type)}] }` : "{}"),
      () => (this.depth < 5 ? `{ ${this.pick(own)}, or: ${this.graphqlCondition(type)} }` : "{}"),
      () => (this.depth < 5 ? `{ not: ${this.graphqlCondition(type)} }` : "{}"),
      () => '{ id: ["0x1", "0x2"] }',
    ])(); // prettier-ignore
    this.depth--;
    return text;
  }

  graphqlFilter(type) {
    return this.chance(0.5) ? `(filter: ${this.graphqlCondition(type)})` : "";
  }

  graphqlPage(type) {
    const key = type === "Author" ? this.pick(["name", "age"]) : this.pick(["title", "score"]);
    const parts = [
      `filter: ${this.graphqlCondition(type)}`,
      `order: { ${this.pick(["asc", "desc"])}: ${key}, then: { asc: ${key} } }`,
      `first: ${this.number()}`,
      `offset: ${this.number()}`,
    ].filter(() => this.chance(0.4));
    return parts.length === 0 ? "" : `(${parts.join(", ")})`;
  }

  author() {
    const posts =
      this.depth < 3 ? `, posts: [{ title: ${this.quoted()}, score: ${this.number()} }]` : "";
    return `{ login: "${this.pick(["a", "b", "c", "d"])}${this.int(50)}", name: ${this.quoted()}, age: ${this.number()}, rank: LOW${posts} }`;
  }

  graphqlRoot() {
    const type = this.pick(["Author", "Post"]);
    return this.pick([
      () => `r${this.int(99)}: query${type}${this.graphqlPage(type)} ${this.graphqlSelection(type)}`,
      () => `a: query${type}${this.graphqlPage(type)} @cascade ${this.graphqlSelection(type)}`,
      () => `getAuthor(${this.pick(['id: "0x1"', 'login: "a1"', "login: null"])}) ${this.graphqlSelection("Author")}`,
      () => `aggregate${type}${this.graphqlFilter(type)} { count }`,
      () => "__schema { types { name } }",
      () => `${this.pick(["nothing", "queryPost"])}(first: ${this.graphqlValue()}) { id }`,
    ])(); // prettier-ignore
  }

  graphqlMutation() {
    const type = this.pick(["Author", "Post"]);
    const payload = `{ numUids ${type.toLowerCase()} ${this.graphqlSelection(type)} }`;
    const patch = type === "Author" ? `name: ${this.quoted()}` : `score: ${this.number()}`;
    return this.pick([
      () => `addAuthor(input: [${this.many(1, 2, () => this.author(), ", ")}], upsert: ${this.pick(["true", "false"])}) { numUids author ${this.graphqlSelection("Author")} }`,
      () => `update${type}(input: { filter: ${this.graphqlCondition(type)}, ${this.pick(["set", "remove"])}: { ${patch} } }) ${payload}`,
      () => `delete${type}(filter: ${this.graphqlCondition(type)}) ${payload}`,
      () => `add${type}(input: ${this.graphqlValue()}) ${payload}`,
    ])(); // prettier-ignore
  }

  graphql() {
    const queries = () => `{ ${this.many(1, 3, () => this.graphqlRoot())} }`;
    return this.pick([
      queries,
      () => `query Q($v: ${this.pick(["Int", "Boolean! = true", "AuthorFilter", "[ID!]!", "Nothing"])}) ${queries()}`,
      () => `mutation { ${this.many(1, 2, () => this.graphqlMutation())} }`,
      () => `${queries().replace(/\bid\b/, "id ...Part")} fragment Part on Author ${this.graphqlSelection("Author")}`,
    ])(); // prettier-ignore
  }

  sdl() {
    const type = (name) => `type ${name} ${this.chance(0.2) ? "@withSubscription" : ""} {
  id: ID!
  key: String! @id
  ${this.many(1, 4, () => this.sdlField())}
}`;
    const extra = () =>
      this.pick([
        () => `interface I { f5: ${this.pick(["Int", "String!"])} @search } type T3 implements I { f6: Int }`,
        () => `union U = T1 | ${this.pick(["T2", "Nothing", "U"])}`,
        () => `enum E { A B ${this.pick(["", "", "true", "A"])} }`,
        () => `type T4 @auth(query: { rule: "${this.pick(["query($U: String!) { queryT4(filter: {f1: {eq: $U}}) { f1 } }", '{$ROLE: {eq: \\"X\\"}}', "{"])}" }) { f1: String @search(by: [hash]) }`,
        () => `# Dgraph.Authorization {"VerificationKey":"k","Header":"X","Namespace":"n","Algo":"${this.pick(["HS256", "x"])}"}`,
        () => storeSdl,
      ])(); // prettier-ignore
    return `${type("T1")}\n${type("T2")}\n${this.chance(0.5) ? extra() : ""}`;
  }

  sdlField() {
    const name = `f${this.int(40)}`;
    if (this.chance(0.05)) {
      return `${name}: ${this.pick(["[[Int]]", "Nothing", "ID!", "E", "[Boolean]", "Int @id @id", "String @search(by: [nothing])", "Int @search(by: [hash])", "T2 @hasInverse(field: f1)", "String @custom(http: {})", "Int @lambda", 'String @dgraph(pred: "~x")', "T1 @search", 'String @secret(field: "p")'])}`;
    }
    const types = ["String", "String @search(by: [hash, trigram])", "Int! @search", "[String!]", "Float @search", "T1", "[T2!]", "Point @search", "DateTime @search(by: [day])", "Boolean @search", "Int64", 'String @dgraph(pred: "x.y")', "Int @deprecated", 'Int @default(add: { value: "1" })']; // prettier-ignore
    const at = this.int(types.length);
    return `g${at}${this.pick(["", "a", "b"])}: ${types[at]}`;
  }

  /** A few of: bytes changed, parts cut out, doubled, brackets that run on, a piece of another text put in. */
  damage(text, other) {
    let units = text;
    for (let i = 1 + this.int(3); i > 0; i--) {
      const at = this.int(units.length + 1);
      const end = Math.min(units.length, at + this.int(12));
      units = this.pick([
        () => units.slice(0, at) + units.slice(end),
        () => units.slice(0, end) + units.slice(at),
        () => units.slice(0, at),
        () => units.slice(0, at) + String.fromCharCode(this.int(0x100)) + units.slice(at + 1),
        () => units.slice(0, at) + this.pick(['"', "{", "}", "(", ")", "\\", "\n", "#", "@", "\u0000", "\ud800"]) + units.slice(at),
        () => units.slice(0, at) + this.pick(["(", "{", "[", "not ", "a{"]).repeat(this.int(400)) + units.slice(at),
        () => units.slice(0, at) + other.slice(this.int(other.length)) + units.slice(at),
      ])(); // prettier-ignore
    }
    return units;
  }

  bytes() {
    return Buffer.from(Array.from({ length: this.int(300) }, () => this.int(256)));
  }
}
