import { z } from 'zod'
import { operationalCodes } from './reasons/reasonEntry.js'
import { describeReason, findOperationalCode, findRemedy, type Reason, reasons } from './reasons.js'

export const nextCursor = z
  .string()
  .optional()
  .meta({ description: 'For the next page; absent where there is none' })

// Documented as enumerations and read as strings: stored responses of other versions stay readable.
export const operationalCodeName = z
  .string()
  .meta({
    id: 'OperationalCode',
    description: 'Operational code, where one applies',
    enum: Object.keys(operationalCodes),
  })
  .optional()
export const reasonName = z
  .string()
  .meta({ id: 'Reason', description: 'Stable name of a reason', enum: Object.keys(reasons) })
  .optional()
const retryable = z
  .boolean()
  .optional()
  .meta({ description: 'With a reason: whether the same request may succeed later' })

const sandbox = z
  .literal(true)
  .optional()
  .meta({ description: 'Only of a sandbox: no payment is real. Every answer of it has this field' })

const schemeFields = z.record(z.string(), z.unknown()).optional()

export const verifyResult = z
  .object({
    isValid: z.boolean().meta({ description: 'Whether /settle would execute the payment' }),
    payer: z.string().optional().meta({ description: 'Absent if the payload contains no readable payer' }),
    invalidReason: reasonName,
    invalidMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode: operationalCodeName,
    retryable,
    extra: schemeFields.meta({
      description: 'Scheme `batch-settlement`, of a valid payment: the state of the channel on chain',
    }),
    sandbox,
  })
  .meta({ id: 'VerifyResult' })

export type VerifyResult = z.infer<typeof verifyResult>

const extensionAnswers = z.record(z.string(), z.looseObject({})).optional().meta({
  description:
    'What became of protocol extensions, by key, such as `bazaar`: whether the resource is listed, or why not',
})

export const settleResult = z
  .object({
    success: z.boolean().meta({ description: 'Whether the recipient was paid: deliver' }),
    transaction: z.string().meta({ description: 'Transaction hash; empty when nothing was sent' }),
    network: z.string().meta({ description: 'The network as the caller spelled it' }),
    payer: z.string().optional(),
    amount: z.string().optional().meta({ description: 'Transferred amount, in smallest units' }),
    errorReason: reasonName,
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    operationalCode: operationalCodeName,
    retryable,
    settlementId: z.string().optional().meta({ description: 'For GET /v1/settlements/{id}' }),
    extensions: extensionAnswers,
    extra: schemeFields.meta({
      description:
        'Scheme `batch-settlement`, on success of a deposit or a refund: `channelState`, the channel in the block of the transaction',
    }),
    sandbox,
    status: z
      .enum(['confirmed', 'failed', 'pending'])
      .optional()
      .meta({ description: '`pending`: sent, outcome not known yet; ask again, do not pay again' }),
    transactionHash: z
      .string()
      .optional()
      .meta({ description: 'Schemes `upto` and `auth-capture`, on success: the same as `transaction`' }),
    settledAmount: z
      .string()
      .optional()
      .meta({ description: 'Schemes `upto` and `auth-capture`, on success: the same as `amount`' }),
    maxAmount: z.string().optional().meta({
      description: 'Schemes `upto` and `auth-capture`, on success: the authorized maximum, in smallest units',
    }),
    blockNumber: z.int().optional().meta({
      description:
        'Schemes `upto` and `auth-capture`, on success: block of the transaction; absent without one',
    }),
    gasUsed: z.string().optional().meta({
      description:
        'Schemes `upto` and `auth-capture`, on success: gas of the whole transaction, which may carry a batch',
    }),
    warnings: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'Scheme `upto`: what of `usageDetails` does not add up, in a sentence each. The settlement is as valid as ' +
          'without; absent if there is none',
      }),
  })
  .meta({ id: 'SettleResult' })

export type SettleResult = z.infer<typeof settleResult>

export const settlementView = z
  .object({
    id: z.string(),
    status: z.enum(['confirmed', 'failed', 'pending']).meta({
      description:
        '`confirmed` and `failed` are proven; `pending` becomes one of them. A `confirmed` payment is `pending` again ' +
        'if its block is orphaned, until it is proven again',
    }),
    scheme: z.string(),
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    asset: z.string(),
    payer: z.string(),
    payTo: z.string().meta({ description: 'Recipient' }),
    amount: z.string().meta({ description: 'Amount, in smallest units' }),
    maxAmount: z
      .string()
      .optional()
      .meta({ description: 'Authorized maximum, where it differs from `amount`' }),
    transaction: z.string().meta({ description: 'Empty until something is sent' }),
    errorReason: reasonName,
    errorMessage: z.string().optional().meta({ description: 'The reason as a sentence' }),
    createdAt: z.iso.datetime(),
    closedAt: z.iso.datetime().optional().meta({ description: 'When its outcome was proven' }),
  })
  .meta({ id: 'Settlement' })

export type SettlementView = z.infer<typeof settlementView>

export const settlementDetails = settlementView
  .extend({
    transactions: z
      .array(z.string())
      .meta({ description: 'Every transaction recorded for it, oldest first; at most one of them can pay' }),
    block: z
      .object({
        number: z.string(),
        hash: z.string(),
        isFinal: z.boolean().meta({ description: 'Whether the block can no longer be orphaned' }),
      })
      .optional()
      .meta({ description: 'Block of the payment' }),
  })
  .meta({ id: 'SettlementDetails' })

export type SettlementDetails = z.infer<typeof settlementDetails>

/** A transaction can carry a batch of payments. */
export const settlementsOfTransaction = settlementView
  .extend({
    others: z
      .array(settlementView)
      .optional()
      .meta({ description: 'The other payments of the same transaction, where it carried several' }),
  })
  .meta({ id: 'SettlementsOfTransaction' })

export type SettlementsOfTransaction = z.infer<typeof settlementsOfTransaction>

const operatorSettlementView = settlementDetails
  .extend({
    caller: z.string().meta({ description: 'Account of the request, or `anonymous`' }),
    ageSeconds: z.int().meta({ description: 'Age since it was created' }),
    isOwned: z
      .boolean()
      .meta({ description: 'Whether a live instance owns it; otherwise the reconciler resolves it' }),
    isConsumed: z.boolean().meta({ description: 'Whether a request was answered `success: true`' }),
    isAttended: z.boolean().meta({ description: 'Earlier name of `isOwned`', deprecated: true }),
    hasToldSuccess: z.boolean().meta({ description: 'Earlier name of `isConsumed`', deprecated: true }),
  })
  .meta({ id: 'OperatorSettlement' })

export type OperatorSettlementView = z.infer<typeof operatorSettlementView>

export const settlementPage = z
  .object({
    settlements: z.array(operatorSettlementView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'SettlementPage' })

export type SettlementPage = z.infer<typeof settlementPage>

export const supported = z
  .object({
    kinds: z.array(
      z.object({
        payVersion: z.int().meta({ description: 'Protocol version, 1 or 2' }),
        x402Version: z.int().meta({ description: 'The same number, for x402 clients' }),
        t402Version: z.int().meta({ description: 'The same number, for t402 clients' }),
        scheme: z.string(),
        network: z.string().meta({
          description:
            'A name that is accepted in requests: in version 2 a CAIP-2 identifier or another form of it, in version 1 a short name',
        }),
        extra: z
          .record(z.string(), z.unknown())
          .optional()
          .meta({ description: 'What a client needs to know to sign, such as a fee payer' }),
        minimumPayments: z.record(z.string(), z.string()).optional().meta({
          description:
            'Lowest payments by asset, in smallest units; absent where there are none. They may follow the price of gas',
        }),
      }),
    ),
    extensions: z
      .array(z.string())
      .meta({ description: 'Protocol extensions that this instance implements' }),
    signers: z.record(z.string(), z.array(z.string())).meta({
      description:
        'Signer addresses that send settlements, by family (`eip155:*`), under every namespace of its networks',
    }),
  })
  .meta({ id: 'Supported' })

export type Supported = z.infer<typeof supported>

export const router = z
  .object({
    network: z.string().meta({ description: 'As the caller named it' }),
    payTo: z.string(),
    routerAddress: z.string().meta({
      description: 'For `extra.routerAddress`: pays to `payTo` only, and is the spender that payers sign',
    }),
    isDeployed: z
      .boolean()
      .meta({ description: 'False: the first settlement deploys it; the address is final' }),
    sharedRouterAddress: z.string().optional().meta({
      description:
        'Router for any recipient, who is chosen at settlement; absent unless the operator takes permits for it',
    }),
  })
  .meta({ id: 'Router' })

export type RouterView = z.infer<typeof router>

/** An enum in the document only: a result that is not listed is served as well. */
const checkResult = (results: readonly string[], description: string) =>
  z.string().optional().meta({ enum: results, description })

export const readiness = z
  .object({
    status: z
      .enum(['ready', 'unready', 'stopping'])
      .meta({ description: '`stopping`: the instance ends soon, and serves all requests until then' }),
    checks: z
      .object({
        database: checkResult(
          ['ok', 'slow', 'read_only', 'unreachable'],
          '`slow`: it stays ready, because all instances share the database. What follows makes it unready',
        ),
        store: checkResult(
          ['ok', 'degraded', 'unreachable'],
          '`degraded`: Redis does not respond, so that each instance counts limits for itself; still ready',
        ),
        rpc: checkResult(
          ['ok', 'none', 'unreachable'],
          '`ok` if an endpoint of any network responds; `none` without networks',
        ),
        gas: checkResult(
          ['ok', 'low', 'empty', 'unknown', 'none'],
          'What the signers of all networks hold; never makes it unready',
        ),
      })
      .catchall(z.string())
      .meta({
        description:
          'Results by check. Per network there are also `gas:<network>`, like `gas`; `clock:<network>`, `ok` or ' +
          '`behind`; and `lanes:<network>`, `ok` or `stuck`. None of these makes the service unready',
      }),
  })
  .meta({ id: 'Readiness' })

export type Readiness = z.infer<typeof readiness>

export const serviceInfo = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    endpoints: z.array(z.object({ method: z.string(), path: z.string(), description: z.string() })),
    features: z
      .record(z.string(), z.union([z.boolean(), z.string(), z.array(z.string())]))
      .meta({ description: 'What is on, and in which mode' }),
    limitations: z
      .array(z.object({ network: z.string(), text: z.string() }))
      .meta({ description: 'What networks could settle and do not at the moment, and why' }),
  })
  .meta({ id: 'ServiceInfo' })

export type ServiceInfo = z.infer<typeof serviceInfo>

/** `isFinal`: also of a reason that is not final by itself. */
export const refusalFields = (reason: Reason, message?: string, isFinal = findRemedy(reason).isFinal) => {
  const code = findOperationalCode(reason)
  return {
    reason,
    message: message ?? describeReason(reason),
    ...(code === null ? {} : { operationalCode: code }),
    retryable: !isFinal,
  }
}
