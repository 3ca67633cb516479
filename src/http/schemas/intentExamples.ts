import { paymentRequests } from './examples.js'

const id = '4c0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
const settlementId = '0d9c7a5e-2f0b-4a53-9b0e-0d6f7c9a1b11'
const transaction = `0x${'ab'.repeat(32)}`
const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const payee = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const network = 'eip155:84532'

const requested = {
  payer,
  payee: { eip155: payee },
  amount: '10000',
  asset: 'USDC',
  metadata: { order: '4711' },
}

const route = {
  id: 'route_5f0c1f6e7a0e4c53',
  scheme: 'exact',
  network,
  asset,
  symbol: 'USDC',
  decimals: 6,
  amount: '10000',
  payer,
  payTo: payee,
  balance: '5000000',
  fee: { amount: '240000000000', symbol: 'ETH', decimals: 18, paidBy: 'facilitator' },
  estimatedSeconds: 4,
  score: 0.964,
  validUntil: '2026-01-01T00:05:00.000Z',
}

const paymentRequirements = {
  scheme: 'exact',
  network,
  amount: '10000',
  asset,
  payTo: payee,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}

const pending = {
  id,
  status: 'pending',
  ...requested,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:05:00.000Z',
}
const routed = { ...pending, status: 'routed', selectedRoute: route, paymentRequirements }
const executing = { ...routed, status: 'executing', settlementId }
const completed = {
  ...executing,
  status: 'completed',
  transaction,
  settledAmount: '10000',
  closedAt: '2026-01-01T00:01:00.000Z',
}
const cancelled = { ...pending, status: 'cancelled', closedAt: '2026-01-01T00:01:00.000Z' }

export const intentExamples = {
  id,
  intent: pending,
  intentRoute: route,
  unavailableRoute: {
    network: 'eip155:11155420',
    scheme: 'exact',
    asset: '0x5fd84259d66Cd46123540766Be93DFE6D43130D7',
    reason: 'insufficient_balance',
    message: 'The payer has too little: 0 of 10000 smallest units',
  },
  create: {
    symbol: { value: requested },
    perChain: {
      value: {
        ...requested,
        payer: { eip155: payer, solana: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM' },
        payee: { eip155: payee, solana: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' },
        expiresIn: 900,
      },
    },
  },
  route: {
    request: { selected: { value: { routeId: route.id } } },
    response: { routed: { value: { intent: routed, selectedRoute: route, paymentRequirements } } },
  },
  execute: {
    request: { payment: { value: { paymentPayload: paymentRequests.version2.value.paymentPayload } } },
    response: {
      completed: {
        value: {
          intent: completed,
          status: 'completed',
          transaction,
          txHashes: [transaction],
          message: 'The payee was paid',
        },
      },
      executing: {
        value: {
          intent: executing,
          status: 'executing',
          transaction: '',
          txHashes: [],
          message: 'Sent, outcome not known yet; send the same request again, do not pay again',
        },
      },
    },
  },
  cancel: { cancelled: { value: { intent: cancelled } } },
} as const
