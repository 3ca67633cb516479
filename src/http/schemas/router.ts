import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { router } from '../../protocol/results.js'
import { wireLimits } from '../../protocol/wire.js'
import { describeErrors, jsonResponse } from './responses.js'

const errors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
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
    ...describeErrors(errors),
  },
} satisfies FastifySchema
