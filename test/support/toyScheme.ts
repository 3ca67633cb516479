import { z } from 'zod'
import type { Payment } from '../../src/protocol/payment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { Scheme, ValidVerdict } from '../../src/schemes/scheme.js'

const proof = z.object({ nonce: z.string(), from: z.string() })

/** Request body for the toy scheme; one authorization per nonce. */
export const toyBody = (nonce = 'nonce-1', network = 'toy:1') => {
  const requirements = {
    scheme: 'exact',
    network,
    amount: '10000',
    asset: 'gold',
    payTo: 'bob',
    maxTimeoutSeconds: 60,
  }
  const paymentPayload = { accepted: requirements, payload: { from: 'alice', nonce } }
  return wirePaymentRequest.parse({ paymentPayload, paymentRequirements: requirements })
}

export const toyVerdict = (payment: Payment): ValidVerdict => {
  const { from, nonce } = proof.parse(payment.proof)
  const { network, amount } = payment.requirements
  return { isValid: true, payer: from, authorizationId: `${network}/${nonce}`, amount, expiresAt: null }
}

export const createToyScheme = (script: Partial<Scheme> = {}): Scheme => {
  let sent = 0
  return {
    kind: { scheme: 'exact', network: 'toy:1' },
    signers: ['toy-signer'],
    identify: (payment) => {
      const parsed = proof.safeParse(payment.proof)
      return parsed.success ? `${payment.requirements.network}/${parsed.data.nonce}` : null
    },
    verify: async (payment) => toyVerdict(payment),
    settle: async (_payment, recorder) => {
      sent += 1
      const transaction = `tx-${sent}`
      await recorder.record({ transaction, bytes: `bytes-${sent}` })
      return { state: 'confirmed', transaction }
    },
    resolve: async ({ transaction }) => ({ state: 'confirmed', transaction: transaction ?? '' }),
    getBlockStatus: async () => 'canonical',
    ...script,
  }
}
