import { base58 } from '@scure/base'
import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { readTokenAccount, toAccountJson, toAmountJson } from './accountJson.js'
import type { Commitment, Landed, Ledger } from './ledger.js'
import { clockSysvar, recentBlockhashesSysvar, token2022Program, tokenProgram } from './programs.js'
import { readSentTransaction, type SentTransaction } from './sentTransaction.js'
import { blockhashLifetime, firstSlot, type Slots } from './slots.js'
import { describeTransactionError } from './transactionErrors.js'
import { type StoredAccount, type VirtualMachine, walletHolding } from './virtualMachine.js'

export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

interface NodeParts {
  readonly machine: VirtualMachine
  readonly slots: Slots
  readonly ledger: Ledger
  readonly genesisHash: string
}

export type RpcMethod = (params: readonly unknown[]) => unknown

const address = z.string().refine((text) => {
  try {
    return base58.decode(text).length === 32
  } catch {
    return false
  }
})
const commitment = z.enum(['processed', 'confirmed', 'finalized'])
const config = z
  .looseObject({
    encoding: z.string().optional(),
    dataSlice: z.object({ offset: z.int(), length: z.int() }).optional(),
    commitment: commitment.optional(),
    accounts: z.object({ addresses: z.array(address), encoding: z.string().optional() }).nullish(),
    sigVerify: z.boolean().optional(),
    replaceRecentBlockhash: z.boolean().optional(),
    skipPreflight: z.boolean().optional(),
    searchTransactionHistory: z.boolean().optional(),
    mint: address.optional(),
    programId: address.optional(),
    maxSupportedTransactionVersion: z.number().optional(),
  })
  .default({})

// Size of the status cache, which is searched without `searchTransactionHistory`.
const statusCacheSlots = 300n

// Makes block heights differ from slots, so that confusing them fails.
const skippedSlots = 40n

const sysvarOwner = 'Sysvar1111111111111111111111111111111111111'

