/** A 32-byte hash as 0x and lower-case hex, from any case, with or without 0x; null if the text is none. */
export const readHexHash = (text: string): string | null => {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text) ?? []
  return digits === undefined ? null : `0x${digits.toLowerCase()}`
}
