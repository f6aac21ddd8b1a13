// The resolvers of the sample. `weft serve --sample` runs them beside the database; your own go into a script of yours:
// `weft serve --lambda resolvers.ts`. See docs/lambda.md.

self.addMultiParentGraphQLResolvers({
  /** What is installed because of a package: its own bytes and those of everything below it. One read for all parents. */
  "Package.bytesBelow": async ({ parents, dql }) => {
    const { data } = await dql.query(
      "{ all(func: has(Package.path)) { uid size: Package.sizeBytes below: Package.dependencies { uid } } }",
    );
    const nodes = new Map(data.all.map((node) => [node.uid, node]));
    return parents.map(({ id }) => {
      const seen = new Set([id]);
      for (const uid of seen) nodes.get(uid)?.below?.forEach((next) => seen.add(next.uid));
      return [...seen].reduce((sum, uid) => sum + (nodes.get(uid)?.size ?? 0), 0);
    });
  },
});

self.addGraphQLResolvers({
  /** Why a package is there: the shortest way to it from another. */
  "Query.why": async ({ args, graphql, dql }) => {
    const found = await graphql(
      `
        query ends($from: String!, $to: String!) {
          from: queryPackage(filter: { name: { eq: $from } }, first: 1) {
            id
          }
          to: queryPackage(filter: { name: { eq: $to } }, first: 1) {
            id
          }
        }
      `,
      args,
    );
    const [from] = found.data.from;
    const [to] = found.data.to;
    if (!from || !to) return null;
    const { data } = await dql.query(
      `query way($from: string, $to: string) {
        from as var(func: uid($from))
        to as var(func: uid($to))
        path as shortest(from: uid(from), to: uid(to)) { Package.dependencies }
        steps(func: uid(path)) { id: uid name: Package.name version: Package.version }
      }`,
      { $from: from.id, $to: to.id },
    );
    return data.steps;
  },
});
