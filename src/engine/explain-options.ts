/** EXPLAIN and PROFILE as a request asks for them. */

export interface ExplainOptions {
  /** explain: nothing is run, statistics are read. profile: the query is run and its steps are measured. */
  readonly kind: "explain" | "profile";
  /** text: a table for people. */
  readonly form: "json" | "text";
}
