import { examplePaymentNonce, uptoRequest, uptoResponse } from './uptoExamples.js'

/* The signature is valid, from a key generated for this example; the authorization has expired. */

export const examplePayer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const payer = examplePayer
const payTo = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
const facilitator = '0x4278D9F55a12B3bf591bd76c4e1E8182adC7D11f'
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
export const exampleNonce = '0x01b2b749b4fbcd9833cd2c853a3db21c6d68487cc7a8496d0cebf69432a2fe2f'
const nonce = exampleNonce
const transaction = '0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3'
const settlementId = '9401b76e-f466-496f-8524-886a61ebf067'
const signature =
  '0xe618396ac76f0274a1a041f662a48750d50d397e1b3cdbf596539884a1e25bdc4d411ab6b2528e82da5acb1518e955936ea622002e579a8443af83f36ff412791c'

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

export { examplePaymentNonce }

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

export const settlementResponses = {
  confirmed: {
    summary: 'Paid',
    value: {
      id: settlementId,
      status: 'confirmed',
      scheme: 'exact',
      network: 'eip155:84532',
      asset,
      payer,
      payTo,
      amount: '10000',
      transaction,
      createdAt: '2026-01-01T00:00:00.000Z',
      closedAt: '2026-01-01T00:00:02.000Z',
    },
  },
  pending: {
    summary: 'Sent, outcome not known yet',
    value: {
      id: settlementId,
      status: 'pending',
      scheme: 'exact',
      network: 'eip155:84532',
      asset,
      payer,
      payTo,
      amount: '10000',
      transaction,
      createdAt: '2026-01-01T00:00:00.000Z',
    },
  },
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

export const readinessResponses = {
  ready: {
    value: {
      status: 'ready',
      checks: { database: 'ok', store: 'ok', rpc: 'ok', gas: 'low', 'gas:eip155:84532': 'low' },
    },
  },
  unready: {
    value: {
      status: 'unready',
      checks: { database: 'ok', store: 'ok', rpc: 'unreachable', gas: 'ok', 'gas:eip155:84532': 'ok' },
    },
  },
} as const

export const supportedResponse = {
  baseSepolia: {
    summary: 'One network',
    value: {
      kinds: [
        {
          payVersion: 2,
          x402Version: 2,
          t402Version: 2,
          scheme: 'exact',
          network: 'eip155:84532',
          extra: { name: 'USDC', version: '2' },
        },
        {
          payVersion: 1,
          x402Version: 1,
          t402Version: 1,
          scheme: 'exact',
          network: 'base-sepolia',
          extra: { name: 'USDC', version: '2' },
        },
      ],
      extensions: [],
      signers: { 'eip155:*': [facilitator] },
    },
  },
} as const

export const infoResponse = {
  info: {
    value: {
      name: 'quittance',
      version: '0.1.0',
      description: 'Payment facilitator for HTTP 402',
      endpoints: [{ method: 'POST', path: '/verify', description: 'Verify a payment without moving funds' }],
      features: { webhooks: true, registration: 'once' },
      limitations: [
        {
          network: 'eip155:84532',
          text: 'upto by permit, and streams by permit, are not offered without the router: run npm run deploy',
        },
      ],
    },
  },
} as const

export const parameters = { settlementId, network: 'eip155:84532', transaction } as const
