import { createAuthorizationMethod } from '../../../../src/chains/evm/exactScheme.js'
import { createEvmMinimum } from '../../../../src/chains/evm/network.js'
import type { PaymentMethod } from '../../../../src/chains/evm/paymentMethod.js'
import { createTokenRegistry } from '../../../../src/chains/evm/tokens/tokenRegistry.js'
import { systemClock } from '../../../../src/platform/clock.js'
import type { Payment } from '../../../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import type { ExactPaymentBody } from '../../../support/evm/payment.js'
import { type EngineOptions, openEngine, type Sending, withScheme } from '../engineScene.js'
import type { PlannedPayment, Scene } from '../scene.js'

export interface ExactSending extends Sending<Pick<PlannedPayment, 'body'>> {
  readonly scheme: PaymentMethod
}

/** Parses a payment like the service. */
const readBody = (body: ExactPaymentBody): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The payment is refused: ${payment.reason}`)
  return payment
}

export const openSending = async (scene: Scene, options: EngineOptions = {}): Promise<ExactSending> => {
  const open = await openEngine(scene, options)
  const { family, network, rpc, engine } = open
  const tokens = createTokenRegistry(network, rpc)
  const clock = options.clock ?? systemClock
  const dependencies = {
    family,
    network,
    rpc,
    tokens,
    clock,
    minimum: createEvmMinimum(network, 0.1),
  }
  const scheme = createAuthorizationMethod({ ...dependencies, engine })
  // What the chain would refuse must reach the send, so verification skips the simulation.
  const sending = createAuthorizationMethod({
    ...dependencies,
    engine: { ...engine, simulate: async () => ({ reads: [] }) },
  })
  const opened = withScheme<Pick<PlannedPayment, 'body'>>(open, {
    claimOf: ({ body }) => {
      const payment = readBody(body)
      const { asset, payTo } = payment.requirements
      const { from, value, validBefore, nonce } = body.paymentPayload.payload.authorization
      return {
        authorizationId: scheme.identify(payment) ?? '',
        scheme: 'exact',
        network: network.network,
        asset,
        payer: from,
        payTo,
        amount: BigInt(value),
        authorizedAmount: BigInt(value),
        details: { nonce: nonce.toLowerCase() },
        expiresAt: new Date(Number(validBefore) * 1_000),
        resource: null,
        caller: 'anonymous',
        fingerprint: 'f',
      }
    },
    settle: async ({ body }, recorder, each) => {
      const verification = await sending.verify(readBody(body), { isAwaited: () => true })
      if (!verification.isValid) return { state: 'failed', reason: verification.reason }
      return await verification.settle(recorder, each)
    },
  })
  return { ...opened, scheme }
}
