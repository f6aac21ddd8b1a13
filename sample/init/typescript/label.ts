/** How a task is shown in a list. */
export function labelOf({
  title,
  done,
}: {
  readonly title: string;
  readonly done?: boolean;
}): string {
  return `${done === true ? "[x]" : "[ ]"} ${title}`;
}
