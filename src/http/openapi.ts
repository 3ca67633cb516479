import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { version } from '../platform/version.js'
import { wirePayload } from '../protocol/wire.js'
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
  '- Bodies are JSON in UTF-8, at most 1 MB, at most 32 levels deep, without duplicate keys.\n' +
    "- **Amounts** are decimal strings in the token's smallest unit: `10000` is 0.01 of a token with 6 decimals.\n" +
    '- **Networks** are CAIP-2 identifiers such as `eip155:8453`; the short names of version 1 are understood, ' +
    'and answers repeat the name that you used.\n' +
    '- **Versions**: payloads of version 2, version 1 and the flat shape are understood. The version field may ' +
    'be called `payVersion`, `x402Version` or `t402Version`.',
  '## Answers',
  'A payment that is refused is an answer: HTTP 200 with `isValid: false` or `success: false` and a reason. ' +
    'Every other failure is an error, `{ code, message }`: **4xx** means that the request must change, **5xx** ' +
    'that nothing was decided and the same request may be repeated. With `Retry-After` it says when.',
  'Every answer carries `X-Request-ID`: your own, where it is at most 64 letters, digits, `-` and `_`, else a ' +
    'new one. Any web page may call this API (CORS).',
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
    { name: 'Service', description: 'The instance itself: probes, counters, plans, this document.' },
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
} as const

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
const transformComponents = createJsonSchemaTransformObject({ zodToJsonConfig })

/** How @fastify/swagger makes the document from the routes. */
export const documentOptions: FastifyDynamicSwaggerOptions = {
  openapi: { ...documentInfo, components: { headers: { ...answerHeaders, ...limitHeaders } } },
  transform: createJsonSchemaTransform({ zodToJsonConfig }),
  transformObject: (document) => finishDocument(transformComponents(document)),
}
