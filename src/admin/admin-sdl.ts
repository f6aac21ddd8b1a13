/** The schema of /admin (reference/graphql 10.2). Keys are an addition of our own. */
export const adminSdl = `
scalar Int64   scalar UInt64   scalar DateTime

type GQLSchema { id: ID!  schema: String!  generatedSchema: String!  warnings: [String!]! }
type NodeState { instance: String  address: String  status: String  group: String  version: String  uptime: Int64  lastEcho: Int64
                 ongoing: [String]  indexing: [String]  ee_features: [String] }
type MembershipState { counter: UInt64  groups: [ClusterGroup]  zeros: [Member]  maxUID: UInt64  maxNsID: UInt64  maxTxnTs: UInt64
                       maxRaftId: UInt64  removed: [Member]  cid: String  namespaces: [UInt64] }
type ClusterGroup { id: UInt64  members: [Member]  tablets: [Tablet]  snapshotTs: UInt64  checksum: UInt64 }
type Member { id: UInt64  groupId: UInt64  addr: String  leader: Boolean  amDead: Boolean  lastUpdate: UInt64  clusterInfoOnly: Boolean  forceGroupId: Boolean }
type Tablet { groupId: UInt64  predicate: String  force: Boolean  space: Int  remove: Boolean  readOnly: Boolean  moveTs: UInt64 }

type Response { code: String  message: String }
input UpdateGQLSchemaInput { set: GQLSchemaPatch! }   input GQLSchemaPatch { schema: String! }
type UpdateGQLSchemaPayload { gqlSchema: GQLSchema }
input ApplyGQLSchemaInput { schema: String!  force: [String!]  updates: Int }
type Migrations { applied: [AppliedMigration!]!  running: RunningMigration }
type AppliedMigration { name: String!  hash: String!  appliedAt: DateTime! }
type RunningMigration { name: String!  hash: String!  direction: MigrationDirection!  step: Int!  runner: String!  until: DateTime! }
enum MigrationDirection { UP DOWN }   enum MigrationState { RUNNING STOPPED DONE }
input ReportMigrationInput { name: String!  hash: String!  direction: MigrationDirection!  runner: String!  step: Int!  state: MigrationState! }
type SchemaProblem { message: String!  line: Int  column: Int }
type SchemaPlan { updates: Int!  changes: [SchemaChange!]!  warnings: [String!]! }
type SchemaChange { kind: String!  effect: String!  type: String!  typeName: String!  field: String  predicate: String  text: String!
                    hint: String  nodes: Int!  examples: [String!]! }
input ExportInput { format: String  namespace: Int  destination: String  accessKey: String  secretKey: String  sessionToken: String  anonymous: Boolean }
type ExportPayload { response: Response  taskId: String }
type DrainingPayload { response: Response }   type ShutdownPayload { response: Response }
input TaskInput { id: String! }
type TaskPayload { kind: TaskKind  status: TaskStatus  lastUpdated: DateTime  message: String }
enum TaskStatus { Queued Running Failed Success Unknown }   enum TaskKind { Backup Compact Export Restore Unknown }
input ConfigInput { cacheMb: Float  logDQLRequest: Boolean }   type ConfigPayload { response: Response }   type Config { cacheMb: Float }
input RemoveNodeInput { nodeId: UInt64!  groupId: UInt64! }   type RemoveNodePayload { response: Response }
input MoveTabletInput { namespace: UInt64  tablet: String!  groupId: UInt64! }   type MoveTabletPayload { response: Response }
enum AssignKind { UID TIMESTAMP NAMESPACE_ID }
input AssignInput { what: AssignKind!  num: UInt64! }
type AssignedIds { startId: UInt64  endId: UInt64  readOnly: UInt64 }   type AssignPayload { response: AssignedIds }

input BackupInput { destination: String!  accessKey: String  secretKey: String  sessionToken: String  anonymous: Boolean  forceFull: Boolean }
type BackupPayload { response: Response  taskId: String }
type CompactPayload { response: Response  taskId: String }
input RestoreInput { location: String!  backupId: String  backupNum: Int  incrementalFrom: Int  isPartial: Boolean  encryptionKeyFile: String
                     vaultAddr: String  vaultRoleIDFile: String  vaultSecretIDFile: String  vaultPath: String  vaultField: String  vaultFormat: String
                     accessKey: String  secretKey: String  sessionToken: String  anonymous: Boolean  at: String }
input RestoreTenantInput { restoreInput: RestoreInput  fromNamespace: Int!  intoNamespace: Int }
type RestorePayload { code: String  message: String  taskId: String }
input ListBackupsInput { location: String!  accessKey: String  secretKey: String  sessionToken: String  anonymous: Boolean
                         sinceDate: String  untilDate: String  lastNDays: Int  fullManifest: Boolean }
type BackupGroup { groupId: UInt64  predicates: [String] }
type Manifest { backupId: String  backupNum: UInt64  encrypted: Boolean  groups: [BackupGroup]  path: String  since: UInt64  type: String }

type LoginResponse { accessJWT: String  refreshJWT: String }   type LoginPayload { response: LoginResponse }
type User  { name: String!  groups: [Group] }
type Group { name: String!  users: [User]  rules: [Rule] }
type Rule  { predicate: String!  permission: Int! }
input StringHashFilter { eq: String }
enum UserOrderable { name }   enum GroupOrderable { name }
input AddUserInput { name: String!  password: String!  groups: [GroupRef] }   input AddGroupInput { name: String!  rules: [RuleRef] }
input UserRef { name: String! }   input GroupRef { name: String! }   input RuleRef { predicate: String!  permission: Int! }
input UserFilter { name: StringHashFilter  and: UserFilter  or: UserFilter  not: UserFilter }
input GroupFilter { name: StringHashFilter  and: UserFilter  or: UserFilter  not: UserFilter }
input UserOrder { asc: UserOrderable  desc: UserOrderable  then: UserOrder }   input GroupOrder { asc: GroupOrderable  desc: GroupOrderable  then: GroupOrder }
input UserPatch { password: String  groups: [GroupRef] }   input UpdateUserInput { filter: UserFilter!  set: UserPatch  remove: UserPatch }
input SetGroupPatch { rules: [RuleRef!]! }   input RemoveGroupPatch { rules: [String!]! }
input UpdateGroupInput { filter: GroupFilter!  set: SetGroupPatch  remove: RemoveGroupPatch }
type AddUserPayload { user: [User] }   type AddGroupPayload { group: [Group] }
type DeleteUserPayload { msg: String  numUids: Int }   type DeleteGroupPayload { msg: String  numUids: Int }
input AddNamespaceInput { password: String }   input DeleteNamespaceInput { namespaceId: Int! }
type NamespacePayload { namespaceId: UInt64  message: String }
type NamespaceQuota { facts: UInt64  bytes: UInt64  requests: Float }   type NamespaceUsage { facts: UInt64!  bytes: UInt64!  countedAt: DateTime! }
type Namespace { id: UInt64!  quota: NamespaceQuota!  usage: NamespaceUsage }
input SetNamespaceQuotaInput { namespaceId: Int!  facts: UInt64  bytes: UInt64  requests: Float }   type SetNamespaceQuotaPayload { namespace: Namespace! }
input DropNamespaceDataInput { namespaceId: Int! }
input RevokeTokensInput { userId: String!  namespace: Int! }
type RevokeTokensPayload { userId: String  message: String  namespace: UInt64 }
input ResetPasswordInput { userId: String!  password: String!  namespace: Int! }
type ResetPasswordPayload { userId: String  message: String  namespace: UInt64 }

enum KeyKind { ADMIN CLIENT SCOPED }   enum KeyScope { GRAPHQL QUERY MUTATE ALTER ADMIN CHANGES }
type AccessKey { id: ID!  name: String!  kind: KeyKind!  scopes: [KeyScope!]!  namespace: UInt64  createdAt: DateTime!  expiresAt: DateTime  isExpired: Boolean! }
input CreateKeyInput { name: String!  kind: KeyKind  scopes: [KeyScope!]  namespace: UInt64  expiresAt: DateTime }   input RevokeKeyInput { id: ID! }
type CreateKeyPayload { key: AccessKey!  secret: String! }   type RevokeKeyPayload { key: AccessKey! }

type RunningRequest { id: ID!  process: String!  operation: String!  tag: String  address: String!  user: String  key: String  namespace: UInt64  ms: Int!  work: UInt64!  bytes: UInt64!  text: String }
input CancelRequestsInput { id: ID  tag: String }
type CancelRequestsPayload { response: Response  count: Int! }

type ClusterMember { node: String!  address: String!  leads: Boolean!  applied: UInt64!  slots: [Int!]!  formats: [Int!]!  isAway: Boolean!  problem: String }
type Cluster { node: String!  role: String!  term: UInt64!  applied: UInt64!  kept: UInt64!  format: Int!  leader: String  members: [ClusterMember!]!  problem: String }
type ResignLeadPayload { response: Response }   type FinalizeClusterPayload { response: Response }
input EvictMachineInput { node: String!  force: Boolean }   type EvictMachinePayload { response: Response }

type Query {
  getGQLSchema: GQLSchema
  schemaProblems(schema: String!): [SchemaProblem!]!
  schemaPlan(schema: String!): SchemaPlan
  migrations: Migrations!
  health: [NodeState]
  state: MembershipState
  config: Config
  task(input: TaskInput!): TaskPayload
  getUser(name: String!): User
  getGroup(name: String!): Group
  getCurrentUser: User
  queryUser(filter: UserFilter, order: UserOrder, first: Int, offset: Int): [User]
  queryGroup(filter: GroupFilter, order: GroupOrder, first: Int, offset: Int): [Group]
  listBackups(input: ListBackupsInput!): [Manifest]
  listKeys: [AccessKey!]!
  runningRequests(tag: String): [RunningRequest!]!
  cluster: Cluster
  namespaces(count: Boolean): [Namespace!]!
  currentNamespace(count: Boolean): Namespace
}
type Mutation {
  updateGQLSchema(input: UpdateGQLSchemaInput!): UpdateGQLSchemaPayload
  reportMigration(input: ReportMigrationInput!): Migrations
  applyGQLSchema(input: ApplyGQLSchemaInput!): UpdateGQLSchemaPayload
  export(input: ExportInput!): ExportPayload
  draining(enable: Boolean): DrainingPayload
  shutdown: ShutdownPayload
  config(input: ConfigInput!): ConfigPayload
  removeNode(input: RemoveNodeInput!): RemoveNodePayload
  moveTablet(input: MoveTabletInput!): MoveTabletPayload
  assign(input: AssignInput!): AssignPayload
  backup(input: BackupInput!): BackupPayload
  compact: CompactPayload
  restore(input: RestoreInput!): RestorePayload
  restoreTenant(input: RestoreTenantInput!): RestorePayload
  login(userId: String, password: String, namespace: Int, refreshToken: String): LoginPayload
  addUser(input: [AddUserInput!]!): AddUserPayload
  addGroup(input: [AddGroupInput!]!): AddGroupPayload
  updateUser(input: UpdateUserInput!): AddUserPayload
  updateGroup(input: UpdateGroupInput!): AddGroupPayload
  deleteGroup(filter: GroupFilter!): DeleteGroupPayload
  deleteUser(filter: UserFilter!): DeleteUserPayload
  addNamespace(input: AddNamespaceInput): NamespacePayload
  deleteNamespace(input: DeleteNamespaceInput!): NamespacePayload
  setNamespaceQuota(input: SetNamespaceQuotaInput!): SetNamespaceQuotaPayload
  dropNamespaceData(input: DropNamespaceDataInput!): NamespacePayload
  resetPassword(input: ResetPasswordInput!): ResetPasswordPayload
  revokeTokens(input: RevokeTokensInput!): RevokeTokensPayload
  createKey(input: CreateKeyInput!): CreateKeyPayload
  revokeKey(input: RevokeKeyInput!): RevokeKeyPayload
  cancelRequests(input: CancelRequestsInput!): CancelRequestsPayload
  resignLead: ResignLeadPayload
  finalizeCluster: FinalizeClusterPayload
  evictMachine(input: EvictMachineInput!): EvictMachinePayload
}
`;
