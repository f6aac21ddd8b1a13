// The resolvers of schema.graphql. `weft dev` loads them again on each save, and writes their types.
import { labelOf } from "./label.js";

self.addGraphQLResolvers({
  "Task.label": ({ parent }) => labelOf(parent),

  "Mutation.finishTask": async ({ args, graphql }) => {
    const { data } = await graphql(
      `
        mutation ($title: String!) {
          updateTask(
            input: { filter: { title: { eq: $title }, done: false }, set: { done: true } }
          ) {
            numUids
          }
        }
      `,
      { title: args.title },
    );
    if (data?.updateTask?.numUids !== 1) {
      // Callers read the message, and tell errors apart by the code.
      throw Object.assign(new Error(`There is no open task "${args.title}".`), {
        code: "NO_SUCH_TASK",
      });
    }
    return true;
  },
});
