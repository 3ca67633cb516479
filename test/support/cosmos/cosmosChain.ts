import { createServer } from 'node:http'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'
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

  const answer = (text: string): object => {
    const { id, method, params } = requestShape.parse(JSON.parse(text))
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
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      // JSON-RPC errors have status 200 on POST.
      const body = answer(Buffer.concat(chunks).toString('utf8'))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    } catch {
      response.writeHead(400).end('malformed request')
    }
  })
  const { url, stop } = await listenOnLoopback(server)

  let isPaused = false
  const timer = setInterval(() => {
    if (!isPaused) ledger.mine()
  }, blockTimeMs)
  timer.unref()

  return {
    url,
    ledger,
    mine: ledger.mine,
    setPaused: (isNowPaused) => {
      isPaused = isNowPaused
    },
    setIndexing: (isIndexing) => {
      state.isIndexing = isIndexing
    },
    setCatchingUp: (isCatchingUp) => {
      state.isCatchingUp = isCatchingUp
    },
    stop: async () => {
      clearInterval(timer)
      await stop()
    },
  }
}
