/** For failures the caller carries on from. What ends the request is thrown as a Fault instead. */
export type Result<T, E> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };
