import type { DirectTransfer } from '../../../schemes/exactDirect/directChain.js'
import { getPrimaryStore } from '../encoding/address.js'
import type { Movement, StoreChange } from '../rpc/wireShapes.js'

interface Execution {
  readonly sender: string
  readonly movements: readonly Movement[]
  readonly changes: readonly StoreChange[]
}

/** Whose stores are known without the transaction's own changes. */
interface Known {
  readonly asset: string
  readonly accounts: readonly string[]
}

interface Store {
  readonly owner: string
  readonly asset: string
  withdrawn: bigint
  deposited: bigint
}

/**
 * What the sender's primary stores paid into those of other accounts. Events name stores, not accounts: a store counts
 * only if it is the primary store of its owner, recomputed from the owner and the asset. The credit decides, because an
 * asset's own hooks can deposit less than was withdrawn; it counts up to what the sender's store gave.
 */
export const listTransfers = (
  { sender, movements, changes }: Execution,
  { asset, accounts }: Known,
): readonly DirectTransfer[] => {
  const stores = new Map<string, Store>()
  for (const owner of [sender, ...accounts]) {
    stores.set(getPrimaryStore(owner, asset), { owner, asset, withdrawn: 0n, deposited: 0n })
  }
  addRevealedStores(stores, changes)
  for (const { kind, store, amount } of movements) {
    const found = stores.get(store)
    if (found === undefined) continue
    if (kind === 'withdraw') found.withdrawn += amount
    else found.deposited += amount
  }

  const paid = new Map<string, bigint>()
  for (const store of stores.values()) {
    if (store.owner === sender) paid.set(store.asset, store.withdrawn)
  }
  return [...stores.values()].flatMap(({ owner, asset: credited, withdrawn, deposited }) => {
    const amount = smaller(deposited - withdrawn, paid.get(credited) ?? 0n)
    if (owner === sender || amount <= 0n) return []
    return [{ asset: credited, from: sender, to: owner, amount, memo: null }]
  })
}

/** Other assets and accounts, as far as the changes reveal them: they explain why a payment is refused. */
const addRevealedStores = (stores: Map<string, Store>, changes: readonly StoreChange[]): void => {
  const owners = new Map<string, string>()
  const assets = new Map<string, string>()
  for (const { store, owner, metadata } of changes) {
    if (owner !== null) owners.set(store, owner)
    if (metadata !== null) assets.set(store, metadata)
  }
  for (const [store, asset] of assets) {
    const owner = owners.get(store)
    if (owner === undefined || stores.has(store) || getPrimaryStore(owner, asset) !== store) continue
    stores.set(store, { owner, asset, withdrawn: 0n, deposited: 0n })
  }
}

const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right)
