/* Wire payments of every shape, without valid signatures: `protocol/` verifies nothing. */

const payer = `0x${'a1'.repeat(20)}`
export const payTo = `0x${'b2'.repeat(20)}`
export const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

export const authorization = {
  from: payer,
  to: payTo,
  value: '10000',
  validAfter: '1740672089',
  validBefore: '1740672389',
  nonce: `0x${'f3'.repeat(32)}`,
}
const signature = `0x${'2d'.repeat(65)}`
export const proof = { signature, authorization }

export const requirements = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '10000',
  asset,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}

const { amount: _amount, ...withoutAmount } = requirements

export const requirementsV1 = {
  ...withoutAmount,
  network: 'base-sepolia',
  maxAmountRequired: '10000',
  resource: 'https://merchant.example/report',
  description: 'A report',
  mimeType: 'application/json',
}

/** A version 2 body as x402 and t402 send it, without a version field. */
export const bodyV2 = {
  paymentPayload: {
    resource: { url: 'https://merchant.example/report', description: 'A report', mimeType: 'text/plain' },
    accepted: requirements,
    payload: proof,
  },
  paymentRequirements: requirements,
}

/** A version 1 body without a version field. */
export const bodyV1 = {
  paymentPayload: { scheme: 'exact', network: 'base-sepolia', payload: proof },
  paymentRequirements: requirementsV1,
}

/** The flat shape of the specification: authorization fields beside the signature, times as numbers. */
export const bodyFlat = {
  paymentPayload: {
    payVersion: 2,
    scheme: 'exact',
    network: 'eip155:84532',
    payload: {
      from: payer,
      to: payTo,
      value: '10000',
      nonce: authorization.nonce,
      signature,
      validAfter: 1_740_672_089,
      validBefore: 1_740_672_389,
    },
  },
  paymentRequirements: { ...withoutAmount, maxAmountRequired: '10000' },
}
