import type { Payment } from '../../src/protocol/payment.js'

/** Fields of a `Payment` that uses no extension. */
export const withoutExtensions = {
  extensions: {},
  declaredExtensions: {},
  clientExtensions: {},
  resourceDetails: {},
} as const

/** A payment of 1 that says nothing. */
export const plainPayment = (changes: Partial<Payment> = {}): Payment => ({
  version: 2,
  callerNetwork: 'toy:1',
  requirements: {
    scheme: 'exact',
    network: 'toy:1',
    asset: 'gold',
    payTo: 'shop',
    amount: 1n,
    minAmount: null,
    maxTimeoutSeconds: 60,
    extra: {},
  },
  proof: {},
  resource: null,
  settleAmount: null,
  acceptedAmount: null,
  usageDetails: null,
  ...withoutExtensions,
  ...changes,
})
