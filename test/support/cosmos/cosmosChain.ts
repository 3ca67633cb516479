import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import { createLedger, type Ledger } from './ledger.js'
import { CometError, createMethods } from './methods.js'

/**
 * A CometBFT node (0.38) of a chain with the Cosmos SDK's bank and authz (0.50): JSON-RPC over POST, real TxRaw bytes and
 * hashes, secp256k1 signatures in SIGN_MODE_DIRECT, sequences, fees, RFC 6962 trees with proofs, blocks that are final.
 *
 * It does not prove: the validators' signatures and the hash of a real header, real gas, other modules and their send
 * restrictions, amino signatures, multi-signature accounts, or how long nodes keep transactions.
 */
export interface CosmosChain {
  readonly url: string
  readonly ledger: Ledger
  /** Adds blocks. */
  mine(count?: number): void
  setPaused(isPaused: boolean): void
  /** Whether the node can look up transactions by hash. */
  setIndexing(isIndexing: boolean): void
  setCatchingUp(isCatchingUp: boolean): void
  stop(): Promise<void>
}

const requestShape = z.object({ id: z.unknown(), method: z.string(), params: z.unknown() })

interface CosmosChainOptions {
  readonly chainId?: string
  readonly prefix?: string
  readonly blockTimeMs?: number
}

export const startCosmosChain = async ({
  chainId = 'grand-1',
  prefix = 'noble',
  blockTimeMs = 10,
}: CosmosChainOptions = {}): Promise<CosmosChain> => {
  const ledger = createLedger({ chainId, prefix, now: Date.now })
  const state = { isIndexing: true, isCatchingUp: false }
  const methods = createMethods(ledger, state)

  const answer = (asked: string): object => {
    const { id, method, params } = requestShape.parse(JSON.parse(asked))
    const run = methods[method]
    if (run === undefined)
      return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
    try {
      return { jsonrpc: '2.0', id, result: run(params) }
    } catch (error) {
      const data = error instanceof CometError ? error.message : String(error)
      return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'Internal error', data } }
    }
  }

  const server = createServer(async (request, response) => {
    try {
      // JSON-RPC errors have status 200 on POST.
      const body = answer(await text(request))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    } catch {
      response.writeHead(400).end('malformed request')
    }
  })
  const { url, stop } = await listenOnLoopback(server)

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  return {
    url,
    ledger,
    mine: ledger.mine,
    setPaused: blocks.setPaused,
    setIndexing: (isIndexing) => {
      state.isIndexing = isIndexing
    },
    setCatchingUp: (isCatchingUp) => {
      state.isCatchingUp = isCatchingUp
    },
    stop: async () => {
      blocks.stop()
      await stop()
    },
  }
}
