import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { version } from '../platform/version.js'
import { wirePayload } from '../protocol/wire.js'
import type { Access } from './access.js'
import { finishDocument } from './openapiFinish.js'
import { limitHeaders } from './openapiLimits.js'
import { payloadFlat, payloadVersion1, payloadVersion2 } from './schemas/payloads.js'

const description = [
  'A **payment facilitator** for HTTP 402. A resource server that asks to be paid hands the payment of its ' +
    'client to this service: `POST /verify` judges it, `POST /settle` carries it out on chain. The service never ' +
    'holds the money: it moves from payer to recipient by what the payer signed.',
  '## The flow',
  '1. A client asks for a resource; the server answers 402 with its payment requirements.\n' +
    '2. The client signs a payment and asks again with the header `PAYMENT-SIGNATURE`.\n' +
    '3. The server sends the decoded payment, and its own requirements, to `/verify`.\n' +
    '4. It does its work and calls `/settle` with the same body and an `Idempotency-Key`.\n' +
    '5. On `success: true` it delivers, with the answer in the header `PAYMENT-RESPONSE`.',
  '## Conventions',
  '- Bodies are JSON in UTF-8, at most 64 kB for /verify and /settle and 8 kB elsewhere, with at most 2,000 keys ' +
    'and array elements in at most 32 levels, without duplicate keys; they have 5 s to arrive.\n' +
    "- **Amounts** are decimal strings in the token's smallest unit: `10000` is 0.01 of a token with 6 decimals.\n" +
    '- **Networks** are CAIP-2 identifiers such as `eip155:8453`; the short names of version 1 are understood, ' +
    'and answers repeat the name that you used.\n' +
    '- **Versions**: payloads of version 2, version 1 and the flat shape are understood. The version field may ' +
    'be called `payVersion`, `x402Version` or `t402Version`.',
  '## Answers',
  'A payment that is refused is an answer: HTTP 200 with `isValid: false` or `success: false` and a reason. ' +
    'Every other failure is an error, `{ code, message }`: **4xx** means that the request must change, **5xx** ' +
    'that nothing was decided and the same request may be repeated. With `Retry-After` it says when.',
  '## API keys',
  'A key, from `POST /register`, is sent as `Authorization: Bearer <key>` or as `X-API-Key: <key>`, never in the query ' +
    'string. An instance may demand one for payments; `/dashboard` always does. A key that is wrong is refused with ' +
    '401 also where none is needed, and so are two that differ; only the probes look at no key.',
  '## Headers',
  'Every answer carries `X-Request-ID`: your own, where it is at most 64 letters, digits, `-` and `_`, else a ' +
    'new one. Any web page may call this API (CORS), but for `/register`, `/lookup` and `/dashboard`: these only pages of ' +
    'the origins that the operator lists.',
].join('\n\n')

const documentInfo = {
  openapi: '3.1.0',
  info: {
    title: 'quittance',
    summary:
      'Payment facilitator for HTTP 402: verifies signed stablecoin payments and settles them on chain',
    description,
    version,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'This instance' }],
  tags: [
    { name: 'Payments', description: 'Judge, carry out and look up payments.' },
    { name: 'Accounts', description: 'API keys, and what their owners see and set.' },
    {
      name: 'Webhooks',
      description:
        'What becomes of your settlements is sent to your own address: signed after Standard Webhooks ' +
        '(`webhook-id`, `webhook-timestamp`, `webhook-signature`), at least once, and again for 17 hours.',
    },
    { name: 'Service', description: 'The instance itself: probes, counters, plans, this document.' },
    { name: 'Statistics', description: 'What was counted over all instances, for everyone.' },
  ],
}

const answerHeaders = {
  'X-Request-ID': {
    description: 'The id of this request, as it stands in our logs',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
  'Retry-After': {
    description: 'Seconds after which a retry makes sense',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': {
    description: 'How to send what was missing or wrong',
    schema: { type: 'string', pattern: '^Bearer$' },
  },
} as const

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key as `Authorization: Bearer <key>`' },
  header: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key in a header of its own',
  },
  operator: { type: 'http', scheme: 'bearer', description: 'The `OPERATOR_TOKEN` of the instance' },
} as const

type SecurityRequirement = Readonly<Record<string, string[]>>

const eitherHeader: readonly SecurityRequirement[] = [{ bearer: [] }, { header: [] }]
// An empty requirement: without anything is fine too.
const optional: SecurityRequirement = {}

/** What a route asks callers to show, in the words of OpenAPI; an empty list where it asks for nothing. */
const describeSecurity = (
  access: Access | undefined,
  servesOperators: boolean,
): readonly SecurityRequirement[] => {
  switch (access) {
    case 'dashboard':
      return servesOperators ? [...eitherHeader, { operator: [], header: [] }] : eitherHeader
    case 'key':
      return [optional, ...eitherHeader]
    case 'operator':
      return [{ operator: [] }]
    case 'public':
    case undefined:
      return servesOperators ? [optional, { operator: [] }] : []
  }
}

const componentPrefix = '#/components/schemas/'

const payloadShapes = [payloadVersion2, payloadVersion1, payloadFlat].map((schema) => ({
  $ref: `${componentPrefix}${z.globalRegistry.get(schema)?.id}Input`,
}))

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>

const overrideJsonSchema: Override = ({ zodSchema, jsonSchema }) => {
  if (zodSchema === wirePayload) jsonSchema.anyOf = payloadShapes
  // zod writes the bounds of JavaScript's integers and the patterns behind formats: noise to a reader.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}

const zodToJsonConfig = { override: overrideJsonSchema }
const transformRoute = createJsonSchemaTransform({ zodToJsonConfig })
const transformComponents = createJsonSchemaTransformObject({ zodToJsonConfig })

/** How @fastify/swagger makes the document from the routes. */
export const documentOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    ...documentInfo,
    components: { headers: { ...answerHeaders, ...limitHeaders }, securitySchemes },
  },
  transform: (input) => {
    const { schema, url } = transformRoute(input)
    const { access, asksOperators } = input.route.config ?? {}
    const security = describeSecurity(access, asksOperators !== undefined)
    return { schema: security.length === 0 ? schema : { ...schema, security }, url }
  },
  transformObject: (document) => finishDocument(transformComponents(document)),
}
