// Postgres text cannot contain NUL; it rejects the statement.
const nul = '\0'

export const hasNul = (text: string): boolean => text.includes(nul)

export const withoutNul = (text: string): string => text.replaceAll(nul, '')
