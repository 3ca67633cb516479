import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { acceptsRequest, completedRequirements, pricedRequirements } from '../../protocol/accepts.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import { router } from '../../protocol/results.js'
import { wireLimits } from '../../protocol/wire.js'
import { bodyErrors, describeErrors, jsonResponse } from './responses.js'

const errors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  ...bodyErrors,
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const versions = (version: 1 | 2) =>
  ({ payVersion: version, x402Version: version, t402Version: version }) as const

const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const resource = { url: 'https://api.example.com/report' }
const draft = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '10000',
  asset,
  payTo,
  maxTimeoutSeconds: 60,
}
const domain = { name: 'USDC', version: '2' }

export const acceptsSchema = {
  operationId: 'completeRequirements',
  tags: ['Payments'],
  summary: 'Complete payment requirements, or make them from a price',
  description: [
    'For middlewares that let the facilitator fill in what only it knows. Two dialects, told apart by the body:',
    '- **`accepts`** (Faremeter): requirements without `extra`, and optionally without `asset`, `scheme` and ' +
      '`maxTimeoutSeconds`. Answered with **200**; entries that this instance cannot settle now are left out.\n' +
      '- **`price`** (thirdweb): dollars or an amount of a token, with `resourceUrl` and `network`. Answered with ' +
      '**402**, whose body is that of a version 1 payment-required response.',
    'Networks keep the name that the caller used. No key is needed, and nothing is stored, except for recipients of ' +
      '`exact-direct` with unique amounts: their amounts are reserved, for API keys of their project only (403).',
  ].join('\n\n'),
  body: acceptsRequest,
  response: {
    200: jsonResponse('The requirements, complete.', completedRequirements, {
      completed: { value: { ...versions(2), resource, accepts: [{ ...draft, extra: domain }] } },
    }),
    402: jsonResponse('The requirements for the price; not an error.', pricedRequirements, {
      paymentRequired: {
        value: {
          ...versions(1),
          error: 'Payment required',
          accepts: [
            {
              scheme: 'exact',
              network: 'eip155:84532',
              maxAmountRequired: '10000',
              resource: resource.url,
              description: '',
              mimeType: 'application/json',
              asset,
              payTo,
              maxTimeoutSeconds: 300,
              extra: { ...domain, primaryType: 'TransferWithAuthorization' },
            },
          ],
        },
      },
    }),
    ...describeErrors(errors, bodyLimits.payment),
  },
  'x-reference': {
    request: {
      accepts: {
        summary: 'Requirements to complete',
        value: { x402Version: 2, resource, accepts: [draft] },
      },
      price: {
        summary: 'A price',
        value: {
          x402Version: 2,
          resourceUrl: resource.url,
          method: 'GET',
          network: 'eip155:84532',
          price: '$0.01',
          recipientAddress: payTo,
        },
      },
    },
  },
} satisfies FastifySchema

const routerErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const network = 'eip155:84532'

const query = z.strictObject({
  network: z
    .string()
    .min(1)
    .max(wireLimits.network)
    .meta({ description: 'Any name that `/supported` lists for `upto`', examples: [network] }),
  payTo: z
    .string()
    .min(1)
    .max(wireLimits.address)
    .meta({ description: 'Recipient', examples: [payTo] }),
})

export const routerSchema = {
  operationId: 'findRouter',
  tags: ['Payments'],
  summary: 'Router of a recipient, for the scheme `upto`',
  description:
    'The contract that payers name as the spender of a permit, for `extra.routerAddress` of requirements. It pays to ' +
    'its recipient only. Its address is final before it is deployed.',
  querystring: query,
  response: {
    200: jsonResponse('The router.', router, {
      router: {
        value: {
          network,
          payTo,
          routerAddress: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
          isDeployed: false,
          sharedRouterAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
        },
      },
    }),
    ...describeErrors(routerErrors),
  },
} satisfies FastifySchema
