/** The fields about migrations (docs/schema-changes.md). They are this server's own: the reference has none. */
import type { FieldTable } from "./field.ts";
import type { MigrationJournal, MigrationReport, Migrations } from "./migrations.ts";

export function makeMigrationFields(migrations: Migrations): FieldTable {
  return {
    "Query.migrations": async (_args: never, { principal }) =>
      show(await migrations.read(principal.namespace)),
    "Mutation.reportMigration": async ({ input }: { input: ReportInput }, { principal }) => {
      const report = {
        ...input,
        direction: input.direction === "UP" ? "up" : "down",
        state: states[input.state],
      } as const;
      return show(await migrations.report(principal.namespace, report));
    },
  };
}

interface ReportInput extends Omit<MigrationReport, "direction" | "state"> {
  readonly direction: "UP" | "DOWN";
  readonly state: keyof typeof states;
}

const states = { RUNNING: "running", STOPPED: "stopped", DONE: "done" } as const;

function show({ applied, running }: MigrationJournal): object {
  return {
    applied,
    running: running && {
      ...running,
      direction: running.direction.toUpperCase(),
      until: new Date(running.untilMs).toISOString(),
    },
  };
}
