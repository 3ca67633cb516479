import { base58 } from '@scure/base'
import { Account, FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import type { SentTransaction } from './sentTransaction.js'
import { readTransactionError, type TransactionError } from './transactionErrors.js'

export interface StoredAccount {
  readonly lamports: bigint
  readonly data: Buffer
  readonly owner: string
  readonly executable: boolean
}

export interface Execution {
  readonly error: TransactionError | null
  readonly logs: readonly string[]
  readonly computeUnits: bigint
  /** Of successful simulations only. */
  readonly accounts: ReadonlyMap<string, StoredAccount>
}

/** Agave's virtual machine with the SPL programs. */
export interface VirtualMachine {
  read(address: string): StoredAccount | null
  write(address: string, account: StoredAccount): void
  listOwnedBy(program: string): readonly { readonly address: string; readonly account: StoredAccount }[]
  simulate(transaction: SentTransaction, options: { readonly checksSignatures: boolean }): Execution
  execute(transaction: SentTransaction): Execution
  rentFor(bytes: number): bigint
  setTime(slot: bigint, unixSeconds: number): void
}

const systemProgram = '11111111111111111111111111111111'

/** Blockhashes and replays are checked by the ledger, not here. */
export const createVirtualMachine = (): VirtualMachine => {
  const machine = new LiteSvm()
  machine.setBlockhashCheck(false)
  machine.setTransactionHistory(0n)

  const toStored = (account: Account): StoredAccount => ({
    lamports: account.lamports(),
    data: Buffer.from(account.data()),
    owner: base58.encode(account.owner()),
    executable: account.executable(),
  })
  const read = (address: string) => {
    const account = machine.getAccount(base58.decode(address))
    if (account === null || (account.lamports() === 0n && account.data().length === 0)) return null
    return toStored(account)
  }
  return {
    read,
    write: (address, { lamports, data, owner, executable }) =>
      machine.setAccount(
        base58.decode(address),
        new Account(lamports, data, base58.decode(owner), executable, 0n),
      ),
    listOwnedBy: (program) =>
      machine.getProgramAccounts(base58.decode(program)).map((found) => ({
        address: base58.encode(found.address),
        account: toStored(found.account()),
      })),
    simulate: ({ bytes, isLegacy }, { checksSignatures }) => {
      machine.setSigverify(checksSignatures)
      try {
        const result = isLegacy
          ? machine.simulateLegacyTransaction(bytes)
          : machine.simulateVersionedTransaction(bytes)
        if (result instanceof FailedTransactionMetadata) return describe(result, readTransactionError(result))
        const accounts = result
          .postAccounts()
          .map((each): [string, StoredAccount] => [base58.encode(each.address), toStored(each.account())])
        return { ...describe(result, null), accounts: new Map(accounts) }
      } finally {
        machine.setSigverify(true)
      }
    },
    execute: ({ bytes, isLegacy }) => {
      const result = isLegacy ? machine.sendLegacyTransaction(bytes) : machine.sendVersionedTransaction(bytes)
      return result instanceof FailedTransactionMetadata
        ? describe(result, readTransactionError(result))
        : describe({ meta: () => result }, null)
    },
    rentFor: (bytes) => machine.minimumBalanceForRentExemption(BigInt(bytes)),
    setTime: (slot, unixSeconds) => {
      const clock = machine.getClock()
      clock.slot = slot
      clock.unixTimestamp = BigInt(unixSeconds)
      machine.setClock(clock)
    },
  }
}

export const walletHolding = (lamports: bigint): StoredAccount => ({
  lamports,
  data: Buffer.alloc(0),
  owner: systemProgram,
  executable: false,
})

const describe = (
  result: { meta(): { logs(): string[]; computeUnitsConsumed(): bigint } },
  error: TransactionError | null,
): Execution => ({
  error,
  logs: result.meta().logs(),
  computeUnits: result.meta().computeUnitsConsumed(),
  accounts: new Map(),
})
