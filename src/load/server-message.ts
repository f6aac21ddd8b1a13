/**
 * What a server says, known by its words: an answer over HTTP has a message and `extensions.code`, and one code stands
 * for many causes. Clients of the reference look at the same words.
 */

const passing = /Please retry|Too Many Requests|errIndexingInProgress|overloaded|outcome/i;

/** The same request may go through later. */
export function saysTryAgain(message: string): boolean {
  return passing.test(message);
}

const expired = /token is expired/i;

/** An access token that was good is not any more. */
export function saysTokenExpired(message: string): boolean {
  return expired.test(message);
}

/** A schema asks for resolvers, and the server has none. */
export function saysNoLambda(message: string): boolean {
  return message.includes("has the @lambda directive");
}
