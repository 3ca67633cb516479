/*
 * The signature of `exact` is valid, from a key generated for this example; the authorization has expired. That of `upto`,
 * which settles a part of what was authorized, is not valid.
 */

export const examplePayer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
export const payer = examplePayer
export const payTo = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const routerAddress = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'
export const exampleNonce = '0x01b2b749b4fbcd9833cd2c853a3db21c6d68487cc7a8496d0cebf69432a2fe2f'
const nonce = exampleNonce
const transaction = '0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3'
const settlementId = '9401b76e-f466-496f-8524-886a61ebf067'
const signature =
  '0xe618396ac76f0274a1a041f662a48750d50d397e1b3cdbf596539884a1e25bdc4d411ab6b2528e82da5acb1518e955936ea622002e579a8443af83f36ff412791c'

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

const uptoResponse = {
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
    settlementId,
    status: 'confirmed',
  },
} as const

const proof = {
  signature,
  authorization: {
    from: payer,
    to: payTo,
    value: '10000',
    validAfter: '1767225600',
    validBefore: '1767226500',
    nonce,
  },
}

const requirements = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '10000',
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}

const olderRequirements = {
  scheme: 'exact',
  network: 'base-sepolia',
  maxAmountRequired: '10000',
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  resource: 'https://api.example.com/report',
  description: 'Daily report',
  mimeType: 'application/json',
  extra: { name: 'USDC', version: '2' },
}

export const paymentRequests = {
  version2: {
    summary: 'Version 2',
    value: {
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        resource: {
          url: 'https://api.example.com/report',
          description: 'Daily report',
          mimeType: 'application/json',
        },
        accepted: requirements,
        payload: proof,
      },
      paymentRequirements: requirements,
    },
  },
  version1: {
    summary: 'Version 1: short network name, maxAmountRequired',
    value: {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: proof },
      paymentRequirements: olderRequirements,
    },
  },
  upto: uptoRequest,
  flat: {
    summary: 'Flat: the authorization beside the signature, times as numbers',
    value: {
      paymentPayload: {
        payVersion: 2,
        scheme: 'exact',
        network: 'eip155:84532',
        payload: {
          from: payer,
          to: payTo,
          value: '10000',
          validAfter: 1_767_225_600,
          validBefore: 1_767_226_500,
          nonce,
          signature,
        },
      },
      paymentRequirements: requirements,
    },
  },
} as const

export const verifyResponses = {
  valid: { summary: 'The payment can be settled', value: { isValid: true, payer } },
  insufficientFunds: {
    summary: 'Rejected: insufficient funds',
    value: {
      isValid: false,
      payer,
      invalidReason: 'insufficient_funds',
      invalidMessage: "The payer's token balance is lower than the payment",
      operationalCode: 'SVC-3003',
    },
  },
  malformedPayload: {
    summary: 'Rejected: a field is missing',
    value: {
      isValid: false,
      invalidReason: 'invalid_payload_structure',
      invalidMessage: 'paymentPayload.scheme is required',
    },
  },
} as const

export const settleResponses = {
  confirmed: {
    summary: 'Paid',
    value: {
      success: true,
      transaction,
      network: 'eip155:84532',
      payer,
      amount: '10000',
      settlementId,
      status: 'confirmed',
    },
  },
  part: uptoResponse,
  pending: {
    summary: 'Sent, outcome not known yet: retry, do not pay again',
    value: {
      success: false,
      transaction,
      network: 'eip155:84532',
      payer,
      errorReason: 'settlement_pending',
      errorMessage: 'The transaction was sent and its outcome is not known yet; ask again, do not pay again',
      settlementId,
      status: 'pending',
    },
  },
  refused: {
    summary: 'Rejected: nothing was sent',
    value: {
      success: false,
      transaction: '',
      network: 'eip155:84532',
      payer,
      errorReason: 'insufficient_funds',
      errorMessage: "The payer's token balance is lower than the payment",
      operationalCode: 'SVC-3003',
      status: 'failed',
    },
  },
  duplicate: {
    summary: 'The authorization already paid for another request',
    value: {
      success: false,
      transaction,
      network: 'eip155:84532',
      payer,
      errorReason: 'duplicate_settlement',
      errorMessage: 'This authorization was already settled for another request',
      settlementId,
      status: 'confirmed',
    },
  },
} as const

const exampleSettlement = (status: 'confirmed' | 'pending') =>
  ({
    id: settlementId,
    status,
    scheme: 'exact',
    network: 'eip155:84532',
    asset,
    payer,
    payTo,
    amount: '10000',
    transaction,
    createdAt: '2026-01-01T00:00:00.000Z',
  }) as const

export const settlementResponses = {
  confirmed: {
    summary: 'Paid',
    value: { ...exampleSettlement('confirmed'), closedAt: '2026-01-01T00:00:02.000Z' },
  },
  pending: { summary: 'Sent, outcome not known yet', value: exampleSettlement('pending') },
} as const

export const settlementDetailsResponse = {
  ...settlementResponses.confirmed.value,
  transactions: [transaction],
  block: { number: '21000000', hash: `0x${'b7'.repeat(32)}`, isFinal: true },
} as const

export const settlementPages = {
  page: {
    summary: 'For operators: a page of pending settlements',
    value: {
      settlements: [
        {
          ...settlementResponses.pending.value,
          caller: 'anonymous',
          ageSeconds: 42,
          isOwned: false,
          isConsumed: false,
          isAttended: false,
          hasToldSuccess: false,
          transactions: [transaction],
        },
      ],
      nextCursor: settlementId,
    },
  },
} as const

export const accountSettlementPages = {
  page: {
    summary: 'A page of settlements',
    value: { settlements: [{ ...settlementResponses.pending.value, fee: '0' }], nextCursor: settlementId },
  },
} as const

export const parameters = { settlementId, network: 'eip155:84532', transaction } as const
