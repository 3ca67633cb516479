import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { readUint256 } from '../../protocol/amount.js'
import {
  declarationReport,
  discoveredResource,
  discoveryLimits,
  listingChanged,
  resourcePage,
  searchPage,
} from '../../protocol/discovery.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { wireLimits } from '../../protocol/wire.js'
import { describeLimit, integerText, limitText, uuidText } from './queries.js'
import { bodyErrors, describeErrors, type Examples, jsonResponse } from './responses.js'

const id = '7d0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
const url = 'https://weather.example/v1/forecast'
const network = 'eip155:84532'

const bazaar = {
  info: { input: { type: 'http', method: 'GET', queryParams: { city: 'Lisbon' } } },
  schema: {
    type: 'object',
    properties: { input: { type: 'object', required: ['type', 'method'] } },
    required: ['input'],
  },
}

const compact = {
  id,
  resourceUri: url,
  url,
  type: 'http',
  network,
  discoveredAt: '2026-01-01T00:00:00.000Z',
  metadata: {
    provider: 'Weather',
    description: 'Forecast of the next seven days',
    tags: ['weather'],
    method: 'GET',
  },
}

const resource = {
  ...compact,
  resource: url,
  x402Version: 2,
  t402Version: 2,
  accepts: [
    {
      scheme: 'exact',
      network,
      amount: '10000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    },
  ],
  lastUpdated: '2026-01-02T00:00:00.000Z',
  description: 'Forecast of the next seven days',
  serviceName: 'Weather',
  tags: ['weather'],
  extensions: { bazaar },
  distinctPayers: 12,
}

export const discoveryExamples = {
  id,
  resource,
  summary: compact,
  signature: {
    signature: {
      value: {
        network,
        address: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
        issuedAt: '2026-01-02T00:00:00.000Z',
        signature: `0x${'ab'.repeat(65)}`,
      },
    },
  },
  unlisted: { unlisted: { value: { id, resource: url, listing: 'unlisted' } } },
  relisted: { listed: { value: { id, resource: url, listing: 'listed' } } },
  declaration: { declared: { value: { resource: url, extensions: { bazaar } } } },
  report: {
    listed: {
      value: {
        wouldBeListed: true,
        version: 2,
        key: { url },
        type: 'http',
        rules: [
          {
            rule: 'shape',
            status: 'passed',
            effect: 'rejects',
            sentence: '`bazaar` is an object with the objects `info` and `schema`.',
          },
        ],
      },
    },
  },
}

const readErrors = [
  'INVALID_REQUEST',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
const itemErrors = [...readErrors, 'NOT_FOUND'] as const
const changeErrors = [...itemErrors, 'UNAUTHORIZED', 'FORBIDDEN', ...bodyErrors] as const
const validateErrors = [
  'INVALID_REQUEST',
  'RATE_LIMITED',
  ...bodyErrors,
  'INTERNAL_ERROR',
] as const satisfies readonly ErrorCode[]

const text = (maxLength: number) => z.string().min(1).max(maxLength)
const amountText = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .refine((digits) => readUint256(digits) !== null, 'must be at most 2^256 - 1')
  .transform((digits) => BigInt(digits))
  .meta({ type: 'string', pattern: '^[0-9]{1,78}$' })

const filters = {
  type: z.enum(['http', 'mcp']).optional(),
  network: text(wireLimits.network)
    .optional()
    .meta({
      description: 'Any accepted name of a network',
      examples: ['eip155:84532'],
    }),
  scheme: text(wireLimits.scheme)
    .optional()
    .meta({ examples: ['exact'] }),
  asset: text(wireLimits.address).optional(),
  payTo: text(wireLimits.address).optional(),
  extensions: text(256)
    .optional()
    .meta({ description: 'Keys of extensions that it declares, comma separated', examples: ['bazaar'] }),
  minAmount: amountText.optional().meta({ description: 'Lowest price, in smallest units of the asset' }),
  maxAmount: amountText.optional().meta({ description: 'Highest price, in smallest units of the asset' }),
  limit: limitText(discoveryLimits.page)
    .default(discoveryLimits.defaultPage)
    .meta(describeLimit('Page size', discoveryLimits.defaultPage, discoveryLimits.page)),
  cursor: text(128).optional().meta({ description: '`nextCursor` of the previous page' }),
}

const order =
  'Ordered by distinct payers and recency: Unix time of the last settlement plus 7 days for every doubling of the ' +
  'payers. Nothing that a resource says of itself influences its place.'

export const listResourcesSchema = {
  operationId: 'listResources',
  tags: ['Discovery'],
  summary: 'List resources that were paid for',
  description: [
    'Resources whose settled payments declared the extension `bazaar`. Filters apply to one of the `accepts` together. ' +
      order,
    'Read on with `nextCursor`: pages then neither repeat nor skip what does not change its place. `offset` reaches ' +
      `${discoveryLimits.offset.toLocaleString('en')} resources.`,
  ].join('\n\n'),
  querystring: z.strictObject({
    ...filters,
    q: text(discoveryLimits.query).optional().meta({ description: 'Words that all occur' }),
    offset: integerText(/^(?:0|[1-9][0-9]{0,4})$/, 0, discoveryLimits.offset)
      .default(0)
      .meta({ description: 'Resources to skip; not with `cursor`', examples: [0] }),
  }),
  response: {
    200: jsonResponse('A page of resources.', resourcePage),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const searchResourcesSchema = {
  operationId: 'searchResources',
  tags: ['Discovery'],
  summary: 'Search resources by words',
  description: `All words must occur in host, path, service name, tags, description or tool name. ${order}`,
  querystring: z.strictObject({
    ...filters,
    query: text(discoveryLimits.query).meta({ description: 'Words', examples: ['weather forecast'] }),
  }),
  response: {
    200: jsonResponse('A page of matches.', searchPage),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

const params = z.object({ id: uuidText.meta({ examples: [discoveryExamples.id] }) })

export const getResourceSchema = {
  operationId: 'getResource',
  tags: ['Discovery'],
  summary: 'One listed resource',
  description: 'With its whole declaration, as declared: treat it as untrusted text.',
  params,
  response: {
    200: jsonResponse('The resource.', discoveredResource),
    ...describeErrors(itemErrors),
  },
} satisfies FastifySchema

const ownerSignature = z
  .strictObject({
    network: text(wireLimits.network).meta({ examples: ['eip155:84532'] }),
    address: text(wireLimits.address).meta({ description: 'A recipient (`payTo`) of the resource' }),
    issuedAt: z.iso.datetime({ offset: true }).meta({ description: 'Within 5 minutes of now' }),
    signature: text(20_000),
  })
  .meta({ id: 'OwnerSignature' })
  .nullish()
  .meta({ description: 'Not needed with the API key of the owning account' })

const authority =
  'By the API key of the account that owns the listing, or by a signature of one of its recipients over the lines ' +
  '`quittance discovery: unlist` (or `relist`), `Resource: <id>`, `URL: <resource>`, for MCP `Tool: <toolName>`, and ' +
  '`Issued At: <issuedAt>`, joined by line feeds. Idempotent.'

const changes = (examples: Examples) => ({
  tags: ['Discovery'],
  params,
  body: ownerSignature,
  response: {
    200: jsonResponse('The state of the listing.', listingChanged, examples),
    ...describeErrors(changeErrors),
  },
  'x-reference': { request: discoveryExamples.signature },
})

export const unlistResourceSchema = {
  ...changes(discoveryExamples.unlisted),
  operationId: 'unlistResource',
  summary: 'Unlist a resource that you own',
  description: `Settlements do not list it again; \`relist\` does. ${authority}`,
} satisfies FastifySchema

export const relistResourceSchema = {
  ...changes(discoveryExamples.relisted),
  operationId: 'relistResource',
  summary: 'List a resource again that you unlisted',
  description: authority,
} satisfies FastifySchema

export const validateDeclarationSchema = {
  operationId: 'validateDeclaration',
  tags: ['Discovery'],
  summary: 'Explain rule by rule whether a declaration would be listed',
  description:
    'Takes a bare declaration `{ info, schema, routeTemplate?, resource? }`, `{ resource, extensions }`, a 402 answer ' +
    'of either version, a payment payload or the body of a settle request. Nothing is stored.',
  body: z.looseObject({}),
  response: {
    200: jsonResponse('Every rule, in the order of checking.', declarationReport, discoveryExamples.report),
    ...describeErrors(validateErrors, bodyLimits.declaration),
  },
  'x-reference': {
    request: discoveryExamples.declaration,
  },
} satisfies FastifySchema
