/** What an application with Relay does, with the documents of `relay-artifacts.json`, which `relay-compiler` has made. Prints what it sees. */
import { readFileSync } from "node:fs";
import relay from "relay-runtime";
import { environment, events } from "./relay-environment.mjs";

const documents = JSON.parse(readFileSync(new URL("relay-artifacts.json", import.meta.url)));
const { commitMutation, createOperationDescriptor, fetchQuery, getSelector, requestSubscription } =
  relay;

const mutate = (variables) =>
  new Promise((resolve, reject) => {
    commitMutation(environment, {
      mutation: documents.tasksAddMutation,
      variables,
      onCompleted: (data, errors) => resolve(errors ?? data),
      onError: reject,
    });
  });

const descriptor = createOperationDescriptor(documents.tasksOfQuery, { name: "eve" });

/** As the store has it, without a request. */
function tasksOfEve() {
  const { data } = environment.lookup(descriptor.fragment);
  const selector = getSelector(documents.tasks_person, data.getPerson);
  return environment.lookup(selector).data.tasks.map(({ title, done }) => `${title} ${done}`);
}

const tasks = [{ title: "one", done: false, owner: { name: "eve" } }];
const { addTask } = await mutate({ tasks });
console.log("added", addTask.task[0].owner.name);

const { getPerson } = await fetchQuery(environment, documents.tasksOfQuery, { name: "eve" }).toPromise(); // prettier-ignore
const hold = environment.retain(descriptor);
console.log("asked", getPerson.name, tasksOfEve());

// The payload of a mutation changes the records that are known, by their ids.
await mutate({ tasks: [{ title: "two", done: true, owner: { name: "eve" } }] });
console.log("after a mutation", tasksOfEve());

const failed = await mutate({ tasks: [{ title: "three", done: "maybe", owner: {} }] }).catch(
  (error) => error.source.errors[0].message,
);
console.log("refused", failed);

await new Promise((resolve, reject) => {
  const { dispose } = requestSubscription(environment, {
    subscription: documents.tasksSubscription,
    variables: {},
    onNext: ({ queryTask }) => {
      console.log("listening", queryTask.length);
      dispose();
      resolve();
    },
    onError: reject,
  });
});
hold.dispose();
events.dispose();
