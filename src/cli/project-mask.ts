/** Files of a project, which its user shares: git, containers and colleagues read them. */
let projectMask = 0o022;

/** What a server stores, and the sockets between its processes, are for its user alone: from now on, but for projects. */
export function closeFilesToOthers(): void {
  projectMask = process.umask(0o077);
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
