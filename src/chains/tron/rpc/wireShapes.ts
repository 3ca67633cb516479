import { z } from 'zod'
import { expecting } from '../../nodes/endpoint.js'

const hex = z.string().regex(/^[0-9a-f]*$/)
const whole = z.int().nonnegative()

/**
 * An int64 that a payer may have chosen, such as the weight of a key: JSON holds it as a number, which the parser rounds
 * above 2^53.
 */
const int64 = z
  .number()
  .nonnegative()
  .refine((value) => Number.isInteger(value), 'is no whole number')

/** TRON answers `{}` for unknown objects. */
const nothing = z.strictObject({})

export const headerShape = z.union([
  z
    .object({
      blockID: hex.length(64),
      block_header: z.object({
        raw_data: z.object({ number: whole.default(0), timestamp: whole.default(0) }),
      }),
    })
    .transform(({ blockID, block_header: { raw_data } }) => ({ id: blockID, ...raw_data })),
  nothing.transform(() => null),
])

export interface Header {
  readonly id: string
  readonly number: number
  readonly timestamp: number
}

const receiptShape = z.union([
  z
    .object({
      id: hex.length(64),
      blockNumber: whole,
      blockTimeStamp: whole,
      receipt: z.object({ result: z.string().optional() }),
      log: z
        .array(z.object({ address: hex, topics: z.array(hex).default([]), data: hex.default('') }))
        .default([]),
    })
    .transform(({ receipt, log, ...rest }) => ({ ...rest, result: receipt.result ?? null, logs: log })),
  nothing.transform(() => null),
])

/** Null if the transaction is in no block; the receipt of another transaction is invalid. */
export const receiptShapeOf = (transaction: string) =>
  expecting(
    receiptShape,
    (receipt) => (receipt === null || receipt.id === transaction ? receipt : undefined),
    'of another transaction',
  )

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Receipt {
  readonly id: string
  readonly blockNumber: number
  readonly blockTimeStamp: number
  readonly result: string | null
  readonly logs: readonly Log[]
}

const permission = z.object({
  threshold: int64.default(1),
  keys: z.array(z.object({ address: hex, weight: int64 })).default([]),
})

/** No key reaches it: a permission that cannot be read is a reason to refuse the payment. */
const unreadablePermission = { threshold: 1, keys: [] }

export const accountShape = z.union([
  z
    .object({
      address: hex.length(42),
      balance: int64.default(0),
      owner_permission: permission.optional().catch(unreadablePermission),
    })
    .transform(({ address, balance, owner_permission }) => ({
      address,
      balance,
      owner: owner_permission ?? null,
    })),
  nothing.transform(() => null),
])

/** Balance in sun; `owner` null means that the account's own key signs. Numbers above 2^53 are rounded. */
export interface Account {
  readonly address: string
  readonly balance: number
  readonly owner: {
    readonly threshold: number
    readonly keys: readonly { readonly address: string; readonly weight: number }[]
  } | null
}

export const resourceShape = z
  .object({
    freeNetLimit: int64.default(0),
    freeNetUsed: int64.default(0),
    NetLimit: int64.default(0),
    NetUsed: int64.default(0),
    EnergyLimit: int64.default(0),
    EnergyUsed: int64.default(0),
    TotalEnergyLimit: int64.default(0),
    TotalEnergyWeight: int64.default(0),
  })
  .transform((resources) => ({
    freeBandwidth: Math.max(0, resources.freeNetLimit - resources.freeNetUsed),
    stakedBandwidth: Math.max(0, resources.NetLimit - resources.NetUsed),
    energy: Math.max(0, resources.EnergyLimit - resources.EnergyUsed),
    /** The whole network has this energy limit, and TRX staked for it. */
    totalEnergy: resources.TotalEnergyLimit,
    totalStaked: resources.TotalEnergyWeight,
  }))

export type Resources = z.infer<typeof resourceShape>

export const simulationShape = z
  .object({
    result: z.object({ code: z.string().optional() }),
    energy_used: int64.default(0),
    constant_result: z.array(hex).default([]),
    logs: z
      .array(z.object({ address: hex, topics: z.array(hex).default([]), data: hex.default('') }))
      .optional(),
    transaction: z.object({ ret: z.array(z.object({ ret: z.string().optional() })).default([]) }).optional(),
  })
  .transform(({ result, energy_used, constant_result, logs, transaction }) => ({
    succeeds: result.code === undefined && !(transaction?.ret ?? []).some(({ ret }) => ret === 'FAILED'),
    isContract: result.code !== 'CONTRACT_VALIDATE_ERROR',
    energy: energy_used,
    returned: constant_result[0] ?? '',
    logs: logs ?? null,
  }))

export type Simulation = z.infer<typeof simulationShape>

export const parametersShape = z
  .object({ chainParameter: z.array(z.object({ key: z.string(), value: z.number().optional() })) })
  .transform(({ chainParameter }) => {
    const read = (name: string) => chainParameter.find(({ key }) => key === name)?.value
    return { energyPrice: read('getEnergyFee'), bandwidthPrice: read('getTransactionFee') }
  })
  .pipe(z.object({ energyPrice: whole, bandwidthPrice: whole }))

export type Prices = z.infer<typeof parametersShape>

export const sendShape = z.object({
  result: z.boolean().default(false),
  code: z.string().default(''),
  message: z
    .string()
    .default('')
    .transform((text) => Buffer.from(text, 'hex').toString('utf8')),
})
