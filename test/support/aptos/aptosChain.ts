import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import { pad, primaryStoreOf } from './bytes.js'
import { type Ledger, NodeError, openLedger } from './ledger.js'
import { type AddressForm, findModule, standardForm, toJsonLedger, toJsonTransaction } from './views.js'

interface AptosChainOptions {
  /** Null: mines only on `mine`. */
  readonly blockTimeMs?: number | null
  readonly chainId?: number
  /** How far its clock is behind. */
  readonly behindMs?: number
}

const metadataType = '0x1::fungible_asset::Metadata'

/** A full node of Aptos in this process, at `url` (which ends in /v1). */
export interface AptosChain {
  readonly url: string
  readonly ledger: Ledger
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  mine(count?: number): void
  /** Stops mining. */
  pause(): void
  resume(): void
  warp(milliseconds: number): void
  writeAddresses(form: AddressForm): void
  /** Its authentication key is the address, until it rotates its key. */
  createAccount(address: string): void
  rotateKey(address: string, authenticationKey: string): void
  createAsset(metadata: string): void
  mint(asset: string, to: string, amount: bigint): void
  balanceOf(asset: string, owner: string): bigint
  stop(): Promise<void>
}

/**
 * The REST API over a ledger of fungible assets in JavaScript: real BCS, transaction hashes, Ed25519 signatures,
 * sequence numbers, chain id, expiration and addresses of primary stores. It does not prove how Move code behaves, what
 * gas costs, or the wire forms of payloads other than entry functions; events, changes and error texts follow the
 * documented forms of a real node.
 */
export const startAptosChain = async ({
  blockTimeMs = 50,
  chainId = 2,
  behindMs = 0,
}: AptosChainOptions = {}): Promise<AptosChain> => {
  let offset = -behindMs
  let form = standardForm
  const ledger = openLedger({ chainId, now: () => Date.now() + offset })
  const requests: string[] = []

  const answer = async (path: string, body: Uint8Array): Promise<unknown> => {
    const [kind = '', id = '', ...rest] = path.split('/')
    if (kind === '') return toJsonLedger(chainId, ledger.head())
    if (kind === 'estimate_gas_price') {
      return { deprioritized_gas_estimate: 100, gas_estimate: 100, prioritized_gas_estimate: 150 }
    }
    if (kind === 'transactions' && id === '') return toJsonTransaction(ledger.submit(body), form)
    if (kind === 'transactions') return await findTransaction(id, rest[0] ?? '')
    if (kind === 'accounts') return findInAccount(id, rest)
    throw new NodeError(404, 'web_framework_error', 'not found')
  }

  const findTransaction = async (way: string, hash: string) => {
    const isWaited = way === 'wait_by_hash'
    for (let pauses = 0; isWaited && pauses < 100; pauses++) {
      const found = ledger.find(hash)
      if (found !== null && 'version' in found) break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const found = ledger.find(hash.toLowerCase())
    if (found !== null) return toJsonTransaction(found, form)
    throw new NodeError(404, 'transaction_not_found', `Transaction not found by Transaction hash(${hash})`)
  }

  const findInAccount = (address: string, [kind, id = '']: readonly string[]) => {
    switch (kind) {
      case undefined: {
        const account = ledger.accounts.get(pad(address))
        if (account === undefined) {
          throw new NodeError(404, 'account_not_found', `Account not found by Address(${address})`)
        }
        return {
          sequence_number: String(account.sequenceNumber),
          authentication_key: account.authenticationKey,
        }
      }
      case 'module': {
        const module = findModule(address, id)
        if (module === null) throw new NodeError(404, 'module_not_found', `Module not found: ${id}`)
        return module
      }
      case 'balance':
        return Number(ledger.stores.get(primaryStoreOf(address, id))?.balance ?? 0n)
      case 'resource':
        if (id === metadataType && ledger.assets.has(pad(address))) {
          return {
            type: id,
            data: { decimals: 6, icon_uri: '', name: 'Token', project_uri: '', symbol: 'TOKEN' },
          }
        }
        throw new NodeError(404, 'resource_not_found', `Resource not found by Address(${address}), ${id}`)
      default:
        throw new NodeError(404, 'web_framework_error', 'not found')
    }
  }

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://node')
    requests.push(pathname)
    const body = await buffer(request)
    const send = (status: number, answered: unknown) => {
      const { height, version, timestampMs } = ledger.head()
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-aptos-chain-id': String(chainId),
        'x-aptos-ledger-version': String(version),
        'x-aptos-ledger-timestampusec': `${timestampMs}000`,
        'x-aptos-ledger-oldest-version': '0',
        'x-aptos-oldest-block-height': '0',
        'x-aptos-block-height': String(height),
        'x-aptos-epoch': '1',
      })
      response.end(JSON.stringify(answered))
    }
    try {
      const [, path] = /^\/v1\/?(.*)$/.exec(decodeURIComponent(pathname)) ?? []
      if (path === undefined) throw new NodeError(404, 'web_framework_error', 'not found')
      send(request.method === 'POST' ? 202 : 200, await answer(path, Uint8Array.from(body)))
    } catch (error) {
      const { message, status, code, vmCode } =
        error instanceof NodeError
          ? error
          : new NodeError(400, 'invalid_input', error instanceof Error ? error.message : String(error))
      send(status, { message, error_code: code, vm_error_code: vmCode })
    }
  })
  const { url, stop } = await listenOnLoopback(server)

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  return {
    url: `${url}/v1`,
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
    writeAddresses: (chosen) => {
      form = chosen
    },
    createAccount: (address) => {
      ledger.accounts.set(pad(address), { sequenceNumber: 0n, authenticationKey: pad(address) })
    },
    rotateKey: (address, authenticationKey) => {
      const account = ledger.accounts.get(pad(address))
      if (account !== undefined) account.authenticationKey = authenticationKey
    },
    createAsset: (metadata) => void ledger.assets.set(pad(metadata), { hookFee: 0n }),
    mint: (asset, to, amount) => {
      ledger.openPrimaryStore(to, asset).balance += amount
    },
    balanceOf: (asset, owner) => ledger.stores.get(primaryStoreOf(owner, asset))?.balance ?? 0n,
    stop: async () => {
      blocks.stop()
      await stop()
    },
  }
}
