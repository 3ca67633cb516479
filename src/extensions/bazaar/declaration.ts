import { type Fields, fieldsOf, isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { ExtensionProblem } from '../extension.js'

/** What a resource server says of its resource. Untrusted: rules.ts decides whether it is listed. */
export interface Declaration {
  readonly version: 1 | 2
  /** `{ info, schema, routeTemplate? }` as sent; of version 1 what `outputSchema` amounts to. */
  readonly content: unknown
  /** URL of the resource as sent. */
  readonly resource: string | null
  /** `description`, `mimeType`, `serviceName`, `tags`, `iconUrl`. */
  readonly details: Fields
  /** Keys of all extensions that the resource declares. */
  readonly extensionKeys: readonly string[]
}

interface DeclarationSource {
  readonly version: 1 | 2
  /** Value of the key `bazaar`; undefined without it. */
  readonly bazaar: unknown
  /** Only version 1 has it. */
  readonly outputSchema: unknown
  readonly resource: string | null
  readonly details: Fields
  readonly extensionKeys: readonly string[]
}

/** Null: the payment does not use the extension. */
export const readDeclaration = (payment: Payment): Declaration | null =>
  readDeclarationFrom({
    version: payment.version,
    bazaar: findBazaar(payment),
    outputSchema: payment.version === 1 ? payment.resourceDetails.outputSchema : undefined,
    resource: payment.resource,
    details: payment.resourceDetails,
    extensionKeys: Object.keys(payment.extensions),
  })

/** The declaration of the requirements takes precedence over what the client repeats. */
const findBazaar = ({
  declaredExtensions,
  clientExtensions,
}: Pick<Payment, 'declaredExtensions' | 'clientExtensions'>): unknown =>
  declaredExtensions.bazaar ?? clientExtensions.bazaar

const readDeclarationFrom = ({
  bazaar,
  outputSchema,
  resource,
  details,
  extensionKeys,
}: DeclarationSource): Declaration | null => {
  const shared = { resource, details, extensionKeys: extensionKeys.slice(0, maxKeys).filter(isShortKey) }
  if (bazaar !== undefined) return { version: 2, content: bazaar, ...shared }
  const info = isFields(outputSchema) ? readInfoV1(outputSchema) : null
  if (info === null) return null
  return {
    version: 1,
    content: { info, schema: schemaV1 },
    ...shared,
    extensionKeys: [...shared.extensionKeys, 'bazaar'],
  }
}

const maxKeys = 16
const isShortKey = (key: string): boolean => /^[\x21-\x7e]{1,64}$/.test(key)

/** As x402 publishes resources of version 1. */
const schemaV1 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { input: { type: 'object' }, output: { type: 'object' } },
  required: ['input'],
} as const

const queryNames = ['queryParams', 'query_params', 'query', 'params'] as const
const bodyNames = ['bodyFields', 'body_fields', 'bodyParams', 'body', 'data', 'properties'] as const
const headerNames = ['headerFields', 'header_fields', 'headers'] as const

const bodyMethods: readonly string[] = ['POST', 'PUT', 'PATCH']

/**
 * `info` of version 2 from `outputSchema` of version 1, by the names that x402 reads. Null if it describes no HTTP
 * request, or is not discoverable. An unknown method is kept, so that its rule can name it.
 */
const readInfoV1 = ({ input, output }: Fields): Fields | null => {
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

/** In a bare declaration, a 402 answer of either version, a payment payload, or a request to /settle. */
export const findDeclaration = (body: Fields): Declaration | null => {
  const payload = fieldsOf(body.paymentPayload)
  const requirements = fieldsOf(body.paymentRequirements)
  const accepts: readonly unknown[] = Array.isArray(body.accepts) ? body.accepts : []
  const terms = [requirements, ...accepts.filter(isFields)]
  const outputSchema = [body, ...terms].map((each) => each.outputSchema).find(isFields)
  const owner = terms.find((each) => each.outputSchema !== undefined) ?? terms[0] ?? {}
  const extensions = [requirements, payload, body].map((each) => fieldsOf(each.extensions))
  const bare = 'info' in body || 'schema' in body ? body : undefined
  const bazaar =
    extensions.map((each) => each.bazaar).find((each) => each !== undefined) ?? body.declaration ?? bare
  const resources = [requirements.resource, payload.resource, body.resource, owner.resource]
  const details = bazaar === undefined ? { ...owner, ...fieldsOf(body.resource) } : findDetails(resources)
  const source: DeclarationSource = {
    version: bazaar === undefined ? 1 : 2,
    bazaar,
    outputSchema,
    resource: resources.map(readUrl).find((url) => url !== null) ?? null,
    details,
    extensionKeys: extensions.flatMap((each) => Object.keys(each)),
  }
  return readDeclarationFrom(source)
}

const findDetails = (resources: readonly unknown[]): Fields => resources.find(isFields) ?? {}

const readUrl = (resource: unknown): string | null => {
  const url = isFields(resource) ? resource.url : resource
  return typeof url === 'string' ? url : null
}

/** Shape only: everything else costs the listing, never the payment. */
export const findProblem = ({
  declaredExtensions,
  clientExtensions,
}: Pick<Payment, 'declaredExtensions' | 'clientExtensions'>): ExtensionProblem | null => {
  const declared = findShapeProblem(declaredExtensions.bazaar)
  if (declared !== null) return { origin: 'requirements', ...declared }
  const repeated = findShapeProblem(clientExtensions.bazaar)
  return repeated === null ? null : { origin: 'payload', ...repeated }
}

const findShapeProblem = (bazaar: unknown): Pick<ExtensionProblem, 'path' | 'message'> | null => {
  if (bazaar === undefined) return null
  const message = 'must be an object'
  if (!isFields(bazaar)) return { path: 'bazaar', message }
  for (const part of ['info', 'schema'] as const) {
    if (bazaar[part] !== undefined && !isFields(bazaar[part])) return { path: `bazaar.${part}`, message }
  }
  return null
}
