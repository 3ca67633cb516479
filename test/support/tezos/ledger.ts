import { hashText, keyHashOf } from './base58.js'
import { type Account, applyOperation, type Contract, type Receipt, type State } from './execution.js'
import { type DecodedOperation, decodeOperation } from './operation.js'

export interface Included {
  readonly operation: DecodedOperation
  readonly receipts: readonly Receipt[]
}

export interface Block {
  readonly hash: string
  readonly level: number
  readonly predecessor: string
  readonly timeMs: number
  readonly operations: readonly Included[]
}

/** An error of the protocol, as octez reports it. */
export class ProtocolError extends Error {}

interface LedgerOptions {
  readonly now: () => number
  /** Blocks of the past, one each six seconds. */
  readonly history: number
}

const secondMs = 1_000
const blockSeconds = 6
const maxBranchDepth = 240

/** Accounts, contracts and blocks. */
export const openLedger = ({ now, history }: LedgerOptions) => {
  let state: State = { accounts: new Map<string, Account>(), contracts: new Map<string, Contract>() }
  let waiting: DecodedOperation[] = []
  const blocks: Block[] = []
  const before: State[] = []
  let forks = 0

  const head = (): Block => {
    const block = blocks.at(-1)
    if (block === undefined) throw new Error('There is no block')
    return block
  }

  const push = (timeMs: number, operations: readonly Included[]) => {
    const level = blocks.length
    const predecessor = blocks.at(-1)?.hash ?? hashText('block', 'before genesis')
    const hash = hashText('block', `${level} ${forks} ${predecessor}`)
    // Blocks have whole seconds.
    blocks.push({ hash, level, predecessor, timeMs: Math.floor(timeMs / secondMs) * secondMs, operations })
  }
  for (let age = history; age > 0; age--) push(now() - age * blockSeconds * secondMs, [])
  push(now(), [])

  const submit = (hex: string): string => {
    const operation = decodeOperation(hex)
    const [first] = operation.contents
    const account = state.accounts.get(first?.source ?? '')
    if (first === undefined || account === undefined)
      throw new ProtocolError('implicit.empty_implicit_contract')
    const publicKey = account.publicKey ?? operation.contents.find(({ kind }) => kind === 'reveal')?.publicKey
    if (publicKey === undefined) throw new ProtocolError('contract.unrevealed_key')
    if (keyHashOf(publicKey) !== first.source) throw new ProtocolError('contract.manager.inconsistent_hash')
    if (!operation.isSignedBy(publicKey)) throw new ProtocolError('operation.invalid_signature')
    const branch = blocks.find(({ hash }) => hash === operation.branch)
    if (branch === undefined || head().level - branch.level > maxBranchDepth) {
      throw new ProtocolError('validate.operation.outdated_branch')
    }
    if (BigInt(first.counter) !== account.counter + 1n)
      throw new ProtocolError('contract.counter_in_the_past')
    if (waiting.some(({ contents }) => contents[0]?.source === first.source)) {
      throw new ProtocolError('validate.operation.conflict')
    }
    waiting.push(operation)
    return operation.hash
  }

  return {
    state: () => state,
    blocks: (): readonly Block[] => blocks,
    head,
    countWaiting: () => waiting.length,
    submit,
    mine: () => {
      before.push(structuredClone(state))
      const taken = waiting
      waiting = []
      const operations = taken.map((operation) => ({ operation, receipts: applyOperation(state, operation) }))
      push(Math.max(now(), head().timeMs), operations)
    },
    /** Orphans the newest blocks; their operations wait again or are dropped. Others follow in their place. */
    reorganize: (depth: number, fate: 'waiting' | 'dropped') => {
      const orphaned = blocks.splice(-depth)
      const snapshot = before.at(-depth)
      if (snapshot === undefined) throw new Error('The blocks of the past cannot be orphaned')
      before.splice(-depth)
      state = snapshot
      forks += 1
      if (fate === 'waiting')
        waiting = orphaned.flatMap(({ operations }) => operations.map(({ operation }) => operation))
    },
  }
}

export type Ledger = ReturnType<typeof openLedger>
