import { z } from 'zod'
import { readUint256 } from './amount.js'
import { nextCursor, reasonName } from './results.js'
import { wireLimits } from './wire.js'

/* Requests and responses of `/v1/intent`. */

export const intentLimits = {
  /** Wallets of one party. */
  wallets: 64,
  networks: 64,
  metadataBytes: 2_048,
  defaultSeconds: 300,
  maxSeconds: 3_600,
  /** More than any configuration has: no route is left out. */
  routes: 100,
  routeSeconds: 300,
  /** Characters of an intent token. */
  token: 200,
} as const

/** Decimals of an amount in a currency such as USDC, unless the request says otherwise. */
export const currencyDecimals = 6

const text = (maxLength: number) => z.string().min(1).max(maxLength)
const network = text(wireLimits.network)
const address = text(wireLimits.address)

const wallets = (whose: string) =>
  z
    .union(
      [
        address,
        z
          .record(network, address)
          .refine((map) => Object.keys(map).length >= 1, 'must name a wallet')
          .refine(
            (map) => Object.keys(map).length <= intentLimits.wallets,
            `must have at most ${intentLimits.wallets} entries`,
          ),
      ],
      'must be an address, or addresses by network or namespace',
    )
    .meta({
      description: `${whose}: an address, or an object from network or namespace (\`eip155\`) to address`,
      examples: ['0x18f77dd01186556F1F745E7847A4686421dEE072'],
    })

const amount = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'must be a whole number of smallest units, as decimal digits')
  .refine((digits) => (readUint256(digits) ?? 0n) > 0n, 'must be at least 1, and at most 2^256 - 1')
  .meta({ examples: ['10000'] })

const metadata = z.record(z.string(), z.unknown())

export const intentRequest = z
  .object({
    payer: wallets('Who pays'),
    payee: wallets('Who is paid'),
    amount: amount.meta({
      description:
        `Smallest units; of a symbol with ${currencyDecimals} decimals, unless \`decimals\` says otherwise. ` +
        'Converted exactly for tokens with other decimals',
    }),
    asset: address.meta({
      description: "A token's symbol (`USDC`), address, name on its chain, or CAIP-19 identifier",
      examples: ['USDC'],
    }),
    decimals: z
      .int()
      .min(0)
      .max(36)
      .optional()
      .meta({
        description: `Decimals of \`amount\`; default ${currencyDecimals} for a symbol, those of the token otherwise`,
      }),
    sourceNetworks: z
      .array(network)
      .min(1)
      .max(intentLimits.networks)
      .optional()
      .meta({ description: 'Networks on which the payer may pay; default: all' }),
    targetNetwork: network.optional().meta({
      description: 'Network on which the payee is paid; without bridges the payer pays there too',
    }),
    expiresIn: z
      .int()
      .min(1)
      .max(intentLimits.maxSeconds)
      .default(intentLimits.defaultSeconds)
      .meta({ description: 'Seconds; default 300', examples: [300] }),
    metadata: metadata
      .refine(
        (value) => Buffer.byteLength(JSON.stringify(value)) <= intentLimits.metadataBytes,
        `must be at most ${intentLimits.metadataBytes} bytes of JSON`,
      )
      .optional()
      .meta({
        description: 'Yours: kept, and repeated in answers and events',
        examples: [{ order: '4711' }],
      }),
  })
  .meta({ id: 'IntentRequest' })
export type IntentRequest = z.infer<typeof intentRequest>

export const routeProblems = {
  network_not_served: 'This facilitator does not serve the network',
  network_unavailable: 'The network cannot be used at the moment',
  paused: 'The operator of this facilitator has paused such payments',
  bridge_needed: 'targetNetwork is not one of sourceNetworks, and this facilitator does not bridge',
  testnet: 'Tokens of testnets have no value: name the network in sourceNetworks or targetNetwork to use it',
  unsupported_asset: 'This facilitator does not settle the asset on the network',
  amount_not_exact: 'The token cannot express the amount exactly',
  payment_below_minimum: 'The amount is below the lowest payment of the network',
  cross_check_unavailable:
    'From this amount on, two nodes must confirm a payment, and this facilitator has one on the network',
  no_payer_address: 'The payer has no address of the network',
  no_payee_address: 'The payee has no address of the network',
  ambiguous_address: 'The address could be one of several chains: name its network or namespace',
  claim_not_permitted: 'The creator of the intent may not claim payments to the payee on the network',
  self_payment: 'Payer and payee are the same wallet',
  balance_unknown: 'The balance of the payer could not be read in time',
  insufficient_balance: 'The payer has too little',
} as const

export type RouteProblem = keyof typeof routeProblems

// Documented as an enumeration and read as a string: intents of other versions stay readable.
const routeProblem = z.string().meta({ id: 'RouteProblem', enum: Object.keys(routeProblems) })

export const unavailableRoute = z
  .object({
    network: z.string(),
    scheme: z.string().optional(),
    asset: z.string().optional(),
    reason: routeProblem,
    message: z.string(),
  })
  .meta({ id: 'UnavailableRoute', description: 'Why there is no route on a network' })
export type UnavailableRoute = z.infer<typeof unavailableRoute>

