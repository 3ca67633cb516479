// The one character that a text in Postgres cannot hold: a statement that carries it is refused.
const nul = '\0'

/** Whether no row can hold a text. */
export const hasNul = (text: string): boolean => text.includes(nul)

/** A text as a row can hold it. */
export const withoutNul = (text: string): string => text.replaceAll(nul, '')
