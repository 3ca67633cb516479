// RFC 3339, as EIP-4361 requires.
const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** Milliseconds since 1970, or null. */
export const readTime = (text: string): number | null => {
  if (!timeForm.test(text)) return null
  const milliseconds = Date.parse(text)
  return Number.isNaN(milliseconds) ? null : milliseconds
}
