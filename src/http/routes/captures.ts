import type { FastifyRequest } from 'fastify'
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { AppError } from '../../errors.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { CaptureUseCases } from '../../usecases/captures/useCases.js'
import { getKeyOwner, readQuotaClaim, readRequester } from '../auth/caller.js'
import { readIdempotencyKey, rejectMalformedKey } from '../idempotencyKey.js'
import { forbidCaching } from '../reply.js'
import {
  captureSchema,
  getHeldPaymentSchema,
  getHoldDefaultsSchema,
  listHeldPaymentsSchema,
  refundSchema,
  setAtDeadlineSchema,
  setHoldDefaultsSchema,
  voidSchema,
} from '../schemas/captures.js'

interface CaptureRoutesDependencies {
  readonly useCases: CaptureUseCases
  readonly tiers: Tiers
}

export const captureRoutes: FastifyPluginCallbackZod<CaptureRoutesDependencies> = (
  app,
  { useCases, tiers },
  done,
) => {
  app.addHook('onRequest', async (_request, reply) => forbidCaching(reply))

  const moves = { access: 'dashboard', scope: 'settle' } as const
  const reads = { access: 'dashboard', scope: 'read' } as const

  const readAsker = (request: FastifyRequest) => ({
    accountId: getKeyOwner(request).account.id,
    requester: readRequester(request),
    quota: readQuotaClaim(request, tiers),
    requestId: request.id,
  })

  app.post(
    '/v1/captures',
    { schema: captureSchema, config: moves, onRequest: rejectMalformedKey },
    async (request) => {
      const { network, paymentInfoHash, amount, fee, feeReceiver, voidRemainder } = request.body
      return await useCases.moveHold({
        ...readAsker(request),
        network,
        paymentInfoHash,
        idempotencyKey: requireIdempotencyKey(request),
        asked: {
          type: 'capture',
          amount: BigInt(amount),
          fee: fee === undefined ? null : BigInt(fee),
          feeReceiver: feeReceiver?.toLowerCase() ?? null,
          voidsRemainder: voidRemainder === true,
        },
      })
    },
  )

  app.post(
    '/v1/voids',
    { schema: voidSchema, config: moves, onRequest: rejectMalformedKey },
    async (request) =>
      await useCases.moveHold({
        ...readAsker(request),
        ...request.body,
        idempotencyKey: readIdempotencyKey(request),
        asked: { type: 'void' },
      }),
  )

  app.post(
    '/v1/refunds',
    { schema: refundSchema, config: moves, onRequest: rejectMalformedKey },
    async (request) => {
      const { network, paymentInfoHash, amount } = request.body
      return await useCases.moveHold({
        ...readAsker(request),
        network,
        paymentInfoHash,
        idempotencyKey: requireIdempotencyKey(request),
        asked: { type: 'refund', amount: BigInt(amount) },
      })
    },
  )

  app.post(
    '/v1/payments/:network/:paymentInfoHash/deadline',
    { schema: setAtDeadlineSchema, config: moves },
    async (request) =>
      await useCases.setAtDeadline({
        accountId: getKeyOwner(request).account.id,
        ...request.params,
        ...request.body,
      }),
  )

  app.get(
    '/v1/hold-defaults',
    { schema: getHoldDefaultsSchema, config: reads },
    async (request) => await useCases.getDefault(getKeyOwner(request).account.id),
  )

  app.post(
    '/v1/hold-defaults',
    { schema: setHoldDefaultsSchema, config: moves },
    async (request) => await useCases.setDefault(getKeyOwner(request).account.id, request.body.atDeadline),
  )

  app.get(
    '/v1/payments/:network/:paymentInfoHash',
    { schema: getHeldPaymentSchema, config: reads },
    async (request) =>
      await useCases.getHeldPayment({ accountId: getKeyOwner(request).account.id, ...request.params }),
  )

  app.get(
    '/v1/payments',
    { schema: listHeldPaymentsSchema, config: reads },
    async (request) =>
      await useCases.listHeldPayments({ accountId: getKeyOwner(request).account.id, ...request.query }),
  )
  done()
}

/** A lost answer must not make a client capture or refund again: without a key no two requests could be told to be one. */
const requireIdempotencyKey = (request: FastifyRequest): string => {
  const key = readIdempotencyKey(request)
  if (key !== null) return key
  throw new AppError(
    'INVALID_IDEMPOTENCY_KEY',
    'Idempotency-Key is required: 1 to 64 letters, digits and hyphens',
  )
}
