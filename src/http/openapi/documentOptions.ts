import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { version } from '../../platform/version.js'
import { channelView } from '../../protocol/channels.js'
import { compactResource, discoveredResource } from '../../protocol/discovery.js'
import { intentRoute, intentView, unavailableRoute } from '../../protocol/intents.js'
import { unlimitedPaths } from '../../protocol/requestLimits.js'
import { settlementDetails, settlementView } from '../../protocol/results.js'
import { sandboxPayment, scenarioView } from '../../protocol/sandbox.js'
import { streamView } from '../../protocol/streams.js'
import { wirePayload } from '../../protocol/wire.js'
import type { Access } from '../auth/caller.js'
import { channelExample } from '../schemas/channels.js'
import { discoveryExamples } from '../schemas/discovery.js'
import { intentExamples } from '../schemas/intents.js'
import { payloadFlat, payloadVersion1, payloadVersion2 } from '../schemas/payloads.js'
import { settlementDetailsResponse, settlementResponses } from '../schemas/paymentExamples.js'
import { describeErrors } from '../schemas/responses.js'
import { scenarioExample } from '../schemas/sandbox.js'
import { streamExamples } from '../schemas/streams.js'
import { finishDocument, responseHeaders } from './finishDocument.js'

const description = [
  'A **payment facilitator** for HTTP 402. A resource server forwards the payment of its client to this service: ' +
    '`POST /verify` checks it, `POST /settle` executes it on chain. The service never holds funds: they move ' +
    'directly from payer to recipient under the authorization that the payer signed.',
  '## The flow',
  '1. A client requests a resource; the server responds 402 with its payment requirements.\n' +
    '2. The client signs a payment and repeats the request with the header `PAYMENT-SIGNATURE`.\n' +
    '3. The server sends the decoded payment, and its own requirements, to `/verify`.\n' +
    '4. It prepares the resource and calls `/settle` with the same body and an `Idempotency-Key`.\n' +
    '5. On `success: true` it delivers, with the settle response in the header `PAYMENT-RESPONSE`.',
  '## Conventions',
  '- Bodies are JSON in UTF-8, at most 64 kB for /verify and /settle, 128 kB for /discovery/validate and 8 kB elsewhere, with at most 2,000 keys ' +
    'and array elements in at most 32 levels, without duplicate keys; they have 5 s to arrive.\n' +
    "- **Amounts** are decimal strings in the token's smallest unit: `10000` is 0.01 of a token with 6 decimals.\n" +
    '- **Networks** are CAIP-2 identifiers such as `eip155:8453`; the short names of version 1 are accepted, ' +
    'and responses repeat the name that you sent.\n' +
    '- **Versions**: payloads of version 2, version 1 and the flat shape are accepted. The version field may ' +
    'be named `payVersion`, `x402Version` or `t402Version`.',
  '## Responses',
  'A rejected payment is a result, not an error: HTTP 200 with `isValid: false` or `success: false` and a reason. ' +
    'Every other failure is an error, `{ code, message }`: **4xx** means that the request must change, **5xx** ' +
    'that there is no result and the same request may be retried, after `Retry-After` if present.',
  '## API keys',
  'A key, from `POST /register`, is sent as `Authorization: Bearer <key>` or as `X-API-Key: <key>`, never in the query ' +
    'string. An instance may require one for payments; `/dashboard` always does. An invalid key is rejected with ' +
    '401 even where none is required, and so are two different keys; only the probes ignore keys.',
  '## Headers',
  'Every response has an `X-Request-ID`: yours if it is at most 64 letters, digits, `-` and `_`, otherwise a ' +
    'new one. Any web page may call this API (CORS), except `/register`, `/lookup` and `/dashboard`: only pages of ' +
    'the origins that the operator allows.',
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
    { name: 'Payments', description: 'Verify, settle and look up payments.' },
    {
      name: 'Channels',
      description: 'Channels of `batch-settlement` whose vouchers are kept, claimed and paid out here.',
    },
    {
      name: 'Holds',
      description: 'Captures, voids and refunds of payments that are held by `auth-capture`.',
    },
    { name: 'Streams', description: 'Metered payments: one settlement of exactly what was used.' },
    { name: 'Intents', description: 'Payments that can be made on one of several networks.' },
    { name: 'Accounts', description: 'API keys and their dashboard.' },
    {
      name: 'Webhooks',
      description:
        'Settlement events are posted to your URL, signed according to Standard Webhooks ' +
        '(`webhook-id`, `webhook-timestamp`, `webhook-signature`), at least once, with retries over 17 hours.',
    },
    { name: 'Sign-in', description: 'Proof that a client owns a wallet (CAIP-122).' },
    {
      name: 'Discovery',
      description:
        'Resources that were paid for: list, search, validate, unlist. Not served with `DISCOVERY=off`.',
    },
    { name: 'Credit', description: 'Scores of wallets, from the payments that they settled here.' },
    { name: 'Service', description: 'Probes, metrics, plans and this document.' },
    {
      name: 'Sandbox',
      description:
        'Scripted payments, and an inbox for webhooks. Served by instances that run as a sandbox only.',
    },
    { name: 'Statistics', description: 'Public totals of all instances.' },
    { name: 'Operators', description: 'What operators see and do, with the `OPERATOR_TOKEN`.' },
  ],
}

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key as `Authorization: Bearer <key>`' },
  header: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key',
  },
  operator: { type: 'http', scheme: 'bearer', description: 'The `OPERATOR_TOKEN` of the instance' },
} as const

