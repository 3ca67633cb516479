import { type Accounts, freeBandwidth } from './accounts.js'
import { judgeAdmission, type Refusal } from './admission.js'
import { createBlock, type TronBlock } from './block.js'
import { type Executed, executeTransaction } from './execution.js'
import { type Machine, startMachine } from './machine.js'
import { type DecodedTransaction, decodeTransaction } from './transaction.js'

export interface Ledger {
  readonly machine: Machine
  accounts(): Accounts
  head(): TronBlock
  /** Newest block that cannot be orphaned. */
  solid(): TronBlock
  findBlock(numberOrId: number | string): TronBlock | null
  findExecuted(id: string): Executed | null
  countWaiting(): number
  submit(hex: string): { readonly transaction: DecodedTransaction; readonly refusal: Refusal | null }
  /** Mines a block with all pending transactions that have not expired. */
  mine(): Promise<TronBlock>
  /** Orphans blocks; their transactions become pending again or are dropped. Returns their ids. */
  reorganize(depth: number, fate: 'waiting' | 'dropped'): Promise<readonly string[]>
  dropWaiting(): void
}

interface Snapshot {
  readonly root: Uint8Array
  readonly accounts: Accounts
}

/** Starts with the genesis block only. */
export const openLedger = async (options: {
  readonly solidAfter: number
  /** Last four bytes of the genesis block id. */
  readonly chainId: string
  readonly now: () => number
}): Promise<Ledger> => {
  const { solidAfter, chainId, now } = options
  const machine = await startMachine()
  const first = createBlock(null, 1_529_891_469_000, [])
  const genesis = { ...first, id: `${first.id.slice(0, -8)}${chainId}` }
  const blocks: TronBlock[] = [genesis]
  let accounts: Accounts = new Map()
  let waiting: DecodedTransaction[] = []
  const executed = new Map<string, Executed>()
  const before: Snapshot[] = []

  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }

  const head = (): TronBlock => blocks.at(-1) ?? genesis
  const solid = (): TronBlock => blocks[Math.max(0, head().number - solidAfter)] ?? genesis

  const submit = (hex: string) => {
    const transaction = decodeTransaction(hex)
    const refusal = judgeAdmission(transaction, {
      accounts,
      head: head(),
      findReference: (bytes) => {
        const low = Number.parseInt(bytes, 16)
        const number = head().number - ((head().number - low) & 0xffff)
        return blocks[number] ?? null
      },
      knows: (id) => executed.has(id) || waiting.some((each) => each.id === id),
    })
    if (refusal === null) waiting.push(transaction)
    return { transaction, refusal }
  }

  return {
    machine,
    accounts: () => accounts,
    head,
    solid,
    findBlock: (wanted) =>
      /^\d{1,12}$/.test(String(wanted))
        ? (blocks[Number(wanted)] ?? null)
        : (blocks.find(({ id }) => id === wanted) ?? null),
    findExecuted: (id) => executed.get(id) ?? null,
    countWaiting: () => waiting.length,
    submit,
    mine: () =>
      inTurn(async () => {
        before.push({ root: await machine.getRoot(), accounts: structuredClone(accounts) })
        if (before.length > solidAfter + 1) before.shift()
        const parent = head()
        const taken = waiting.filter(({ expiration }) => expiration > parent.timestamp)
        waiting = []
        const block = createBlock(parent, Math.max(now(), parent.timestamp + 1), taken)
        for (const account of accounts.values()) {
          account.bandwidthUsed = Math.max(0, account.bandwidthUsed - Math.ceil(freeBandwidth / 28_800))
        }
        const results: Executed[] = []
        for (const transaction of taken) {
          results.push(await executeTransaction(transaction, { accounts, machine, block }))
        }
        blocks.push(block)
        for (const result of results) executed.set(result.transaction.id, result)
        return block
      }),
    reorganize: (depth, fate) =>
      inTurn(async () => {
        const snapshot = before.at(-depth)
        if (snapshot === undefined || depth > head().number - solid().number) {
          throw new Error('A solidified block cannot be orphaned')
        }
        const taken = blocks.splice(-depth).flatMap(({ transactions }) => transactions)
        before.splice(-depth)
        await machine.setRoot(snapshot.root)
        accounts = snapshot.accounts
        for (const { id } of taken) executed.delete(id)
        if (fate === 'waiting') for (const { hex } of taken) submit(hex)
        return taken.map(({ id }) => id)
      }),
    dropWaiting: () => {
      waiting = []
    },
  }
}
