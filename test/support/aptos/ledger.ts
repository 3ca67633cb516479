import { pad, primaryStoreOf } from './bytes.js'
import { type Execution, executeTransaction, type FungibleStore, type Program } from './execution.js'
import { type DecodedTransaction, decodeTransaction } from './transaction.js'

interface AptosAccount {
  sequenceNumber: bigint
  authenticationKey: string
}

export interface Committed extends Execution {
  readonly version: bigint
  readonly timestampMs: number
}

/** Shown as the node's HTTP error. */
export class NodeError extends Error {
  readonly status: number
  readonly code: string
  readonly vmCode: number | null

  constructor(status: number, code: string, message: string, vmCode: number | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.vmCode = vmCode
  }
}

const vmError = (code: string, vmCode: number) =>
  new NodeError(400, 'vm_error', `Invalid transaction: Type: Validation Code: ${code}`, vmCode)

/** Accounts, fungible stores and blocks. A block commits what waits; a committed transaction is final. */
export const openLedger = ({ chainId, now }: { readonly chainId: number; readonly now: () => number }) => {
  const accounts = new Map<string, AptosAccount>()
  const assets = new Map<string, { hookFee: bigint }>()
  const stores = new Map<string, FungibleStore>()
  const programs = new Map<string, Program>()
  const committed = new Map<string, Committed>()
  let waiting: DecodedTransaction[] = []
  let head = { height: 10, version: 100n, timestampMs: now() }

  const openStore = (address: string, owner: string, asset: string): FungibleStore => {
    const known = stores.get(address)
    if (known !== undefined) return known
    const opened = { address, owner: pad(owner), asset: pad(asset), balance: 0n, isFrozen: false }
    stores.set(address, opened)
    return opened
  }
  const openPrimaryStore = (owner: string, asset: string) =>
    openStore(primaryStoreOf(owner, asset), owner, asset)

  const admit = (transaction: DecodedTransaction): void => {
    const account = accounts.get(transaction.sender)
    if (!transaction.isSigned) throw vmError('INVALID_SIGNATURE', 1)
    if (account === undefined) throw vmError('SENDING_ACCOUNT_DOES_NOT_EXIST', 7)
    if (transaction.authenticationKey !== account.authenticationKey) throw vmError('INVALID_AUTH_KEY', 2)
    if (transaction.chainId !== chainId) throw vmError('BAD_CHAIN_ID', 14)
    if (Number(transaction.expiresAtSeconds) * 1_000 <= head.timestampMs) {
      throw vmError('TRANSACTION_EXPIRED', 6)
    }
    if (transaction.sequenceNumber < account.sequenceNumber) throw vmError('SEQUENCE_NUMBER_TOO_OLD', 3)
  }

  return {
    accounts,
    assets,
    stores,
    programs,
    head: () => head,
    openStore,
    openPrimaryStore,
    countWaiting: () => waiting.length,
    submit: (bytes: Uint8Array): DecodedTransaction => {
      const transaction = decodeTransaction(bytes)
      admit(transaction)
      const isKnown = committed.has(transaction.hash) || waiting.some(({ hash }) => hash === transaction.hash)
      if (!isKnown) waiting.push(transaction)
      return transaction
    },
    find: (hash: string): DecodedTransaction | Committed | null =>
      committed.get(hash) ?? waiting.find((transaction) => transaction.hash === hash) ?? null,
    mine: (): void => {
      const timestampMs = Math.max(now(), head.timestampMs + 1)
      // The first version of a block is that of its metadata.
      head = { height: head.height + 1, version: head.version + 1n, timestampMs }
      const taken = waiting
      waiting = []
      for (const transaction of taken) {
        const account = accounts.get(transaction.sender)
        if (account?.sequenceNumber !== transaction.sequenceNumber) {
          waiting.push(transaction)
          continue
        }
        account.sequenceNumber += 1n
        const execution = executeTransaction(transaction, { stores, assets, programs, openPrimaryStore })
        head = { ...head, version: head.version + 1n }
        committed.set(transaction.hash, { ...execution, version: head.version, timestampMs })
      }
    },
  }
}

export type Ledger = ReturnType<typeof openLedger>
