import { z } from 'zod'

const hex = z.string().regex(/^[0-9a-f]*$/)
const whole = z.int().nonnegative()

/** What TRON answers of something that it does not know. */
const nothing = z.strictObject({})

/** A block's header; null for a block that the node has not got. */
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

/** A block as far as we look at it; the time in milliseconds. */
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

/** What became of a transaction that stands in a block; null for one that does not. Another's receipt is no answer. */
export const receiptShapeOf = (transaction: string) =>
  receiptShape.refine((receipt) => receipt === null || receipt.id === transaction, 'of another transaction')

/** An event of a contract, in hex without prefix; the address without its first byte `41`. */
export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** A receipt; `result` is `SUCCESS` or why the call failed. */
export interface Receipt {
  readonly id: string
  readonly blockNumber: number
  readonly blockTimeStamp: number
  readonly result: string | null
  readonly logs: readonly Log[]
}

const permission = z.object({
  threshold: whole.default(1),
  keys: z.array(z.object({ address: hex, weight: whole })).default([]),
})

/** An account; null for one that was never used. */
export const accountShape = z.union([
  z
    .object({ address: hex.length(42), balance: whole.default(0), owner_permission: permission.optional() })
    .transform(({ address, balance, owner_permission }) => ({
      address,
      balance,
      owner: owner_permission ?? null,
    })),
  nothing.transform(() => null),
])

/** An account's coins in sun, and who may sign for it; null stands for its own key alone. */
export interface Account {
  readonly address: string
  readonly balance: number
  readonly owner: {
    readonly threshold: number
    readonly keys: readonly { readonly address: string; readonly weight: number }[]
  } | null
}

/** What an account may use without paying for it. */
export const resourceShape = z
  .object({
    freeNetLimit: whole.default(0),
    freeNetUsed: whole.default(0),
    NetLimit: whole.default(0),
    NetUsed: whole.default(0),
    EnergyLimit: whole.default(0),
    EnergyUsed: whole.default(0),
    TotalEnergyLimit: whole.default(0),
    TotalEnergyWeight: whole.default(0),
  })
  .transform((told) => ({
    freeBandwidth: Math.max(0, told.freeNetLimit - told.freeNetUsed),
    stakedBandwidth: Math.max(0, told.NetLimit - told.NetUsed),
    energy: Math.max(0, told.EnergyLimit - told.EnergyUsed),
    /** All energy of the network, and the TRX that are staked for it. */
    totalEnergy: told.TotalEnergyLimit,
    totalStaked: told.TotalEnergyWeight,
  }))

/** What an account has left of its resources. */
export type Resources = z.infer<typeof resourceShape>

/** What a call would come to. `result.result` is true even of one that reverts, so it is not looked at. */
export const simulationShape = z
  .object({
    result: z.object({ code: z.string().optional() }),
    energy_used: whole.default(0),
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
    /** Null where the node does not tell them. */
    logs: logs ?? null,
  }))

/** What a call would come to. */
export type Simulation = z.infer<typeof simulationShape>

/** What the network asks for. */
export const parametersShape = z
  .object({ chainParameter: z.array(z.object({ key: z.string(), value: z.number().optional() })) })
  .transform(({ chainParameter }) => {
    const read = (name: string) => chainParameter.find(({ key }) => key === name)?.value
    return { energyPrice: read('getEnergyFee'), bandwidthPrice: read('getTransactionFee') }
  })
  .pipe(z.object({ energyPrice: whole, bandwidthPrice: whole }))

/** What a unit of energy and a byte of bandwidth cost, in sun. */
export type Prices = z.infer<typeof parametersShape>

/** What a node says to a transaction that it is handed; its words are hex. */
export const sendShape = z.object({
  result: z.boolean().default(false),
  code: z.string().default(''),
  message: z
    .string()
    .default('')
    .transform((text) => Buffer.from(text, 'hex').toString('utf8')),
})
