import { z } from 'zod'
import type { Reason } from '../../../protocol/reasons.js'
import { encodeBase58 } from '../../common/base58.js'
import { readTokenAccount, type TokenAccount } from '../encoding/tokenAccounts.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Prepared } from './prepare.js'

export interface Simulated {
  /** Null when the transfer succeeds and credits exactly the amount. */
  readonly failure: FailureReason | null
  /** The payer's token account has it before the transfer; 0 if there is none. */
  readonly balance: bigint
  /** Remaining blocks in which the blockhash is valid; null if the node does not report it. */
  readonly blocksLeft: number | null
}

export type Simulate = (prepared: Prepared) => Promise<Simulated>

/** Unstable: other transactions may have changed an account between two requests. */
interface Attempt extends Simulated {
  readonly isUnstable: boolean
}

// A deviation that repeats is not a race.
const maxAttempts = 3

/** Our signature is never sent with a simulation. */
export const createSimulate = (
  rpc: Pick<Rpc, 'getAccounts' | 'getRecentBlockhashes' | 'simulate'>,
): Simulate => {
  const blockhashes = createBlockhashList(rpc)

  const look = async (prepared: Prepared): Promise<Attempt> => {
    const { transfer, transaction, unsigned } = prepared
    const { source, destination, mint } = transfer
    const [before, list, simulation] = await Promise.all([
      rpc.getAccounts([source, destination, mint]),
      blockhashes.read(),
      // Whole accounts are returned, so only this one: an associated account is a token account, whatever the payer names.
      rpc.simulate(unsigned, [destination]),
    ])
    const [sourceBefore, destinationBefore, mintAccount] = before
    const failure = simulation.succeeds ? null : explainFailure(simulation.error)
    if (failure !== null && !('isGeneral' in failure)) return stable(failure)
    if (mintAccount == null || mintAccount.owner !== transfer.program) {
      return stable({ reason: 'asset_not_deployed_contract' })
    }
    const [spent, received] = [readTokenAccount(sourceBefore), readTokenAccount(destinationBefore)]
    const broken = judgeAccounts(spent, received, prepared)
    if (broken !== null || !simulation.succeeds) return stable(broken ?? failure)
    const blocksLeft = await blockhashes.countBlocksLeft(list, {
      blockhash: transaction.blockhash,
      slot: simulation.slot,
    })
    const gained = readTokenAccount(simulation.accounts[0])
    const gain = await judgeGain(transfer, { before: amountOf(received), simulated: amountOf(gained) })
    // Valid although not in the list: the blockhash may be newer than the list.
    const isUnstable = gain.isUnstable || blocksLeft === 0
    return { failure: gain.failure, balance: amountOf(spent), blocksLeft, isUnstable }
  }

  /**
   * A token may keep a transfer fee. Concurrent payments to the same recipient are tolerated: the balance
   * before the simulation lies between the two that are read around it.
   */
  const judgeGain = async (
    { destination, amount }: Prepared['transfer'],
    { before, simulated }: { readonly before: bigint; readonly simulated: bigint },
  ): Promise<Pick<Attempt, 'failure' | 'isUnstable'>> => {
    if (simulated - before === amount) return { failure: null, isUnstable: false }
    const [account] = await rpc.getAccounts([destination])
    const after = amountOf(readTokenAccount(account))
    const [least, most] = before < after ? [before, after] : [after, before]
    if (simulated - most <= amount && amount <= simulated - least) return { failure: null, isUnstable: false }
    return { failure: wrongGain, isUnstable: before !== after }
  }

  return async (prepared) => {
    let seen = await look(prepared)
    for (let looks = 1; looks < maxAttempts && seen.isUnstable; looks += 1) {
      seen = await look(prepared)
    }
    return seen
  }
}

const stable = (failure: FailureReason | null): Attempt => ({
  failure,
  balance: 0n,
  blocksLeft: null,
  isUnstable: false,
})

/** The payer must own the source account: a delegate is refused. */
const judgeAccounts = (
  source: TokenAccount | null,
  destination: TokenAccount | null,
  { transfer: { authority, amount }, payTo }: Prepared,
): FailureReason | null => {
  if (source === null) return { reason: 'invalid_exact_svm_payload_transaction_sender_ata_not_found' }
  if (source.owner !== authority) return { reason: 'invalid_exact_svm_payload_signature_invalid' }
  if (destination === null) return { reason: 'invalid_exact_svm_payload_transaction_receiver_ata_not_found' }
  // The ownership of an associated account can be transferred.
  if (destination.owner !== payTo) return { reason: 'invalid_exact_svm_payload_recipient_mismatch' }
  if (source.isFrozen || destination.isFrozen) return { reason: 'account_blocked' }
  return source.amount < amount ? { reason: 'insufficient_funds' } : null
}

const amountOf = (account: TokenAccount | null): bigint => account?.amount ?? 0n

