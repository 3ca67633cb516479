const minLength = 2
const maxLength = 64

// NEAR's grammar: lower-case words, joined by single separators.
const form = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/

/** Null if the text is no account id. There is only one spelling of each. */
export const readAccountId = (text: string): string | null =>
  text.length >= minLength && text.length <= maxLength && form.test(text) ? text : null