/** Every method that clients use. */
export const createRpcMethods = (parts: NodeParts): Readonly<Record<string, RpcMethod>> => {
  const { machine, slots, ledger, genesisHash } = parts
  const readConfig = (params: readonly unknown[], index: number) => config.parse(params[index] ?? {})
  const readAddress = (params: readonly unknown[]) => {
    const parsed = address.safeParse(params[0])
    if (!parsed.success) throw new RpcError(-32602, 'Invalid param: Invalid')
    return parsed.data
  }
  const slotOf = (level: Commitment = 'finalized') => ledger.slotAt(level)
  const inContext = (value: unknown, level: Commitment = 'processed') => ({
    context: { slot: Number(slotOf(level)), apiVersion: '3.0.0' },
    value,
  })
  const readAccount = (key: string, level: Commitment = 'processed'): StoredAccount | null => {
    if (key === clockSysvar) return readClock(slots, slotOf(level))
    return key === recentBlockhashesSysvar ? readRecentBlockhashes() : machine.read(key)
  }
  let listed: { readonly newest: string; readonly account: StoredAccount } | null = null
  /** Cached per slot, because building it is slow. */
  const readRecentBlockhashes = (): StoredAccount => {
    const newest = slots.blockhashAt(slots.now())
    if (listed?.newest !== newest) listed = { newest, account: listRecentBlockhashes(slots) }
    return listed.account
  }
  const readTransaction = (params: readonly unknown[]): SentTransaction => {
    const { encoding } = readConfig(params, 1)
    const text = z.string().parse(params[0])
    const bytes = encoding === 'base64' ? Buffer.from(text, 'base64') : base58.decode(text)
    if (bytes.length > 1_232) throw new RpcError(-32602, 'VersionedTransaction too large')
    try {
      return readSentTransaction(bytes)
    } catch {
      throw new RpcError(-32602, 'failed to deserialize VersionedTransaction')
    }
  }
  const withNewestBlockhash = ({ bytes }: SentTransaction): SentTransaction => {
    const transaction = VersionedTransaction.deserialize(bytes)
    transaction.message.recentBlockhash = slots.blockhashAt(slots.now())
    return readSentTransaction(transaction.serialize())
  }
  const simulate = (transaction: SentTransaction, checksSignatures: boolean) => {
    const execution = ledger.simulate(transaction, checksSignatures)
    if (execution.error === 'SignatureFailure') {
      throw new RpcError(-32003, 'Transaction signature verification failure')
    }
    return execution
  }
  const findReached = (signature: string, level: Commitment = 'finalized'): Landed | null => {
    const landed = ledger.find(signature)
    return landed !== null && landed.slot <= slotOf(level) ? landed : null
  }

  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 0 }),
    getGenesisHash: () => genesisHash,
    getSlot: (params) => Number(slotOf(readConfig(params, 0).commitment)),
    getBlockHeight: (params) => Number(slotOf(readConfig(params, 0).commitment) - skippedSlots),
    // The cluster is older than this process.
    getFirstAvailableBlock: () => Number(firstSlot) - 400,
    getBlockTime: ([slot]) => slots.timeAt(BigInt(z.number().parse(slot))),
    getEpochInfo: () => ({
      absoluteSlot: Number(slots.now()),
      blockHeight: Number(slots.now() - skippedSlots),
      epoch: 0,
      slotIndex: Number(slots.now()),
      slotsInEpoch: 432_000,
    }),
    getBlock: (params) => {
      const slot = BigInt(z.number().parse(params[0]))
      if (slot > slotOf(readConfig(params, 1).commitment)) {
        throw new RpcError(-32_004, `Block not available for slot ${slot}`)
      }
      return {
        blockhash: slots.blockhashAt(slot),
        previousBlockhash: slots.blockhashAt(slot - 1n),
        parentSlot: Number(slot - 1n),
        blockHeight: Number(slot - skippedSlots),
        blockTime: slots.timeAt(slot),
      }
    },
    getLatestBlockhash: (params) => {
      const level = readConfig(params, 0).commitment ?? 'finalized'
      const slot = slotOf(level)
      return inContext(
        {
          blockhash: slots.blockhashAt(slot),
          lastValidBlockHeight: Number(slot - skippedSlots + blockhashLifetime),
        },
        level,
      )
    },
    isBlockhashValid: (params) => {
      const level = readConfig(params, 1).commitment ?? 'finalized'
      const slot = slots.slotOf(z.string().parse(params[0]))
      const at = slotOf(level)
      return inContext(slot !== null && slot <= at && at - slot <= blockhashLifetime, level)
    },
    getBalance: (params) => inContext(Number(machine.read(readAddress(params))?.lamports ?? 0n)),
    getMinimumBalanceForRentExemption: ([bytes]) => Number(machine.rentFor(z.number().parse(bytes))),
    getAccountInfo: (params) => {
      const { encoding, commitment: level, dataSlice } = readConfig(params, 1)
      return inContext(toAccountJson(readAccount(readAddress(params), level), encoding, dataSlice), level)
    },
    getMultipleAccounts: (params) => {
      const { encoding, dataSlice } = readConfig(params, 1)
      const addresses = z.array(address).parse(params[0])
      return inContext(addresses.map((key) => toAccountJson(readAccount(key), encoding, dataSlice)))
    },
    getTokenAccountBalance: (params) => {
      const account = readTokenAccount(machine.read(readAddress(params)))
      if (account === null) throw new RpcError(-32602, 'Invalid param: could not find account')
      return inContext(toAmountJson(machine, account.mint, account.amount))
    },
    getTokenAccountsByOwner: (params) => {
      const owner = readAddress(params)
      const { mint, programId } = readConfig(params, 1)
      const programs = programId === undefined ? [tokenProgram, token2022Program] : [programId]
      const owned = programs.flatMap(machine.listOwnedBy).filter(({ account }) => {
        const token = readTokenAccount(account)
        return token?.owner === owner && (mint === undefined || token.mint === mint)
      })
      return inContext(
        owned.map(({ address: pubkey, account }) => ({
          pubkey,
          account: toAccountJson(account, readConfig(params, 2).encoding),
        })),
      )
    },
    getFeeForMessage: () => inContext(10_000),
    getRecentPrioritizationFees: () => [{ slot: Number(slots.now()), prioritizationFee: 0 }],
    requestAirdrop: (params) => {
      const key = readAddress(params)
      const lamports = BigInt(z.number().parse(params[1])) + (machine.read(key)?.lamports ?? 0n)
      machine.write(key, walletHolding(lamports))
      return base58.encode(Buffer.alloc(64, 7))
    },
    simulateTransaction: (params) => {
      const { sigVerify = false, replaceRecentBlockhash = false, accounts } = readConfig(params, 1)
      if (replaceRecentBlockhash && sigVerify) {
        throw new RpcError(-32602, 'sigVerify may not be used with replaceRecentBlockhash')
      }
      const transaction = readTransaction(params)
      const execution = simulate(
        replaceRecentBlockhash ? withNewestBlockhash(transaction) : transaction,
        sigVerify,
      )
      const read = (key: string) => execution.accounts.get(key) ?? machine.read(key)
      return inContext({
        err: execution.error,
        logs: execution.logs,
        unitsConsumed: Number(execution.computeUnits),
        returnData: null,
        innerInstructions: null,
        accounts:
          accounts == null
            ? null
            : accounts.addresses.map((key) =>
                execution.error === null ? toAccountJson(read(key), accounts.encoding) : null,
              ),
      })
    },
    sendTransaction: (params) => {
      const transaction = readTransaction(params)
      if (readConfig(params, 1).skipPreflight !== true) {
        const { error, logs } = simulate(transaction, true)
        if (error !== null) {
          throw new RpcError(-32002, `Transaction simulation failed: ${describeTransactionError(error)}`, {
            err: error,
            logs,
            accounts: null,
          })
        }
      }
      return ledger.send(transaction.bytes).signature
    },
    getSignatureStatuses: (params) => {
      const searches = readConfig(params, 1).searchTransactionHistory === true
      const isKept = ({ slot }: Landed) => searches || slots.now() - slot <= statusCacheSlots
      const signatures = z.array(z.string()).parse(params[0])
      return inContext(
        signatures.map((signature) => {
          const landed = ledger.find(signature)
          return toStatusJson(ledger, slots, landed !== null && isKept(landed) ? landed : null)
        }),
      )
    },
    getTransaction: (params) => {
      const { commitment: level, maxSupportedTransactionVersion: version, encoding } = readConfig(params, 1)
      const landed = findReached(z.string().parse(params[0]), level)
      if (landed !== null && !landed.transaction.isLegacy && version === undefined) {
        throw new RpcError(-32015, 'Transaction version (0) is not supported by the requesting client')
      }
      return landed === null ? null : toTransactionJson(landed, { machine, slots, encoding })
    },
  }
}

