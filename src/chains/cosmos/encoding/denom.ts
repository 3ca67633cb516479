// Grammar of the bank module; IBC vouchers are `ibc/` and a hash.
const form = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/

const maxLength = 128

/** Denominations are case-sensitive. Null if the text names none. */
export const readDenom = (text: string): string | null =>
  text.length <= maxLength && form.test(text) ? text : null
