import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod'
import { AppError, isRefusal } from '../../errors.js'
import type { MeasuredKind, Metrics } from '../../platform/metrics.js'
import { isPriceRequest } from '../../protocol/accepts.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { bodyLimits } from '../../protocol/requestLimits.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { WireRequirements } from '../../protocol/wire.js'
import type { CoreUseCases, SettleResponse } from '../../usecases/core/useCases.js'
import { readQuotaClaim, readRequester } from '../auth/caller.js'
import type { OperatorGate } from '../auth/operatorGate.js'
import { markRefusedPayment } from '../errors.js'
import { readIdempotencyKey, rejectMalformedKey } from '../idempotencyKey.js'
import { forbidCaching, isClientGone } from '../reply.js'
import { acceptsSchema } from '../schemas/accepts.js'
import { explainSchema } from '../schemas/explain.js'
import { settlementSchema, settlementsSchema, settleSchema, verifySchema } from '../schemas/payments.js'
import { requiresOperator } from '../schemas/queries.js'

interface PaymentRoutesDependencies {
  readonly useCases: CoreUseCases
  readonly metrics: Metrics
  readonly requireOperator: OperatorGate['requireOperator']
  readonly maxBodyBytes: number
  readonly tiers: Tiers
}

export const paymentRoutes: FastifyPluginCallbackZod<PaymentRoutesDependencies> = (
  app,
  { useCases, metrics, requireOperator, maxBodyBytes, tiers },
  done,
) => {
  // A configured limit is that of all.
  const settleBodyBytes = maxBodyBytes === bodyLimits.payment ? bodyLimits.settle : maxBodyBytes
  app.addHook('onRequest', (_request, reply, next) => {
    forbidCaching(reply)
    next()
  })

  app.post(
    '/verify',
    { schema: verifySchema, config: { access: 'key', scope: 'verify' }, bodyLimit: maxBodyBytes },
    async (request, reply) => {
      const { body, caller } = request
      const kind = readKind(body.paymentRequirements)
      try {
        const result = await useCases.verifyPayment({
          body,
          caller,
          requester: readRequester(request),
          quota: readQuotaClaim(request, tiers),
          isAwaited: () => !isClientGone(reply),
        })
        metrics.countVerify(kind, result.isValid ? 'valid' : 'invalid')
        markRefusedPayment(request, result.invalidReason)
        return result
      } catch (error) {
        const isAborted = isClientGone(reply)
        metrics.countVerify(kind, isAborted ? 'aborted' : isRefusal(error) ? 'refused' : 'error')
        if (isAborted) throw new AppError('INVALID_REQUEST', 'The client hung up', { cause: error })
        throw error
      }
    },
  )

  // Not counted among the verifications: it decides nothing.
  app.post(
    '/v1/explain',
    { schema: explainSchema, config: { access: 'key', scope: 'verify' }, bodyLimit: maxBodyBytes },
    async (request, reply) => {
      const { body, caller } = request
      const isAwaited = () => !isClientGone(reply)
      try {
        return await useCases.explainPayment({ body, caller, requester: readRequester(request), isAwaited })
      } catch (error) {
        if (isAwaited()) throw error
        throw new AppError('INVALID_REQUEST', 'The client hung up', { cause: error })
      }
    },
  )

  app.post(
    '/settle',
    {
      schema: settleSchema,
      config: { access: 'key', scope: 'settle' },
      bodyLimit: settleBodyBytes,
      onRequest: rejectMalformedKey,
    },
    async (request, reply) => {
      const { body, caller } = request
      const kind = readKind(body.paymentRequirements)
      try {
        const response = await useCases.settlePayment({
          body,
          caller,
          requester: readRequester(request),
          quota: readQuotaClaim(request, tiers),
          idempotencyKey: readIdempotencyKey(request),
          requestId: request.id,
          isAwaited: () => !isClientGone(reply),
        })
        metrics.countSettle(kind, describeOutcome(response))
        if (response.result.status !== 'pending') markRefusedPayment(request, response.result.errorReason)
        if (response.isReplayed) reply.header('x-idempotency-replayed', 'true')
        const { extensions } = response.result
        if (extensions !== undefined) reply.header('extension-responses', encodeHeader(extensions))
        return response.result
      } catch (error) {
        metrics.countSettle(kind, isRefusal(error) ? 'refused' : 'error')
        throw error
      }
    },
  )

  app.post(
    '/accepts',
    { schema: acceptsSchema, config: { access: 'public' }, bodyLimit: maxBodyBytes },
    async ({ body, caller }, reply) => {
      if (isPriceRequest(body)) return await reply.code(402).send(await useCases.priceAccepts(body, caller))
      return await useCases.completeAccepts(body, caller)
    },
  )

  app.get(
    '/v1/settlements/:id',
    { schema: settlementSchema, config: { access: 'public' } },
    async ({ params }) => await useCases.getSettlement(params.id),
  )

  app.get(
    '/v1/settlements',
    // A transaction may be looked up by anyone, a status by operators only: the handler checks it.
    {
      schema: settlementsSchema,
      config: { access: 'public', requiresOperator },
    },
    async (request) => {
      const { query } = request
      if ('ofTransaction' in query) return await useCases.getSettlementByTransaction(query.ofTransaction)
      requireOperator(request)
      return await useCases.listSettlements(query.ofStatus)
    },
  )
  done()
}

const readKind = ({ scheme, network }: WireRequirements): MeasuredKind => ({
  scheme,
  network: canonicalNetwork(network),
})

/** x402 reads base64 of the JSON. */
const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

const describeOutcome = ({ result, isReplayed }: SettleResponse) => {
  if (isReplayed) return 'replayed'
  if (result.success) return 'confirmed'
  return result.errorReason === 'settlement_pending' ? 'pending' : 'failed'
}
