const referring: readonly string[] = ['$ref', '$id', '$dynamicRef', '$recursiveRef']

/** Null: no reference leaves the schema. At every place, as x402 checks it; depth is bounded by an earlier rule. */
export const findOutsideReference = (node: unknown): string | null => {
  if (typeof node !== 'object' || node === null) return null
  for (const [key, value] of Object.entries(node)) {
    if (referring.includes(key) && !(typeof value === 'string' && value.startsWith('#'))) return key
    const inner = findOutsideReference(value)
    if (inner !== null) return inner
  }
  return null
}
