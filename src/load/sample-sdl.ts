/** The API of the sample: the graph of packages, what resolvers add to it, and notes that only their writer sees. */

const packages = `"""A package as it lies in node_modules."""
type Package @withSubscription {
  id: ID!
  path: String! @id
  name: String! @search(by: [hash, term, trigram])
  version: String! @search(by: [exact])
  description: String @search(by: [fulltext])
  license: License @hasInverse(field: packages)
  keywords: [Keyword] @hasInverse(field: packages)
  sizeBytes: Int @search
  fileCount: Int @search
  dependencies: [Package] @hasInverse(field: dependents)
  dependents: [Package]
  notes: [Note] @hasInverse(field: about)
  """Of it and of everything below it."""
  bytesBelow: Int @lambda
}

type Keyword {
  word: String! @id @search(by: [hash, trigram])
  packages: [Package]
}

type License {
  name: String! @id
  packages: [Package]
}

"""What somebody has remarked of a package, for his own eyes."""
type Note @withSubscription @auth(
  query: { rule: "query($USER: String!) { queryNote(filter: { user: { eq: $USER } }) { key } }" }
  add: { rule: "query($USER: String!) { queryNote(filter: { user: { eq: $USER } }) { key } }" }
  update: { rule: "query($USER: String!) { queryNote(filter: { user: { eq: $USER } }) { key } }" }
  delete: { rule: "query($USER: String!) { queryNote(filter: { user: { eq: $USER } }) { key } }" }
) {
  key: String! @id
  user: String! @search(by: [hash])
  text: String!
  about: Package
}
`;

const queries = `
type Query {
  """Why a package is there: the shortest way to it from another."""
  why(from: String!, to: String!): [Package] @lambda
}
`;

/** The header that carries a token, and the member of its claims that holds the user. */
export const sampleHeader = "X-Sample-Token";
export const sampleClaims = "https://weft.sample/claims";

interface SampleSdlOptions {
  /** What tokens are signed with. */
  readonly secret: string;
  /** Whether the server has a lambda server: without one it takes no fields that resolvers compute. */
  readonly hasLambda: boolean;
}

export function makeSampleSdl({ secret, hasLambda }: SampleSdlOptions): string {
  const line = JSON.stringify({
    VerificationKey: secret,
    Header: sampleHeader,
    Namespace: sampleClaims,
    Algo: "HS256",
  });
  const types = hasLambda
    ? packages + queries
    : packages.replace(/ {2}"""Of it.*\n.*@lambda\n/, "");
  return `${types}\n# Dgraph.Authorization ${line}\n`;
}

/** The secret of a stored SDL; undefined where it is not the sample's. */
export function findSampleSecret(sdl: string): string | undefined {
  const [, line] = /^# Dgraph\.Authorization (\{.*\})$/m.exec(sdl) ?? [];
  if (line === undefined) return undefined;
  const { VerificationKey: secret, Namespace: namespace } = JSON.parse(line) as Record<
    string,
    unknown
  >;
  return namespace === sampleClaims && typeof secret === "string" ? secret : undefined;
}