const settlementFee = z
  .object({
    amount: z.string().meta({ description: "Smallest units of the network's native coin" }),
    symbol: z.string(),
    decimals: z.int(),
    paidBy: z.enum(['facilitator', 'payer']),
  })
  .meta({ id: 'SettlementFee' })

export const intentRoute = z
  .object({
    id: z.string().meta({ description: 'The same route keeps its id when it is computed again' }),
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    symbol: z.string().nullable().meta({ description: 'Null if it is not known' }),
    decimals: z.int().nullable(),
    amount: z.string().meta({ description: 'Smallest units of the asset' }),
    payer: z.string(),
    payTo: z.string(),
    balance: z.string().nullable().meta({
      description: "The payer's, in smallest units; null where this facilitator cannot read balances",
    }),
    fee: settlementFee.nullable().meta({
      description: 'Estimate of what one settlement costs at the current price; null if unknown',
    }),
    estimatedSeconds: z.number().nullable().meta({
      description: 'Usual time from execute until the outcome is known; null if unknown',
    }),
    score: z.number().meta({ description: '0 to 1: cheap for the payer, fast, and covered by the balance' }),
    validUntil: z.iso.datetime(),
  })
  .meta({ id: 'IntentRoute' })
export type IntentRoute = z.infer<typeof intentRoute>

export const intentRequirements = z
  .object({
    scheme: z.string(),
    network: z.string(),
    amount: z.string(),
    asset: z.string(),
    payTo: z.string(),
    maxTimeoutSeconds: z.number(),
    extra: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'IntentRequirements', description: 'What the payer signs, as `/accepts` completes it' })
export type IntentRequirements = z.infer<typeof intentRequirements>

export const intentStatuses = [
  'pending',
  'routed',
  'executing',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const
export const intentStatus = z.enum(intentStatuses).meta({ id: 'IntentStatus' })
export type IntentStatus = z.infer<typeof intentStatus>

const optionalText = (description: string) => z.string().optional().meta({ description })

export const intentView = z
  .object({
    id: z.string(),
    status: intentStatus,
    payer: z.union([z.string(), z.record(z.string(), z.string())]),
    payee: z.union([z.string(), z.record(z.string(), z.string())]),
    amount: z.string().meta({ description: 'As asked for' }),
    asset: z.string(),
    decimals: z.int().optional(),
    sourceNetworks: z.array(z.string()).optional(),
    targetNetwork: z.string().optional(),
    metadata: metadata.optional(),
    selectedRoute: intentRoute.optional().meta({ description: 'Absent until one is selected' }),
    paymentRequirements: intentRequirements.optional(),
    settlementId: optionalText('For `GET /v1/settlements/{id}`; absent until it executes'),
    transaction: optionalText('Of the settlement; empty if it needed none. Absent until completed or failed'),
    settledAmount: optionalText('Smallest units that the payee received; absent until completed'),
    errorReason: reasonName,
    errorMessage: optionalText('The reason as a sentence'),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    closedAt: z.iso.datetime().optional().meta({ description: 'When it ended' }),
  })
  .meta({ id: 'Intent' })
export type IntentView = z.infer<typeof intentView>

export const intentWithRoutes = z
  .object({
    intent: intentView,
    availableRoutes: z
      .array(intentRoute)
      .meta({ description: `At most ${intentLimits.routes}, the best first` }),
    recommendedRoute: intentRoute.nullable().meta({ description: 'The first; null without routes' }),
    unavailable: z.array(unavailableRoute).meta({ description: 'Why other networks are no routes' }),
  })
  .meta({ id: 'IntentWithRoutes' })
export type IntentWithRoutes = z.infer<typeof intentWithRoutes>

export const createdIntent = intentWithRoutes
  .extend({
    intentToken: z
      .string()
      .optional()
      .meta({
        description: 'Only without an API key, and only once: cancels the intent. Keep it secret',
        examples: [`qtn_intent_${'0a'.repeat(32)}`],
      }),
  })
  .meta({ id: 'CreatedIntent' })
export type CreatedIntent = z.infer<typeof createdIntent>

export const routeSelection = z.object({ routeId: text(64) }).meta({ id: 'RouteSelection' })

export const routedIntent = z
  .object({ intent: intentView, selectedRoute: intentRoute, paymentRequirements: intentRequirements })
  .meta({ id: 'RoutedIntent' })
export type RoutedIntent = z.infer<typeof routedIntent>

export const executedIntent = z
  .object({
    intent: intentView,
    status: intentStatus.meta({
      description: '`completed`: paid. `executing`: sent, ask again. `failed`: the payment failed on chain',
    }),
    transaction: z.string().meta({ description: 'Empty while nothing was sent, or if it needed none' }),
    txHashes: z.array(z.string()).meta({ description: 'The same as a list' }),
    message: z.string(),
  })
  .meta({ id: 'ExecutedIntent' })
export type ExecutedIntent = z.infer<typeof executedIntent>

export const changedIntent = z.object({ intent: intentView }).meta({ id: 'ChangedIntent' })
export type ChangedIntent = z.infer<typeof changedIntent>

export const intentPage = z
  .object({
    intents: z.array(intentView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'IntentPage' })
export type IntentPage = z.infer<typeof intentPage>
