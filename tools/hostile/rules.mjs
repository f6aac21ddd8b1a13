// Attacks on a schema with a rule that is judged node by node: small documents whose every part looks at all nodes, long
// lists of values, guesses at passwords, and additions of many nodes and passwords.

const noteCount = 20_000;
const ownerCount = 3;

/** The rule names no claim, so that no token is needed to be judged by it. */
export const sdl = `
type Owner @secret(field: "password") { name: String! @id  notes: [Note] @hasInverse(field: owner) }
type Note @auth(query: { rule: "query { queryNote { owner(filter: {name: {eq: \\"owner 0\\"}}) { name } } }" }) {
  id: ID!
  key: String @id
  text: String @search(by: [term])
  amount: Int @search
  owner: Owner!
}`;

/** Behind the schema, which names the predicates. */
export async function fillNotes(server, firstUid) {
  const owners = Array.from({ length: ownerCount }, (_, i) => {
    const uid = `<${firstUid + i}>`;
    return `${uid} <Owner.name> "owner ${i}" .\n${uid} <Owner.password> "the password" .\n${uid} <dgraph.type> "Owner" .`;
  });
  await server.mutate(owners.join("\n"));
  for (let from = 0; from < noteCount; from += 2000) {
    const facts = [];
    for (let i = from; i < from + 2000; i++) {
      const uid = `<${firstUid + 100 + i}>`;
      const owner = `<${firstUid + (i % ownerCount)}>`;
      facts.push(`${uid} <Note.key> "k${i}" .`, `${uid} <Note.amount> "${i % 1000}" .`);
      facts.push(`${uid} <Note.text> "text ${i}" .`, `${uid} <dgraph.type> "Note" .`);
      facts.push(`${uid} <Note.owner> ${owner} .`, `${owner} <Owner.notes> ${uid} .`);
    }
    await server.mutate(facts.join("\n"));
  }
}

const repeat = (count, make, between = " ") =>
  Array.from({ length: count }, (_, i) => make(i)).join(between);
const each = (send) => async (client) => {
  for (let i = client.number * 1e6; !client.isOver; i++) await send(client, i);
};
const roots = (make) =>
  each((client, n) =>
    client.graphql(`query q${n} { ${repeat(1900, (i) => `a${i}: ${make(i, n)}`)} }`),
  );

/** A read that takes several slices: it needs one of the turns of long requests. */
const longRead =
  "{ q(func: has(Note.key)) { Note.key Note.text Note.amount Note.owner { Owner.name } } }";
const longReadMs = 10_000;

/** Two additions whose passwords take minutes to hash, and beside them a read that must have its turn all the same. */
async function addPasswords(client) {
  const add = async (half) => {
    for (let n = 0; !client.isOver; n++) {
      const i = Array.from({ length: 3000 }, (_, k) => ({
        name: `p${client.number}-${half}-${n}-${k}`,
        password: `a password ${k}`,
      }));
      await client.graphql("mutation($i: [AddOwnerInput!]!) { addOwner(input: $i) { numUids } }", {
        i,
      });
    }
  };
  const read = async () => {
    while (!client.isOver) {
      const began = performance.now();
      await client.dql(longRead);
      const ms = performance.now() - began;
      if (ms > longReadMs && !client.isOver) client.complain(`a long read: ${ms.toFixed(0)} ms`);
      await client.pause(500);
    }
  };
  await Promise.all([add(0), add(1), ...(client.number === 0 ? [read()] : [])]);
}

export const attacks = {
  "adds-passwords": addPasswords,
  "rule-roots": roots(() => "aggregateNote { count }"),
  "rule-roots-filter": roots((i) => `aggregateNote(filter: {amount: {ge: ${i % 50}}}) { count }`),
  "rule-roots-cascade": roots(() => "queryOwner @cascade { name notes(first: 1) { id } }"),
  "values-text": each((client) =>
    client.graphql("query($k: [String]) { queryNote(filter: {key: {in: $k}}) { id } }", {
      k: Array.from({ length: 290_000 }, (_, i) => `k${i}`),
    }),
  ),
  "values-number": each((client) =>
    client.graphql("query($k: [Int]) { queryNote(filter: {amount: {in: $k}}) { id } }", {
      k: Array.from({ length: 290_000 }, (_, i) => i),
    }),
  ),
  "values-dql": each((client, n) =>
    client.dql(`{ q${n}(func: eq(Note.key, [${repeat(40_000, (i) => `"k${i}"`, ",")}])) { uid } }`),
  ),
  "values-of-variables": each((client, n) =>
    client.dql(
      `{ var(func: has(Note.key)) { x${n} as Note.amount y as Note.key } q(func: uid(x${n})) @filter(eq(val(x${n}), [${repeat(40_000, (i) => i, ",")}])) { uid } r(func: eq(Note.key, val(y))) { uid } }`,
    ),
  ),
  "password-aliases": roots(
    (i, n) =>
      `checkOwnerPassword(name: "owner ${i % ownerCount}", password: "guess ${n} ${i}") { name }`,
  ),
  "adds-large": each((client, n) =>
    client.graphql("mutation($i: [AddNoteInput!]!) { addNote(input: $i) { numUids } }", {
      i: Array.from({ length: 20_000 }, (_, i) => ({
        key: `n${n}-${i}`,
        text: `text ${i}`,
        amount: i,
        owner: { name: "owner 0" },
      })),
    }),
  ),
};
