import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import { type Contract, createToken, type TokenContract } from './contracts.js'
import { createLedger, type Ledger, NearError } from './ledger.js'
import { createMethods } from './methods.js'

/**
 * A NEAR node: its JSON-RPC methods, borsh transactions with real hashes, ed25519 signatures and access-key nonces,
 * asynchronous receipts one block apart, NEP-141 tokens, NEP-366 relaying, and finality that tests can hold back.
 *
 * It does not prove: a node's limits, gas and storage costs, several shards, light-client proofs, secp256k1 keys, how long
 * nodes keep transactions, or that its JSON has every field of a real node. Contracts are TypeScript, not WebAssembly.
 */
export interface NearChain {
  readonly url: string
  readonly ledger: Ledger
  /** Adds an account; null: without keys. */
  addAccount(id: string, publicKey: string | null, contract?: Contract): void
  addToken(id: string): TokenContract
  /** Adds blocks. */
  mine(count?: number): void
  /** While paused, only `mine` adds blocks. */
  setPaused(isPaused: boolean): void
  /** The next request of the method gets this `error`. */
  failNext(method: string, error: object): void
  /** Requests by method. */
  count(method: string): number
  stop(): Promise<void>
}

const requestShape = z.object({ id: z.unknown(), method: z.string(), params: z.unknown() })

interface NearChainOptions {
  readonly chainId?: string
  /** Null: blocks are only added by `mine`. */
  readonly blockTimeMs?: number | null
  /** How long a request waits for the status that it names; nearcore: 10 s. */
  readonly pollingTimeoutMs?: number
}

export const startNearChain = async ({
  chainId = 'testnet',
  blockTimeMs = 10,
  pollingTimeoutMs = 10_000,
}: NearChainOptions = {}): Promise<NearChain> => {
  const ledger = createLedger(Date.now)
  const methods = createMethods(ledger, { chainId, pollingTimeoutMs })
  const counts = new Map<string, number>()
  const failures = new Map<string, object>()

  const answer = async (asked: string): Promise<object> => {
    // Nodes refuse batches.
    const request = requestShape.safeParse(JSON.parse(asked))
    if (!request.success)
      return { jsonrpc: '2.0', id: null, error: new NearError('PARSE_ERROR', 'batch').body }
    const { id, method, params } = request.data
    counts.set(method, (counts.get(method) ?? 0) + 1)
    const failure = failures.get(method)
    if (failures.delete(method)) return { jsonrpc: '2.0', id, error: failure }
    try {
      const run = methods[method]
      if (run === undefined) throw new NearError('METHOD_NOT_FOUND', method, 'REQUEST_VALIDATION_ERROR')
      return { jsonrpc: '2.0', id, result: await run(params) }
    } catch (error) {
      const { body } = error instanceof NearError ? error : new NearError('INTERNAL_ERROR', String(error))
      return { jsonrpc: '2.0', id, error: body }
    }
  }

  const server = createServer(async (request, response) => {
    const body = await answer(await text(request))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const { url, stop } = await listenOnLoopback(server)

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  const addAccount = (id: string, publicKey: string | null, contract: Contract | null = null) => {
    const keys = new Map(
      publicKey === null ? [] : [[publicKey, { nonce: 0n, permission: 'FullAccess' as const }]],
    )
    ledger.accounts.set(id, { contract, keys })
  }

  return {
    url,
    ledger,
    addAccount,
    addToken: (id) => {
      const token = createToken()
      addAccount(id, null, token)
      return token
    },
    mine: ledger.mine,
    setPaused: blocks.setPaused,
    failNext: (method, error) => {
      failures.set(method, error)
    },
    count: (method) => counts.get(method) ?? 0,
    stop: async () => {
      blocks.stop()
      await stop()
    },
  }
}
