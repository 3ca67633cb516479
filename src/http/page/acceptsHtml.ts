/**
 * Whether a caller asks for a page: it names text/html, and prefers nothing else that we have. Browsers do; programs send
 * a wildcard, application/json or nothing, and get JSON.
 */
export const acceptsHtml = (accept = ''): boolean => {
  const weights = new Map(accept.slice(0, maxLength).split(',').map(readRange))
  const page = weights.get('text/html') ?? 0
  return page > 0 && page >= (weights.get('application/json') ?? 0)
}

const maxLength = 1_000

const readRange = (range: string): readonly [string, number] => {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}
