/** Files of a project, which its user shares: git, containers and colleagues read them. */
let projectMask = 0o022;

/** `mask`: of the user's. A store's files are closed to others (`main.ts`), those of a project are the user's own. */
export function keepProjectMask(mask: number): void {
  projectMask = mask;
}

/** Files that `write` makes belong to a project. */
export function inProject<T>(write: () => T): T {
  const before = process.umask(projectMask);
  try {
    return write();
  } finally {
    process.umask(before);
  }
}