const toStatusJson = (ledger: Ledger, slots: Slots, landed: Landed | null): unknown => {
  if (landed === null) return null
  const confirmationStatus = ledger.commitmentOf(landed.slot)
  return {
    slot: Number(landed.slot),
    confirmations: confirmationStatus === 'finalized' ? null : Number(slots.now() - landed.slot),
    err: landed.error,
    status: landed.error === null ? { Ok: null } : { Err: landed.error },
    confirmationStatus,
  }
}

const toTransactionJson = (
  landed: Landed,
  {
    machine,
    slots,
    encoding,
  }: Pick<NodeParts, 'machine' | 'slots'> & { readonly encoding: string | undefined },
): unknown => {
  const { transaction, slot, error, execution, before, after } = landed
  const listTokens = (accounts: readonly (StoredAccount | null)[]) =>
    accounts.flatMap((account, accountIndex) => {
      const token = readTokenAccount(account)
      if (token === null) return []
      const { mint, owner, amount } = token
      const uiTokenAmount = toAmountJson(machine, mint, amount)
      return [{ accountIndex, mint, owner, programId: account?.owner, uiTokenAmount }]
    })
  return {
    slot: Number(slot),
    blockTime: slots.timeAt(slot),
    version: transaction.isLegacy ? 'legacy' : 0,
    transaction:
      encoding === 'base64'
        ? [Buffer.from(transaction.bytes).toString('base64'), 'base64']
        : toMessageJson(transaction),
    meta: {
      err: error,
      status: error === null ? { Ok: null } : { Err: error },
      fee: Number(transaction.fee),
      logMessages: execution.logs,
      computeUnitsConsumed: Number(execution.computeUnits),
      preBalances: before.map((account) => Number(account?.lamports ?? 0n)),
      postBalances: after.map((account) => Number(account?.lamports ?? 0n)),
      preTokenBalances: listTokens(before),
      postTokenBalances: listTokens(after),
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
  }
}

/** Sysvar layout: count, then blockhash and fee per signature, newest first. */
const listRecentBlockhashes = (slots: Slots): StoredAccount => {
  const count = 150
  const data = Buffer.alloc(8 + 40 * count)
  data.writeBigUInt64LE(BigInt(count), 0)
  for (let index = 0; index < count; index += 1) {
    data.set(base58.decode(slots.blockhashAt(slots.now() - BigInt(index))), 8 + 40 * index)
    data.writeBigUInt64LE(5_000n, 8 + 40 * index + 32)
  }
  return {
    lamports: 42_706_560n,
    data,
    owner: sysvarOwner,
    executable: false,
  }
}

/** Sysvar layout: slot at byte 0, Unix time at byte 32. */
const readClock = (slots: Slots, slot: bigint): StoredAccount => {
  const data = Buffer.alloc(40)
  data.writeBigUInt64LE(slot, 0)
  data.writeBigInt64LE(BigInt(slots.timeAt(slot)), 32)
  return { lamports: 1_169_280n, data, owner: sysvarOwner, executable: false }
}

const toMessageJson = ({ bytes, signatures, keys, isLegacy }: SentTransaction): unknown => {
  const { message } = VersionedTransaction.deserialize(bytes)
  return {
    signatures,
    message: {
      header: message.header,
      accountKeys: keys,
      recentBlockhash: message.recentBlockhash,
      instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
        programIdIndex,
        accounts: [...accountKeyIndexes],
        data: base58.encode(data),
      })),
      ...(isLegacy ? {} : { addressTableLookups: [] }),
    },
  }
}
