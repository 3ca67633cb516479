import type { DirectTransfer, LookUp, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { getPrimaryStore } from './addresses.js'
import { findTransaction, type Movement, type StoreChange } from './rpc.js'

/** One request. A committed transaction is final: Aptos has no reorgs. */
export const lookUpTransaction = async (
  { transaction, asset, from, to }: LookUpQuery,
  ask: Ask,
): Promise<LookUp> => {
  const found = await findTransaction(ask, transaction)
  if (found === null) return { state: 'missing' }
  switch (found.state) {
    case 'pending':
      return { state: 'pending' }
    case 'system':
      return { state: 'failed' }
    case 'executed':
      return found.success
        ? {
            state: 'successful',
            includedAt: found.includedAt,
            transfers: listTransfers(found, { asset, accounts: [from, to] }),
          }
        : { state: 'failed' }
  }
}

interface Execution {
  readonly sender: string
  readonly movements: readonly Movement[]
  readonly changes: readonly StoreChange[]
  /** Assets of which the transaction minted or burned units. */
  readonly changedSupplies: readonly string[]
}

/** Whose stores are known without the transaction's own changes. */
interface Known {
  readonly asset: string
  readonly accounts: readonly string[]
}

interface Store {
  readonly owner: string
  readonly asset: string
}

interface Flow {
  /** Assets of stores, as far as they are known. */
  readonly assets: ReadonlyMap<string, string>
  readonly asset: string
  readonly from: string
  readonly to: string
}

/**
 * What the sender's primary stores paid into those of other accounts. Events name stores, not accounts: a store counts
 * only if it is the primary store of its owner, recomputed from the owner and the asset. The credit decides, because an
 * asset's own hooks can deposit less than was withdrawn.
 */
export const listTransfers = (
  { sender, movements, changes, changedSupplies }: Execution,
  { asset, accounts }: Known,
): readonly DirectTransfer[] => {
  const assets = new Map(
    changes.flatMap(({ store, metadata }) => (metadata === null ? [] : [[store, metadata] as const])),
  )
  const stores = listRevealedStores(assets, changes)
  for (const owner of [sender, ...accounts]) {
    const store = getPrimaryStore(owner, asset)
    stores.set(store, { owner, asset })
    assets.set(store, asset)
  }
  const net = countNetDeposits(movements)
  const parties = new Set([sender, ...accounts])
  return [...stores].flatMap(([to, { owner, asset: credited }]) => {
    // A burned withdrawal and a minted deposit are no transfer, and no event connects or separates them.
    if (owner === sender || changedSupplies.includes(credited)) return []
    const from = getPrimaryStore(sender, credited)
    const received = smaller(net.get(to) ?? 0n, -(net.get(from) ?? 0n))
    // Other accounts only explain a refusal.
    const amount =
      received > 0n && credited === asset && parties.has(owner)
        ? smaller(received, countPaid(movements, { assets, asset, from, to }))
        : received
    return amount <= 0n ? [] : [{ asset: credited, from: sender, to: owner, amount, memo: null }]
  })
}

/** Other assets and accounts, as far as the changes reveal them: they explain why a payment is refused. */
const listRevealedStores = (
  assets: ReadonlyMap<string, string>,
  changes: readonly StoreChange[],
): Map<string, Store> => {
  const owners = new Map(
    changes.flatMap(({ store, owner }) => (owner === null ? [] : [[store, owner] as const])),
  )
  const stores = new Map<string, Store>()
  for (const [store, asset] of assets) {
    const owner = owners.get(store)
    if (owner !== undefined && getPrimaryStore(owner, asset) === store) stores.set(store, { owner, asset })
  }
  return stores
}

const countNetDeposits = (movements: readonly Movement[]): ReadonlyMap<string, bigint> => {
  const net = new Map<string, bigint>()
  for (const { kind, store, amount } of movements) {
    net.set(store, (net.get(store) ?? 0n) + (kind === 'deposit' ? amount : -amount))
  }
  return net
}

/**
 * What certainly went from one store to another, by the order of events. A deposit takes from what was withdrawn before and
 * is not deposited yet; the events do not say which part of it. So `to` is credited with the sender's part only after all
 * that other stores gave, and every other deposit takes the sender's part first. A store of unknown asset may hold this one.
 */
const countPaid = (movements: readonly Movement[], { assets, asset, from, to }: Flow): bigint => {
  let ofSender = 0n
  let ofOthers = 0n
  let paid = 0n
  for (const { kind, store, amount } of movements) {
    if ((assets.get(store) ?? asset) !== asset) continue
    if (kind === 'withdraw') {
      if (store === from) ofSender += amount
      else ofOthers += amount
      continue
    }
    if (store === to) {
      const taken = smaller(amount, ofOthers)
      const credited = smaller(amount - taken, ofSender)
      ofOthers -= taken
      ofSender -= credited
      paid += credited
    } else {
      const taken = smaller(amount, ofSender)
      ofSender -= taken
      ofOthers -= smaller(amount - taken, ofOthers)
    }
  }
  return paid
}

const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right)
