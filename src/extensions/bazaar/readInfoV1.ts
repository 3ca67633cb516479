import { type Fields, isFields } from '../../protocol/fields.js'

const queryNames = ['queryParams', 'query_params', 'query', 'params'] as const
const bodyNames = ['bodyFields', 'body_fields', 'bodyParams', 'body', 'data', 'properties'] as const
const headerNames = ['headerFields', 'header_fields', 'headers'] as const

const bodyMethods: readonly string[] = ['POST', 'PUT', 'PATCH']

/**
 * `info` of version 2 from `outputSchema` of version 1, by the names that x402 reads. Null if it describes no HTTP
 * request, or is not discoverable. An unknown method is kept, so that its rule can name it.
 */
export const readInfoV1 = ({ input, output }: Fields): Fields | null => {
  if (!isFields(input) || input.type !== 'http' || !('method' in input)) return null
  if (!(input.discoverable ?? true)) return null
  const method = typeof input.method === 'string' ? input.method.toUpperCase() : input.method
  const query = findObject(input, queryNames)
  const headers = findObject(input, headerNames)
  const hasBody = typeof method === 'string' && bodyMethods.includes(method)
  return {
    input: {
      type: 'http',
      method,
      ...(hasBody ? { bodyType: readBodyType(input), body: findObject(input, bodyNames) ?? {} } : {}),
      ...(query === null ? {} : { queryParams: query }),
      ...(headers === null ? {} : { headers }),
    },
    ...(output ? { output: { type: 'json', example: output } } : {}),
  }
}

const findObject = (input: Fields, names: readonly string[]): Fields | null => {
  for (const name of names) {
    const value = input[name]
    if (isFields(value)) return value
  }
  return null
}

const readBodyType = (input: Fields): string => {
  const type = input.bodyType || input.body_type
  if (typeof type !== 'string') return 'json'
  if (/form|multipart/i.test(type)) return 'form-data'
  return /text|plain/i.test(type) ? 'text' : 'json'
}
