import type { Address } from 'viem'
import type { Answer } from './answers.js'
import {
  type ChainFact,
  type MinedTransaction,
  readBalances,
  readChainFacts,
  readMinedTransactions,
} from './chainLedger.js'
import { checkCollected } from './channels.js'
import { checkAnswers } from './checkAnswers.js'
import {
  type BroadcastRow,
  type LaneRow,
  readBroadcasts,
  readLanes,
  readSettlements,
  type SettlementRow,
  sumConfirmed,
} from './ledger.js'
import type { Payment } from './payments.js'
import type { World } from './world.js'

export interface AuditScope {
  readonly payments: readonly Payment[]
  readonly answers: readonly Answer[]
  readonly fromBlock: bigint
}

export interface AuditRecords {
  readonly settlements: readonly SettlementRow[]
  readonly broadcasts: readonly BroadcastRow[]
  readonly facts: ReadonlyMap<string, ChainFact>
  readonly mined: readonly MinedTransaction[]
}

/** A violated invariant; null if it is not about one authorization. */
export interface Violation {
  readonly rule: string
  readonly authorizationId: string | null
  readonly what: string
}

/** Violations may be transient while work is in progress, except those in responses. */
export const audit = async (
  world: World,
  { payments, answers, fromBlock }: AuditScope,
): Promise<{ readonly violations: readonly Violation[]; readonly books: AuditRecords }> => {
  const ids = payments.map(({ authorizationId }) => authorizationId)
  const [settlements, sums, lanes] = await Promise.all([
    readSettlements(world.pool, ids),
    sumConfirmed(world.pool),
    readLanes(world.pool),
  ])
  const [facts, mined, balances, nonces] = await Promise.all([
    readChainFacts(world, payments, fromBlock),
    readMinedTransactions(world, fromBlock),
    readBalances(world),
    readNonces(world, lanes),
  ])
  const known = [
    ...mined.map(({ transaction }) => transaction),
    ...settlements.flatMap((row) => row.transactions),
  ]
  const deposits = payments.filter(({ authorizationId }) => facts.get(authorizationId)?.use?.isPaid === true)
  const broadcasts = await readBroadcasts(world.pool, known)
  const books = { settlements, broadcasts, facts, mined }
  return {
    books,
    violations: [
      ...checkRows(settlements),
      ...checkTransfers(payments, books),
      ...checkSums(sums, balances),
      ...checkBroadcasts(books),
      ...checkLanes(lanes, nonces),
      ...checkAnswers(payments, answers, books),
      ...(await checkCollected(world, deposits)),
    ],
  }
}

const checkRows = (settlements: readonly SettlementRow[]): readonly Violation[] =>
  settlements
    .filter(({ state }) => state === 'claimed' || state === 'pending')
    .map((row) => ({
      rule: 'every row closes',
      authorizationId: row.authorization_id,
      what: `${row.id} is still ${row.state}`,
    }))

const checkTransfers = (
  payments: readonly Payment[],
  { settlements, facts }: AuditRecords,
): readonly Violation[] =>
  payments.flatMap(({ authorizationId }) => {
    const rule = 'money moved on chain if and only if a row is confirmed'
    const violation = (what: string): Violation => ({ rule, authorizationId, what })
    const confirmed = settlements.filter(
      (row) => row.authorization_id === authorizationId && row.state === 'confirmed',
    )
    const fact = facts.get(authorizationId)
    if (fact === undefined) return [violation('chain state was not read')]
    if (fact.isUsed !== (fact.use !== null)) return [violation('authorizationState and event log disagree')]
    const hasMoved = fact.use?.isPaid ?? false
    if (confirmed.length > 1) return [violation(`${confirmed.length} rows are confirmed`)]
    if (hasMoved && confirmed.length === 0)
      return [violation(`${fact.use?.transaction} moved funds, no row is confirmed`)]
    if (!hasMoved && confirmed.length > 0) return [violation('a row is confirmed, no funds moved')]
    if (hasMoved && confirmed[0]?.transaction !== fact.use?.transaction) {
      return [violation(`${fact.use?.transaction} moved funds, the row has ${confirmed[0]?.transaction}`)]
    }
    return []
  })

const checkSums = (
  sums: ReadonlyMap<string, bigint>,
  balances: ReadonlyMap<string, bigint>,
): readonly Violation[] =>
  [...balances]
    .filter(([recipient, balance]) => balance !== (sums.get(recipient) ?? 0n))
    .map(([recipient, balance]) => ({
      rule: 'the sum on chain equals the journal',
      authorizationId: null,
      what: `${recipient} has ${balance} on chain and ${sums.get(recipient) ?? 0n} in the journal`,
    }))

const checkBroadcasts = ({ mined, broadcasts }: AuditRecords): readonly Violation[] => {
  const recorded = new Set(broadcasts.map(({ transaction }) => transaction))
  return mined
    .filter(({ transaction }) => !recorded.has(transaction))
    .map(({ transaction, signer, nonce }) => ({
      rule: 'every transaction on chain was recorded',
      authorizationId: null,
      what: `${transaction} of ${signer} with nonce ${nonce} is not in broadcasts`,
    }))
}

const checkLanes = (lanes: readonly LaneRow[], nonces: ReadonlyMap<string, number>): readonly Violation[] =>
  lanes
    .filter(({ signer, next_nonce }) => nonces.get(signer) !== next_nonce)
    .map(({ signer, next_nonce }) => ({
      rule: 'no lane has a nonce gap',
      authorizationId: null,
      what: `${signer} has nonce ${nonces.get(signer)} on chain, its lane ${next_nonce}`,
    }))

const readNonces = async (
  { chain }: World,
  lanes: readonly LaneRow[],
): Promise<ReadonlyMap<string, number>> => {
  const isSigner = (text: string): text is Address => text.startsWith('0x')
  const signers = lanes.map(({ signer }) => signer).filter(isSigner)
  return new Map(
    await Promise.all(
      signers.map(
        async (address): Promise<[string, number]> => [
          address,
          await chain.client.getTransactionCount({ address, blockTag: 'latest' }),
        ],
      ),
    ),
  )
}
