import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { type ContractName, getArtifact } from '../contracts/artifacts.js'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import { openAccount, type Permission } from './accounts.js'
import { createTronKey, selectorOf, toBase58, toHexAddress } from './keys.js'
import { type Ledger, openLedger } from './ledger.js'
import { createRoutes } from './routes.js'

export interface TronChainOptions {
  /** Null: mines only on `mine`. */
  readonly blockTimeMs?: number | null
  /** Confirmations after which a block is solid. */
  readonly solidAfter?: number
  /** Last four bytes of the genesis block id; default Nile. */
  readonly chainId?: string
}

/** A TRON node in this process over a real virtual machine. Accepts addresses in either form. */
export interface TronChain {
  readonly url: string
  readonly ledger: Ledger
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  mine(count?: number): Promise<void>
  /** Stops mining. */
  pause(): void
  resume(): void
  warp(milliseconds: number): void
  /** Creates the account if it does not exist. */
  fund(address: string, sun: number): void
  stake(address: string, sun: number): void
  setOwnerPermission(address: string, permission: Permission): void
  deploy(name: ContractName): Promise<string>
  /** Calls a contract between two blocks. */
  send(contract: string, signature: string, words: readonly (string | bigint)[]): Promise<void>
  mint(token: string, to: string, amount: bigint): Promise<void>
  balanceOf(token: string, address: string): Promise<bigint>
  stop(): Promise<void>
}

const anyone = createTronKey('11'.repeat(32))

const toWord = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : toHexAddress(value).slice(2)).padStart(64, '0')

const plentyOfEnergy = 100_000_000

/** Starts with a few blocks, because a transaction references one. */
export const startTronChain = async ({
  blockTimeMs = 100,
  solidAfter = 19,
  chainId = 'cd8690dc',
}: TronChainOptions = {}): Promise<TronChain> => {
  let offset = 0
  const ledger = await openLedger({ solidAfter, chainId, now: () => Date.now() + offset })
  const mine = async (count = 1) => {
    for (let index = 0; index < count; index++) await ledger.mine()
  }
  await mine(3)

  const routes = createRoutes(ledger)
  const requests: string[] = []
  const answer = async (path: string, bodyText: string): Promise<unknown> => {
    const [, api, name = ''] = /^\/(wallet|walletsolidity)\/([a-z0-9]+)$/.exec(path) ?? []
    const route = routes[name]
    if (api === undefined || route === undefined) return { Error: 'class java.lang.NullPointerException' }
    const body = z.record(z.string(), z.unknown()).parse(bodyText === '' ? {} : JSON.parse(bodyText))
    return await route(body, api === 'walletsolidity')
  }
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://node')
    requests.push(url.pathname)
    const posted = await text(request)
    const asked = posted === '' ? JSON.stringify(Object.fromEntries(url.searchParams)) : posted
    // Nodes report errors with HTTP 200.
    const answered = await answer(url.pathname, asked).catch((error: unknown) => ({
      Error: `class java.lang.IllegalArgumentException : ${error instanceof Error ? error.message : error}`,
    }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered))
  })
  const { url: origin, stop } = await listenOnLoopback(server)

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  const call = (contract: string, data: string, isKept: boolean) =>
    ledger.machine.call(
      {
        from: anyone.hexAddress,
        to: toHexAddress(contract),
        data,
        energyLimit: plentyOfEnergy,
        time: ledger.head().timestamp,
      },
      isKept,
    )
  const send = async (contract: string, signature: string, words: readonly (string | bigint)[]) => {
    const data = `${selectorOf(signature)}${words.map(toWord).join('')}`
    const { outcome } = await call(contract, data, true)
    if (outcome !== 'SUCCESS') throw new Error(`${signature} failed: ${outcome}`)
  }
  const accountAt = (address: string) => openAccount(ledger.accounts(), toHexAddress(address))

  return {
    url: origin,
    ledger,
    requests,
    mine,
    pause: blocks.pause,
    resume: blocks.resume,
    warp: (milliseconds) => {
      offset += milliseconds
    },
    fund: (address, sun) => {
      accountAt(address).balance += sun
    },
    stake: (address, sun) => {
      accountAt(address).staked += sun
    },
    setOwnerPermission: (address, permission) => {
      accountAt(address).owner = permission
    },
    deploy: async (name) =>
      toBase58(await ledger.machine.deploy(anyone.hexAddress, getArtifact(name).bytecode)),
    send,
    mint: (token, to, amount) => send(token, 'mint(address,uint256)', [to, amount]),
    balanceOf: async (token, address) => {
      const { returned } = await call(token, `${selectorOf('balanceOf(address)')}${toWord(address)}`, false)
      return BigInt(`0x${returned}`)
    },
    stop: async () => {
      blocks.stop()
      await stop()
    },
  }
}
