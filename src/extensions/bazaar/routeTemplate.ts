const allowed = /^\/[a-zA-Z0-9_/:.\-~%]+$/
const maxLength = 1_024
const maxDecodings = 5

/** Null: valid. The rules of x402, with decoding to a fixed point. */
export const findTemplateProblem = (template: unknown): string | null => {
  if (typeof template !== 'string') return 'is not a string'
  if (template.length > maxLength) return `has more than ${maxLength} characters`
  if (!allowed.test(template)) return 'is not a path of letters, digits and _ / : . - ~ %'
  const decoded = decodeFully(template)
  if (decoded === null) return `is not percent-encoded text that ${maxDecodings} decodings resolve`
  if (decoded.includes('..')) return 'contains `..`'
  if (decoded.includes('://')) return 'contains `://`'
  if (decoded.includes('//') || decoded.includes('\\')) return 'contains `//` or a backslash'
  return null
}

const decodeFully = (text: string): string | null => {
  let decoded = text
  for (let pass = 0; pass < maxDecodings; pass += 1) {
    const next = decodeOnce(decoded)
    if (next === null || next === decoded) return next
    decoded = next
  }
  return null
}

const decodeOnce = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
