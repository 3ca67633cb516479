/** JSON with keys in order and no white space: the same text for the same content, however it was written. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
  }
  // Too large for a double: `JSON.stringify` would write null, and the text would stand for something else.
  if (value === Number.POSITIVE_INFINITY) return '1e999'
  if (value === Number.NEGATIVE_INFINITY) return '-1e999'
  return JSON.stringify(value ?? null)
}
