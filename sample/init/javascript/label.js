/**
 * How a task is shown in a list.
 * @param {{ readonly title: string, readonly done?: boolean }} task
 */
export function labelOf({ title, done }) {
  return `${done === true ? "[x]" : "[ ]"} ${title}`;
}
