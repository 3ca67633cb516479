import { addressOf, type Micheline, numberOf, partsOf, readTransfers } from './micheline.js'
import type { Content, DecodedOperation, Parameters } from './operation.js'

export interface Fa2 {
  readonly kind: 'fa2'
  /** By `owner:token id`. */
  readonly balances: Map<string, bigint>
  /** `owner>operator`. */
  readonly operators: Set<string>
}

/** Calls the token's `transfer` for its caller: a call between contracts. */
interface Router {
  readonly kind: 'router'
  readonly token: string
}

export type Contract = Fa2 | Router
type Status = 'applied' | 'failed' | 'backtracked' | 'skipped'

interface InternalCall {
  readonly source: string
  readonly destination: string
  readonly nonce: number
  readonly parameters: Parameters
  status: Status
}

export interface Receipt {
  readonly content: Content
  status: Status
  readonly internals: InternalCall[]
  readonly error: string | null
}

export interface Account {
  counter: bigint
  publicKey: Uint8Array | null
}

export interface State {
  readonly accounts: Map<string, Account>
  readonly contracts: Map<string, Contract>
}

/** With error `FAILWITH` of a contract. */
class Rejection extends Error {}

const run = (
  state: State,
  caller: string,
  destination: string,
  parameters: Parameters,
  receipt: Receipt,
): void => {
  const contract = state.contracts.get(destination)
  if (contract === undefined) throw new Rejection('NO_CONTRACT')
  if (contract.kind === 'router') {
    const [from, to, amount] = partsOf(parameters.value)
    const value: Micheline = [
      {
        prim: 'Pair',
        args: [
          { string: addressOf(from) },
          [
            {
              prim: 'Pair',
              args: [
                { string: addressOf(to) },
                { prim: 'Pair', args: [{ int: '0' }, { int: String(numberOf(amount)) }] },
              ],
            },
          ],
        ],
      },
    ]
    const inner = { entrypoint: 'transfer', value }
    const nonce = receipt.internals.length
    const call: InternalCall = {
      source: destination,
      destination: contract.token,
      nonce,
      parameters: inner,
      status: 'applied',
    }
    receipt.internals.push(call)
    run(state, destination, contract.token, inner, receipt)
    return
  }
  if (parameters.entrypoint === 'check') return
  if (parameters.entrypoint !== 'transfer') throw new Rejection('BAD_ENTRYPOINT')
  for (const { from, transfers } of readTransfers(parameters.value)) {
    if (from !== caller && !contract.operators.has(`${from}>${caller}`))
      throw new Rejection('FA2_NOT_OPERATOR')
    for (const { to, tokenId, amount } of transfers) {
      const held = contract.balances.get(`${from}:${tokenId}`) ?? 0n
      if (held < amount) throw new Rejection('FA2_INSUFFICIENT_BALANCE')
      contract.balances.set(`${from}:${tokenId}`, held - amount)
      const received = contract.balances.get(`${to}:${tokenId}`) ?? 0n
      contract.balances.set(`${to}:${tokenId}`, received + amount)
    }
  }
}

const copyBalances = ({ contracts }: State) =>
  [...contracts].flatMap(([address, contract]) =>
    contract.kind === 'fa2' ? [{ address, balances: new Map(contract.balances) }] : [],
  )

/** A group is atomic: one failed content backtracks what came before, and what follows is skipped. */
export const applyOperation = (state: State, operation: DecodedOperation): readonly Receipt[] => {
  const before = copyBalances(state)
  const receipts: Receipt[] = []
  let isFailed = false
  for (const content of operation.contents) {
    const account = state.accounts.get(content.source)
    if (account === undefined) throw new Error('The source has no account')
    account.counter = BigInt(content.counter)
    if (content.publicKey !== undefined) account.publicKey = content.publicKey
    const receipt: Receipt = { content, status: 'applied', internals: [], error: null }
    if (isFailed) {
      receipts.push({ ...receipt, status: 'skipped' })
      continue
    }
    try {
      const { destination, parameters } = content
      if (destination !== undefined && parameters !== undefined) {
        run(state, content.source, destination, parameters, receipt)
      }
      receipts.push(receipt)
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      isFailed = true
      for (const call of receipt.internals) call.status = 'failed'
      for (const earlier of receipts) {
        if (earlier.content.kind !== 'reveal') earlier.status = 'backtracked'
        for (const call of earlier.internals) call.status = 'backtracked'
      }
      receipts.push({ ...receipt, status: 'failed', error: error.message })
    }
  }
  if (isFailed) {
    for (const { address, balances } of before) {
      const contract = state.contracts.get(address)
      if (contract?.kind !== 'fa2') continue
      contract.balances.clear()
      for (const [key, amount] of balances) contract.balances.set(key, amount)
    }
  }
  return receipts
}
