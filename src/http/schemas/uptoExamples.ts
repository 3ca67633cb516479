/* Settles a part of what was authorized. The signature is not valid. */

const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const payTo = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const transaction = '0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3'
const routerAddress = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'

const uptoRequirements = {
  scheme: 'upto',
  network: 'eip155:84532',
  maxAmount: '10000',
  minAmount: '100',
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2', unit: 'token', unitPrice: '2.5', routerAddress },
}

export const examplePaymentNonce = `0x${'3c'.repeat(32)}`

const uptoProof = {
  signature: { v: 27, r: `0x${'1a'.repeat(32)}`, s: `0x${'2b'.repeat(32)}` },
  authorization: {
    owner: payer,
    spender: routerAddress,
    value: '10000',
    deadline: '1767226500',
    nonce: 0,
  },
  paymentNonce: examplePaymentNonce,
}

export const uptoRequest = {
  summary: 'Scheme upto: settles a part of what was authorized',
  value: {
    paymentPayload: {
      payVersion: 2,
      accepted: uptoRequirements,
      payload: uptoProof,
    },
    paymentRequirements: uptoRequirements,
    settleAmount: '7000',
    usageDetails: { unitsConsumed: 2_800, unitPrice: '2.5', unitType: 'token' },
  },
} as const

export const uptoResponse = {
  summary: 'Paid a part (scheme upto)',
  value: {
    success: true,
    transaction,
    transactionHash: transaction,
    network: 'eip155:84532',
    payer,
    amount: '7000',
    settledAmount: '7000',
    maxAmount: '10000',
    blockNumber: 31_415_926,
    gasUsed: '112233',
    settlementId: '9401b76e-f466-496f-8524-886a61ebf067',
    status: 'confirmed',
  },
} as const
