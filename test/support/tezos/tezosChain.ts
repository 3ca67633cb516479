import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import type { Fa2 } from './execution.js'
import { type Ledger, openLedger, ProtocolError } from './ledger.js'
import { createOctezRoutes } from './octezRoutes.js'
import { createTzktRoutes } from './tzktRoutes.js'

export interface TezosChainOptions {
  /** Null: mines only on `mine`. */
  readonly blockTimeMs?: number | null
  /** Default Ghostnet. */
  readonly chainId?: string
  /** Blocks before the first of our own, one each six seconds. */
  readonly history?: number
  /** How far its clock is behind. */
  readonly behindMs?: number
}

/** An octez node and an indexer like TzKT in this process. */
export interface TezosChain {
  readonly url: string
  readonly tzktUrl: string
  readonly ledger: Ledger
  /** Paths of all requests to either, in order. */
  readonly requests: readonly string[]
  mine(count?: number): void
  /** Stops mining. */
  pause(): void
  resume(): void
  warp(milliseconds: number): void
  createAccount(address: string): void
  createToken(contract: string): void
  createRouter(contract: string, token: string): void
  addOperator(token: string, owner: string, operator: string): void
  mint(token: string, to: string, amount: bigint, tokenId?: number): void
  balanceOf(token: string, owner: string, tokenId?: number): bigint
  stop(): Promise<void>
}

const serverError = 500
const notFound = 404

/**
 * Octez' RPC and TzKT's API over FA2 contracts in JavaScript: real binary operations and Micheline, operation hashes,
 * Ed25519 signatures with their watermark, counters, branches, atomic batches, calls between contracts and reorgs. It does
 * not prove how Michelson code or a real indexer behaves, knows only reveals and transactions of tz1 accounts, and charges
 * no fees.
 */
export const startTezosChain = async ({
  blockTimeMs = 50,
  chainId = 'NetXnHfVqm9iesp',
  history = 4,
  behindMs = 0,
}: TezosChainOptions = {}): Promise<TezosChain> => {
  let offset = -behindMs
  const ledger = openLedger({ now: () => Date.now() + offset, history })
  const requests: string[] = []

  const listen = async (answer: (path: string, body: string, query: URLSearchParams) => unknown) => {
    const server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node')
      requests.push(pathname)
      const posted = await text(request)
      const send = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      try {
        const found = answer(pathname, posted, searchParams)
        send(found === undefined ? notFound : 200, found === undefined ? [] : found)
      } catch (error) {
        const isKnown = error instanceof ProtocolError
        const id = isKnown ? `proto.024-PtTALLiN.${error.message}` : 'failure'
        send(serverError, [{ kind: isKnown ? 'temporary' : 'permanent', id, msg: String(error) }])
      }
    })
    return await listenOnLoopback(server)
  }
  const [octez, tzkt] = await Promise.all([
    listen(createOctezRoutes(ledger, chainId)),
    listen(createTzktRoutes(ledger, chainId)),
  ])

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  const tokenAt = (contract: string): Fa2 => {
    const found = ledger.state().contracts.get(contract)
    if (found?.kind !== 'fa2') throw new Error(`${contract} is no token`)
    return found
  }

  return {
    url: octez.url,
    tzktUrl: tzkt.url,
    ledger,
    requests,
    mine: (count = 1) => {
      for (let index = 0; index < count; index++) ledger.mine()
    },
    pause: blocks.pause,
    resume: blocks.resume,
    warp: (milliseconds) => {
      offset += milliseconds
    },
    createAccount: (address) => {
      ledger.state().accounts.set(address, { counter: 0n, publicKey: null })
    },
    createToken: (contract) => {
      const token = { kind: 'fa2', balances: new Map(), operators: new Set<string>() } as const
      ledger.state().contracts.set(contract, token)
    },
    createRouter: (contract, token) => {
      ledger.state().contracts.set(contract, { kind: 'router', token })
    },
    addOperator: (token, owner, operator) => {
      tokenAt(token).operators.add(`${owner}>${operator}`)
    },
    mint: (token, to, amount, tokenId = 0) => {
      const { balances } = tokenAt(token)
      balances.set(`${to}:${tokenId}`, (balances.get(`${to}:${tokenId}`) ?? 0n) + amount)
    },
    balanceOf: (token, owner, tokenId = 0) => tokenAt(token).balances.get(`${owner}:${tokenId}`) ?? 0n,
    stop: async () => {
      blocks.stop()
      await Promise.all([octez.stop(), tzkt.stop()])
    },
  }
}
