// The resolvers of schema.graphql. `weft dev` loads them again on each save, and writes their types.
import { labelOf } from "./label.js";

self.addGraphQLResolvers({
  "Task.label": ({ parent }) => labelOf(parent),

  "Mutation.finishTask": async ({ args, request }) => {
    const { updateTask } = await request(
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
    if (updateTask?.numUids !== 1) {
      // Callers read the message, and tell errors apart by the code.
      throw Object.assign(new Error(`There is no open task "${args.title}".`), {
        code: "NO_SUCH_TASK",
      });
    }
    return true;
  },
});
