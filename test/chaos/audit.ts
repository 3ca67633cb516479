import type { Address } from 'viem'
import type { Answer } from './answers.js'
import {
  type ChainFact,
  type MinedTransaction,
  readBalances,
  readChainFacts,
  readMinedTransactions,
} from './chainLedger.js'
import { judgeAnswers } from './judgeAnswers.js'
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

/** What is looked at: some payments, and the chain from a block on. */
export interface AuditScope {
  readonly payments: readonly Payment[]
  readonly answers: readonly Answer[]
  readonly fromBlock: bigint
}

/** Everything that is known of the payments of a scope. */
export interface Books {
  readonly settlements: readonly SettlementRow[]
  readonly broadcasts: readonly BroadcastRow[]
  readonly facts: ReadonlyMap<string, ChainFact>
  readonly mined: readonly MinedTransaction[]
}

/** A broken promise; the authorization whose history explains it, where there is one. */
export interface Violation {
  readonly rule: string
  readonly authorizationId: string | null
  readonly what: string
}

/** Compares journal, chain and answers. What is found may still be on its way, except what answers show. */
export const audit = async (
  world: World,
  { payments, answers, fromBlock }: AuditScope,
): Promise<{ readonly violations: readonly Violation[]; readonly books: Books }> => {
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
  const broadcasts = await readBroadcasts(world.pool, known)
  const books = { settlements, broadcasts, facts, mined }
  return {
    books,
    violations: [
      ...judgeRows(settlements),
      ...judgeMoney(payments, books),
      ...judgeSums(sums, balances),
      ...judgeBroadcasts(books),
      ...judgeLanes(lanes, nonces),
      ...judgeAnswers(payments, answers, books),
    ],
  }
}

const judgeRows = (settlements: readonly SettlementRow[]): readonly Violation[] =>
  settlements
    .filter(({ state }) => state === 'claimed' || state === 'pending')
    .map((row) => ({
      rule: 'every row closes',
      authorizationId: row.authorization_id,
      what: `${row.id} is still ${row.state}`,
    }))

const judgeMoney = (payments: readonly Payment[], { settlements, facts }: Books): readonly Violation[] =>
  payments.flatMap(({ authorizationId }) => {
    const rule = 'money moved on chain if and only if a row is confirmed'
    const say = (what: string): Violation => ({ rule, authorizationId, what })
    const confirmed = settlements.filter(
      (row) => row.authorization_id === authorizationId && row.state === 'confirmed',
    )
    const fact = facts.get(authorizationId)
    if (fact === undefined) return [say('the chain was not asked')]
    if (fact.isUsed !== (fact.use !== null)) return [say('the token and its log contradict each other')]
    const hasMoved = fact.use?.isPaid ?? false
    if (confirmed.length > 1) return [say(`${confirmed.length} rows are confirmed`)]
    if (hasMoved && confirmed.length === 0)
      return [say(`${fact.use?.transaction} moved it, no row is confirmed`)]
    if (!hasMoved && confirmed.length > 0) return [say('a row is confirmed, nothing moved')]
    if (hasMoved && confirmed[0]?.transaction !== fact.use?.transaction) {
      return [say(`${fact.use?.transaction} moved it, the row names ${confirmed[0]?.transaction}`)]
    }
    return []
  })

const judgeSums = (
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

const judgeBroadcasts = ({ mined, broadcasts }: Books): readonly Violation[] => {
  const recorded = new Set(broadcasts.map(({ transaction }) => transaction))
  return mined
    .filter(({ transaction }) => !recorded.has(transaction))
    .map(({ transaction, signer, nonce }) => ({
      rule: 'every transaction on chain was recorded',
      authorizationId: null,
      what: `${transaction} of ${signer} with number ${nonce} is in no row of broadcasts`,
    }))
}

const judgeLanes = (lanes: readonly LaneRow[], nonces: ReadonlyMap<string, number>): readonly Violation[] =>
  lanes
    .filter(({ signer, next_nonce }) => nonces.get(signer) !== next_nonce)
    .map(({ signer, next_nonce }) => ({
      rule: 'no lane has a hole',
      authorizationId: null,
      what: `${signer} is at ${nonces.get(signer)} on chain, and its lane at ${next_nonce}`,
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