type SecurityRequirement = Readonly<Record<string, string[]>>

const eitherHeader: readonly SecurityRequirement[] = [{ bearer: [] }, { header: [] }]
const optional: SecurityRequirement = {}

const describeSecurity = (
  access: Access | undefined,
  alsoServesOperators: boolean,
): readonly SecurityRequirement[] => {
  switch (access) {
    case 'dashboard':
      return alsoServesOperators ? [...eitherHeader, { operator: [], header: [] }] : eitherHeader
    case 'key':
      return [optional, ...eitherHeader]
    case 'operator':
      return [{ operator: [] }]
    case 'public':
    case undefined:
      return alsoServesOperators ? [optional, { operator: [] }] : []
  }
}

const componentPrefix = '#/components/schemas/'

const payloadShapes = [payloadVersion2, payloadVersion1, payloadFlat].map((schema) => ({
  $ref: `${componentPrefix}${z.globalRegistry.get(schema)?.id}Input`,
}))

/** Operations that answer these components, alone or in another one, need no examples of their own. */
const componentExamples = new Map<z.core.$ZodType, unknown>([
  [settlementView, settlementResponses.confirmed.value],
  [settlementDetails, settlementDetailsResponse],
  [channelView, channelExample],
  [streamView, streamExamples.stream],
  [intentView, intentExamples.intent],
  [intentRoute, intentExamples.intentRoute],
  [unavailableRoute, intentExamples.unavailableRoute],
  [discoveredResource, discoveryExamples.resource],
  [compactResource, discoveryExamples.summary],
  [scenarioView, scenarioExample],
  [sandboxPayment, scenarioExample.request],
])

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>

const overrideJsonSchema: Override = ({ zodSchema, jsonSchema }) => {
  if (zodSchema === wirePayload) jsonSchema.anyOf = payloadShapes
  const example = componentExamples.get(zodSchema)
  if (example !== undefined) jsonSchema.examples = [example]
  // The enumeration is validated here, and described as the component.
  if (typeof jsonSchema.sameAs === 'string') {
    jsonSchema.$ref = `${componentPrefix}${jsonSchema.sameAs}`
    for (const key of ['sameAs', 'type', 'enum'] as const) delete jsonSchema[key]
  }
  // zod emits safe-integer bounds and the patterns behind formats; neither helps a reader.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern
}

const zodToJsonConfig = { override: overrideJsonSchema }
const transformRoute = createJsonSchemaTransform({ zodToJsonConfig })
const transformComponents = createJsonSchemaTransformObject({ zodToJsonConfig })

export const documentOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    ...documentInfo,
    components: { headers: responseHeaders, securitySchemes },
  },
  transform: (input) => {
    const errors = unlimitedPaths.includes(input.url) ? {} : describeErrors(['RATE_LIMITED'])
    const response = { ...errors, ...Object(input.schema?.response) }
    const { schema, url } = transformRoute({ ...input, schema: { ...input.schema, response } })
    const { access, requiresOperator } = input.route.config ?? {}
    const security = describeSecurity(access, requiresOperator !== undefined)
    return {
      schema: {
        ...schema,
        ...(security.length === 0 ? {} : { security }),
        // The transform takes nothing but the schema from a response's content.
        'x-responses': response,
      },
      url,
    }
  },
  transformObject: (document) => finishDocument(transformComponents(document)),
}
