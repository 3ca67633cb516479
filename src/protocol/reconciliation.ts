import { z } from 'zod'

/* Answer of GET /v1/reconciliation. */

/** What two records can disagree about. Every kind is described in docs/reconciliation.md. */
export const differenceKinds = [
  'payment_missing',
  'payment_differs',
  'payment_unrecorded',
  'payment_duplicated',
  'authorization_differs',
  'settlement_missing',
  'transaction_unrecorded',
  'event_missing',
  'event_differs',
  'event_undelivered',
  'quota_uncounted',
  'quota_differs',
  'fee_missing',
  'fee_differs',
  'totals_differ',
  'days_differ',
  'open_list_differs',
  'unfinal_list_differs',
  'credit_differs',
  'stream_differs',
  'intent_differs',
  'not_compared',
] as const

export type DifferenceKind = (typeof differenceKinds)[number]

const differenceKind = z.enum(differenceKinds).meta({ id: 'DifferenceKind' })

/** What is compared for the whole journal, one statement each. */
export const counterNames = [
  'open_list',
  'unfinal_list',
  'totals',
  'days',
  'quotas',
  'streams_and_intents',
  'missing_rows',
  'credit_payments',
  'credit_wallets',
  'credit_failures',
] as const

export type CounterName = (typeof counterNames)[number]

export const kindCount = z
  .object({ kind: differenceKind, count: z.int() })
  .meta({ id: 'ReconciliationCount' })
export type KindCount = z.infer<typeof kindCount>

export const difference = z
  .object({
    kind: differenceKind,
    message: z.string().meta({ description: 'One sentence that names both sides' }),
    settlementId: z.string().optional(),
    network: z.string().optional(),
    accountId: z.string().optional(),
    expected: z.string().optional().meta({ description: 'What the journal says' }),
    actual: z.string().optional().meta({ description: 'What the other record says' }),
  })
  .meta({ id: 'ReconciliationDifference' })
export type Difference = z.infer<typeof difference>

/** What the chain shows of a settlement; `open`: it is not closed yet; `unsent`: nothing was sent. */
const chainChecks = ['agrees', 'differs', 'unproven', 'unavailable', 'unsent', 'open'] as const

export type ChainCheck = (typeof chainChecks)[number]

const reconciledSettlement = z
  .object({
    id: z.string(),
    createdAt: z.iso.datetime(),
    closedAt: z.iso.datetime().optional(),
    status: z.enum(['pending', 'confirmed', 'failed']),
    network: z.string(),
    scheme: z.string(),
    asset: z.string(),
    payer: z.string(),
    payTo: z.string(),
    amount: z.string().meta({ description: 'Smallest units that moved; 0 if it failed' }),
    transaction: z.string(),
    accountId: z.string().meta({ description: 'Or `anonymous`' }),
    chain: z.enum(chainChecks).meta({
      description:
        '`unproven`: nodes no longer show enough; `unavailable`: no node answered; `unsent`: nothing was sent',
    }),
    event: z
      .enum(['delivered', 'waiting', 'failed', 'stored', 'none'])
      .meta({ description: 'Delivery of its last event; `none`: of an anonymous caller, or purged' }),
    quotaMonth: z.string().optional(),
    fee: z.string().optional().meta({ description: 'Smallest units' }),
    differences: z.array(differenceKind),
  })
  .meta({ id: 'ReconciledSettlement' })
export type ReconciledSettlement = z.infer<typeof reconciledSettlement>

export const periodTotal = z
  .object({
    network: z.string(),
    asset: z.string(),
    confirmed: z.int(),
    failed: z.int(),
    pending: z.int(),
    amount: z.string().meta({ description: 'Sum of what moved, in smallest units' }),
    fees: z.string().meta({ description: 'Sum of accrued fees, in smallest units' }),
  })
  .meta({ id: 'ReconciliationTotal' })
export type PeriodTotal = z.infer<typeof periodTotal>

export const nightlyRun = z
  .object({
    day: z.iso.date().meta({ description: 'The last of the two days that were compared' }),
    finishedAt: z.iso.datetime(),
    settlements: z.int(),
    open: z.int().meta({ description: 'Settlements without an outcome yet' }),
    unchecked: z.int().meta({ description: 'Settlements that no node could prove' }),
    waiting: z.int().meta({ description: 'Events that their webhook had not accepted yet' }),
    differences: z.int(),
    counts: z.array(kindCount).meta({ description: 'The differences by kind' }),
    listed: z.array(difference).meta({ description: 'The first ten of each kind' }),
  })
  .meta({ id: 'NightlyReconciliation' })
export type NightlyRun = z.infer<typeof nightlyRun>

export const reconciliationPage = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    isBalanced: z.boolean().meta({
      description: 'Whether this page has no difference, nothing unchecked and no event that waits',
    }),
    checked: z.object({
      settlements: z.int(),
      onChain: z.int().meta({ description: 'Of them: compared with the chain' }),
      unproven: z.int(),
      unavailable: z.int(),
      open: z.int().meta({ description: 'Without an outcome that could be compared' }),
      waitingEvents: z.int().meta({ description: 'Events that their webhook has not accepted yet' }),
    }),
    differences: z.array(difference).meta({ description: 'At most 1,000 of each comparison' }),
    counts: z
      .array(kindCount)
      .meta({ description: 'All differences by kind, including those that are not listed' }),
    isTruncated: z.boolean().meta({ description: 'Whether `differences` leaves some out' }),
    settlements: z.array(reconciledSettlement).meta({ description: 'Newest first' }),
    totals: z.array(periodTotal).optional().meta({ description: 'Of the whole period; on the first page' }),
    lastNightly: nightlyRun.optional().meta({ description: 'The last nightly run; on the first page' }),
    nextCursor: z.string().optional().meta({ description: 'For the next page; absent on the last one' }),
  })
  .meta({ id: 'ReconciliationPage' })
export type ReconciliationPage = z.infer<typeof reconciliationPage>
