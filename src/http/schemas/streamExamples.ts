import { uptoRequest } from './uptoExamples.js'

const id = '6f2d8a34-5b1e-4c0f-9a57-3d3f0f6f1c21'
const payment = uptoRequest.value
const { minAmount: _, ...requirements } = payment.paymentRequirements

const active = {
  id,
  status: 'active',
  scheme: 'upto',
  network: 'eip155:84532',
  asset: requirements.asset,
  payer: payment.paymentPayload.payload.authorization.owner,
  payee: requirements.payTo,
  maxAmount: '10000',
  currentAmount: '2500',
  sequence: 7,
  updates: 7,
  vouchers: false,
  metadata: { session: 'chat-4711' },
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:01:10.000Z',
  expiresAt: '2026-01-01T00:14:00.000Z',
} as const

const opened = {
  ...active,
  currentAmount: '0',
  sequence: 0,
  updates: 0,
  lastUpdatedAt: active.createdAt,
} as const

const closed = {
  ...active,
  status: 'closed',
  finalAmount: '2500',
  settledAmount: '2500',
  transaction: '0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3',
  settlementId: '9401b76e-f466-496f-8524-886a61ebf067',
  lastUpdatedAt: '2026-01-01T00:02:03.000Z',
  closedAt: '2026-01-01T00:02:03.000Z',
} as const

const voucherTypedData = {
  domain: { name: 'Quittance Stream', version: '1', chainId: 84_532 },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
    ],
    Voucher: [
      { name: 'streamId', type: 'string' },
      { name: 'amount', type: 'uint256' },
      { name: 'sequence', type: 'uint256' },
    ],
  },
  primaryType: 'Voucher',
  message: { streamId: id, amount: '0', sequence: '0' },
}

export const streamExamples = {
  id,
  stream: active,
  open: {
    permit: {
      summary: 'A permit over 10000 units',
      value: {
        paymentPayload: {
          payVersion: 2,
          accepted: requirements,
          payload: payment.paymentPayload.payload,
        },
        paymentRequirements: requirements,
        expiresAt: '2026-01-01T00:14:00Z',
        metadata: active.metadata,
      },
    },
  },
  opened: {
    withoutKey: {
      summary: 'Without a key: the token controls the stream',
      value: { stream: opened, voucherTypedData, streamToken: `qtn_stream_${'0a'.repeat(32)}` },
    },
  },
  update: {
    plain: { summary: 'By the payee', value: { streamId: id, amount: '2500', sequence: 7 } },
    voucher: {
      summary: 'Signed by the payer',
      value: {
        streamId: id,
        amount: '2500',
        sequence: 7,
        voucher: { signature: `0x${'1a'.repeat(64)}1b` },
      },
    },
  },
  close: {
    used: { summary: 'What was used', value: { streamId: id } },
    final: { summary: 'With a final amount', value: { streamId: id, finalAmount: '2500' } },
  },
  closed: {
    settled: { summary: 'Settled', value: { stream: closed } },
    failed: {
      summary: 'The payer cancelled the authorization',
      value: {
        stream: {
          ...active,
          status: 'failed',
          finalAmount: '2500',
          lastUpdatedAt: '2026-01-01T00:02:00.000Z',
          errorReason: 'permit_nonce_mismatch',
          errorMessage: "The nonce of the permit is not the payer's current permit nonce of the token",
          closedAt: closed.closedAt,
        },
      },
    },
  },
  paused: { paused: { value: { stream: { ...active, status: 'paused' } } } },
} as const
