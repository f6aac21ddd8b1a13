/** `weft backup …` and `weft restore`. */
import type { Command, Option } from "commander";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

interface PlaceFlags {
  readonly to: string;
  readonly keyFile: string | undefined;
}

/** The options of `weft backup`. */
export interface BackupFlags extends PlaceFlags {
  readonly data: string;
  readonly encryption: string;
  readonly keep: string | undefined;
  readonly verify: boolean;
}

export interface BackupListFlags extends PlaceFlags {
  readonly json: boolean;
}

export interface BackupPruneFlags extends PlaceFlags {
  readonly keep: string;
}

/** The options of `weft backup follow`. */
export interface BackupFollowFlags extends PlaceFlags {
  readonly data: string;
  readonly encryption: string;
  readonly every: string;
  readonly full: string;
  readonly keep: string | undefined;
}

/** The options of `weft restore`. */
export interface RestoreFlags {
  readonly from: string;
  readonly data: string;
  readonly encryption: string;
  readonly at: string | undefined;
  readonly keyFile: string | undefined;
  readonly into: string | undefined;
  readonly namespace: string | undefined;
  readonly as: string | undefined;
}

const keyFile = (): Option =>
  setting(
    "--key-file <file>",
    "file with the 32 bytes by which backups are encrypted; default: they are not",
  );

function addPlace(command: Command): Command {
  return command
    .addOption(
      setting(
        "--to <place>",
        "where the backups lie: dir:PATH, or s3://BUCKET/PREFIX",
      ).makeOptionMandatory(),
    )
    .addOption(keyFile())
    .addOption(setting(configFlag, configHelp));
}

export function addBackup(program: Command): void {
  const backup = program
    .command("backup")
    .description("make, list, verify and prune backups of a store");
  addPlace(backup.command("make", { isDefault: true }))
    .description("back up a store as it is now, also beside a running server")
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .option("--keep <n>", "then remove all but the newest n backups; default: all stay")
    .option("--verify", "then read all of the new backup back", false)
    .addHelpText(
      "after",
      `
One state of the store, whole or absent. Only what has changed since earlier backups at the same place is written;
each backup is complete by itself. Servers that speak S3 are reached with AWS_ENDPOINT_URL, AWS_REGION,
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

Examples:
  weft backup --data ./weft-data --to dir:/var/backups/weft --keep 30
  openssl rand -hex 32 > backup.key
  weft backup --to dir:/mnt/backups --key-file backup.key --verify`,
    )
    .action(async (options: BackupFlags) => {
      const { runBackupMake } = await import("./command-backup.ts");
      await runBackupMake(options);
    });
  addFollow(backup);
  addUpkeep(backup);
}

function addFollow(backup: Command): void {
  addPlace(backup.command("follow"))
    .description("archive what is committed, as long as it runs: any moment can be restored then")
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .option("--every <duration>", "how often commits are archived, as 500ms, 10s or 5m", "10s")
    .option("--full <duration>", "time between two whole backups, as 24h", "24h")
    .option(
      "--keep <n>",
      "remove all but the newest n whole backups, and what lies before them; default: all stay",
    )
    .addHelpText(
      "after",
      `
Beside a running server, or one that comes and goes. Begins where an earlier run has ended. Told to end it archives
once more what is there.

Example:
  weft backup follow --data ./weft-data --to dir:/mnt/backups --every 5s --keep 7`,
    )
    .action(async (options: BackupFollowFlags) => {
      const { runBackupFollow } = await import("./command-backup-follow.ts");
      await runBackupFollow(options);
    });
}

/** What is done with backups that are there. */
function addUpkeep(backup: Command): void {
  addPlace(backup.command("list"))
    .description("which backups there are, the oldest first")
    .option("--json", "print JSON instead of a table", false)
    .addHelpText(
      "after",
      `
Examples:
  weft backup list --to dir:/var/backups/weft
  weft backup list --to s3://bucket/weft --json`,
    )
    .action(async (options: BackupListFlags) => {
      const { runBackupList } = await import("./command-backup.ts");
      await runBackupList(options);
    });
  addPlace(backup.command("verify"))
    .description("read all backups back; exit code 1 where something is damaged or missing")
    .addHelpText(
      "after",
      `
All of what lies there is read, with the archived log: no store is needed, and none is changed.

Examples:
  weft backup verify --to dir:/var/backups/weft
  weft backup verify --to dir:/mnt/backups --key-file backup.key`,
    )
    .action(async (options: PlaceFlags) => {
      const { runBackupVerify } = await import("./command-backup.ts");
      await runBackupVerify(options);
    });
  addPlace(backup.command("prune"))
    .description("remove old backups, and what only they had")
    .requiredOption("--keep <n>", "how many of the newest backups stay, 1 or more")
    .addHelpText(
      "after",
      `
Examples:
  weft backup prune --to dir:/var/backups/weft --keep 30`,
    )
    .action(async (options: BackupPruneFlags) => {
      const { runBackupPrune } = await import("./command-backup.ts");
      await runBackupPrune(options);
    });
}

export function addRestore(program: Command): void {
  program
    .command("restore")
    .description("make a new store of a backup, and of what was archived behind it")
    .addOption(
      setting(
        "--from <place>",
        "where the backups lie: dir:PATH, or s3://BUCKET/PREFIX",
      ).makeOptionMandatory(),
    )
    .addOption(setting("--data <dir>", "directory of the new store").default("./weft-data"))
    .option(
      "--into <dir>",
      "in place of --data: directory of a server that runs; what it holds is replaced",
    )
    .option("--namespace <n>", "with --into: this namespace of the backup alone; default: all")
    .option("--as <n>", "with --namespace: the one that it takes the place of; default: its own")
    .addOption(encryptionSetting())
    .option(
      "--at <moment>",
      "a time (2026-03-01T09:41:00Z), a commit's number, or a backup's id; default: all that is there",
    )
    .addOption(keyFile())
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
The directory must be empty or not be there. What is ended in the middle leaves no store there. With --into a server goes
on with what it held, until it holds all that is restored, in one commit. weft backup list shows which backups there are.

Examples:
  weft restore --from dir:/var/backups/weft --data ./weft-data
  weft restore --from dir:/var/backups/weft --data ./yesterday --at 2026-03-01T09:41:00Z
  weft restore --from s3://bucket/weft --data ./weft-data --key-file backup.key
  weft restore --from dir:/var/backups/weft --into ./weft-data
  weft restore --from dir:/var/backups/weft --into ./weft-data --namespace 2 --as 3`,
    )
    .action(async (options: RestoreFlags) => {
      const { runRestore } = await import("./command-restore.ts");
      await runRestore(options);
    });
}
