import { BcsReader, toHex } from './bytes.js'
import type { DecodedTransaction } from './transaction.js'

export interface FungibleStore {
  readonly address: string
  owner: string
  readonly asset: string
  balance: bigint
  isFrozen: boolean
}

/** Of the module `0x1::fungible_asset`, unless a program emits another type. */
interface EmittedEvent {
  readonly type: string
  readonly store: string
  readonly amount: bigint
}

export interface Execution {
  readonly transaction: DecodedTransaction
  readonly isSuccessful: boolean
  readonly vmStatus: string
  readonly events: readonly EmittedEvent[]
  readonly touched: readonly FungibleStore[]
  /** Assets of which units were minted or burned. */
  readonly changedSupplies: readonly string[]
}

/** What Move code can do here. */
interface Machine {
  readonly sender: string
  withdraw(store: FungibleStore, amount: bigint): void
  deposit(store: FungibleStore, amount: bigint): void
  emit(event: EmittedEvent): void
  /** Mints what was deposited, or burns what was withdrawn; no event says so. */
  changeSupply(asset: string): void
  primaryStore(owner: string, asset: string): FungibleStore
}

/** An entry function of a test's own module. */
export type Program = (machine: Machine, transaction: DecodedTransaction) => void

interface World {
  readonly stores: Map<string, FungibleStore>
  readonly assets: ReadonlyMap<string, { readonly hookFee: bigint }>
  readonly programs: ReadonlyMap<string, Program>
  openPrimaryStore(owner: string, asset: string): FungibleStore
}

class MoveAbort extends Error {}

const readAddress = (bytes: Uint8Array | undefined): string => toHex(bytes ?? new Uint8Array(32))
const readU64 = (bytes: Uint8Array | undefined): bigint =>
  new BcsReader(bytes ?? new Uint8Array(8)).unsigned(8)

export const executeTransaction = (transaction: DecodedTransaction, world: World): Execution => {
  const before = new Map([...world.stores].map(([address, store]) => [address, { ...store }]))
  const events: EmittedEvent[] = []
  const touched = new Set<FungibleStore>()
  const changedSupplies = new Set<string>()
  const move = (kind: 'Withdraw' | 'Deposit', store: FungibleStore, amount: bigint) => {
    if (store.isFrozen) throw new MoveAbort('0x1::fungible_asset: ESTORE_IS_FROZEN(0x50003)')
    touched.add(store)
    events.push({ type: `0x1::fungible_asset::${kind}`, store: store.address, amount })
  }
  const machine: Machine = {
    sender: transaction.sender,
    withdraw: (store, amount) => {
      if (store.balance < amount) throw new MoveAbort('0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004)')
      move('Withdraw', store, amount)
      store.balance -= amount
    },
    deposit: (store, amount) => {
      // A dispatchable asset's hook keeps part of what is deposited.
      const credited = amount - (world.assets.get(store.asset)?.hookFee ?? 0n)
      move('Deposit', store, credited)
      store.balance += credited
    },
    emit: (event) => void events.push(event),
    changeSupply: (asset) => void changedSupplies.add(asset),
    primaryStore: world.openPrimaryStore,
  }
  try {
    run(machine, transaction, world)
  } catch (error) {
    if (!(error instanceof MoveAbort)) throw error
    world.stores.clear()
    for (const [address, store] of before) world.stores.set(address, store)
    const vmStatus = `Move abort in ${error.message}`
    return { transaction, isSuccessful: false, vmStatus, events: [], touched: [], changedSupplies: [] }
  }
  // As they are now: later transactions change them.
  const written = [...touched].map((store) => ({ ...store }))
  return {
    transaction,
    isSuccessful: true,
    vmStatus: 'Executed successfully',
    events,
    touched: written,
    changedSupplies: [...changedSupplies],
  }
}

const run = (machine: Machine, transaction: DecodedTransaction, world: World): void => {
  const [first, second, third] = transaction.arguments
  const pay = (asset: string, to: string, amount: bigint) => {
    if (!world.assets.has(asset)) throw new MoveAbort('0x1::object: EOBJECT_DOES_NOT_EXIST(0x60002)')
    machine.withdraw(machine.primaryStore(machine.sender, asset), amount)
    machine.deposit(machine.primaryStore(to, asset), amount)
  }
  switch (transaction.function) {
    case '0x1::primary_fungible_store::transfer':
    case '0x1::aptos_account::transfer_fungible_assets':
      pay(readAddress(first), readAddress(second), readU64(third))
      return
    case '0x1::aptos_account::batch_transfer_fungible_assets': {
      const recipients = new BcsReader(second ?? new Uint8Array())
      const amounts = new BcsReader(third ?? new Uint8Array())
      const listed = recipients.list(() => recipients.address())
      const paid = amounts.list(() => amounts.unsigned(8))
      for (const [index, to] of listed.entries()) pay(readAddress(first), to, paid[index] ?? 0n)
      return
    }
    case '0x1::fungible_asset::transfer': {
      const [from, to] = [world.stores.get(readAddress(first)), world.stores.get(readAddress(second))]
      if (from === undefined || to === undefined) {
        throw new MoveAbort('0x1::object: EOBJECT_DOES_NOT_EXIST(0x60002)')
      }
      if (from.owner !== machine.sender) {
        throw new MoveAbort('0x1::fungible_asset: ENOT_STORE_OWNER(0x50008)')
      }
      machine.withdraw(from, readU64(third))
      machine.deposit(to, readU64(third))
      return
    }
    default: {
      const program = world.programs.get(transaction.function)
      if (program === undefined) throw new MoveAbort('LINKER_ERROR')
      program(machine, transaction)
    }
  }
}
