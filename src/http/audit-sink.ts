/** Where records go. Several processes may write to the same place. */
export interface AuditSink {
  /** Whether queries and subscriptions are recorded too. */
  readonly queries: boolean;
  /** One record, without line breaks. Never throws: what cannot be written is `fault`. */
  write(line: string): void;
  /** Why the last records could not be written; undefined: they were. */
  readonly fault: string | undefined;
  /** Whether requests are refused while there is a fault, if a record would be made of them. */
  readonly isRequired: boolean;
}