const wrongGain: FailureReason = {
  reason: 'invalid_exact_svm_payload_amount_mismatch',
  message: 'The recipient would not receive exactly the amount',
}

const lifetimeBlocks = 150
const headerLength = 8
const hashLength = 32
// Blockhash and fee per signature.
const entryLength = 40

interface BlockhashList {
  readonly slot: number
  readonly readAtMs: number
  /** How many blocks each is older than the newest. */
  readonly ages: ReadonlyMap<string, number>
}

// A slot takes 0.4 s, and the list is the largest of the answers of a verification.
const maxListAgeMs = 400
const maxListAgeSlots = 2

/**
 * The RecentBlockhashes sysvar, shared by the simulations of one slot. It only counts the remaining blocks: whether a
 * blockhash is valid, the simulation decides itself.
 */
const createBlockhashList = (rpc: Pick<Rpc, 'getRecentBlockhashes'>) => {
  let newest: BlockhashList | null = null
  let reading: Promise<BlockhashList | null> | null = null

  const readNow = async (): Promise<BlockhashList | null> => {
    const readAtMs = performance.now()
    const sysvar = await rpc.getRecentBlockhashes()
    newest = sysvar === null ? null : { slot: sysvar.slot, readAtMs, ages: readAges(sysvar.data) }
    return newest
  }

  const read = async (): Promise<BlockhashList | null> => {
    if (newest !== null && performance.now() - newest.readAtMs < maxListAgeMs) return newest
    reading ??= readNow().finally(() => {
      reading = null
    })
    return await reading
  }

  /** Remaining blocks at a slot; a slot has one block at most. Null if the node provides no list. */
  const countBlocksLeft = async (
    list: BlockhashList | null,
    { blockhash, slot }: { readonly blockhash: string; readonly slot: number },
  ): Promise<number | null> => {
    const count = (from: BlockhashList | null): number | null => {
      if (from === null || from.ages.size === 0) return null
      const age = from.ages.get(blockhash)
      return age === undefined ? 0 : Math.max(0, lifetimeBlocks - age - Math.max(0, slot - from.slot))
    }
    const left = count(list)
    const isCurrent = list === null || slot - list.slot <= maxListAgeSlots
    // The blockhash may be newer than the list.
    return isCurrent && left !== 0 ? left : count(await readNow())
  }

  return { read, countBlocksLeft }
}

const readAges = (data: Buffer): ReadonlyMap<string, number> => {
  const ages = new Map<string, number>()
  for (let start = headerLength; start + entryLength <= data.length; start += entryLength) {
    ages.set(encodeBase58(data.subarray(start, start + hashLength)), ages.size)
  }
  return ages
}

/** Why a simulation failed. `isOurs`: the fee payer lacks funds, not a payer's error. */
export type FailureReason =
  | { readonly reason: Reason; readonly message?: string; readonly isFinal?: true }
  | { readonly reason: Reason; readonly message: string; readonly isGeneral: true }
  | { readonly isOurs: true }

const instructionError = z.object({
  InstructionError: z.tuple([z.int(), z.unknown()]),
})
const customError = z.object({ Custom: z.int() })

const transferIndex = 2

// TokenError of SPL Token and Token-2022.
const tokenErrors: Readonly<Record<number, Reason>> = {
  1: 'insufficient_funds',
  17: 'account_blocked',
}

/** Maps the `err` of simulateTransaction to a reason. */
const explainFailure = (error: unknown): FailureReason => {
  if (error === 'AlreadyProcessed') {
    return { reason: 'duplicate_settlement', message: 'The transaction is on chain already', isFinal: true }
  }
  if (error === 'BlockhashNotFound') return { reason: 'settle_exact_svm_block_height_exceeded' }
  // Account 0 is the fee payer: it lacks funds.
  if (error === 'AccountNotFound' || error === 'InsufficientFundsForFee') return { isOurs: true }
  const failed = instructionError.safeParse(error)
  if (!failed.success) {
    // Only the fee payer's lamports change.
    if (isRentError(error)) return { isOurs: true }
    return simulationFailed(error)
  }
  const [index, detail] = failed.data.InstructionError
  const custom = customError.safeParse(detail)
  const reason = custom.success && index === transferIndex ? tokenErrors[custom.data.Custom] : undefined
  return reason === undefined ? simulationFailed(error) : { reason: reason }
}

const isRentError = (error: unknown): boolean =>
  z.object({ InsufficientFundsForRent: z.object({ account_index: z.literal(0) }) }).safeParse(error).success

const maxTextLength = 160

const simulationFailed = (error: unknown): FailureReason => ({
  reason: 'invalid_exact_svm_transaction_simulation_failed',
  message: `The transfer fails when it is simulated: ${(JSON.stringify(error) ?? '').slice(0, maxTextLength)}`,
  isGeneral: true,
})
