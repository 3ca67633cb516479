/** Names a stream as holder of its payer's funds, and as the party that its settlement answers. */
export const holderOf = (id: string): string => `stream:${id}`
