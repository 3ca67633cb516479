import { ApiPromise, WsProvider } from '@polkadot/api'
import type { AccountInfo } from '@polkadot/types/interfaces'
import { z } from 'zod'
import { buildBlock } from './buildBlock.js'
import { type HexString, loadChopsticks, openRuntime } from './genesis.js'
import { type AnswerCall, startRpcServer } from './rpcServer.js'
import { usdc, usdt, westendGenesis } from './westend.js'

/**
 * The real runtime of Asset Hub (statemine 900, of 2022, from the published chain spec) in this process: its own signature
 * checks, nonces, fees and events, read by JSON-RPC.
 *
 * Does not prove: consensus (blocks are built on request, and we say which are final), blocks from other authors, limits
 * and pruning of a real node, and today's metadata, which `decoder.test.ts` decodes from a recording instead.
 */
export interface AssetHub {
  /** By HTTP. */
  readonly url: string
  /** The ordinary client library, by websocket. */
  readonly api: ApiPromise
  /** Methods of all HTTP and websocket requests, in order. */
  readonly requests: readonly string[]
  readonly genesisHash: string
  /** Adds it to the next block without the validation of a node, which would compile the runtime once more. */
  submit(extrinsic: HexString): Promise<void>
  /** Builds a block of everything submitted; its hash. Rejects if the runtime does not apply an extrinsic. */
  mine(): Promise<string>
  /** Blocks built from now on are not final. */
  holdFinality(): void
  releaseFinality(): void
  /** The next block is built on the block's parent: an orphaned block. */
  orphanHead(): Promise<void>
  /** Moves the time of later blocks. */
  warp(milliseconds: number): void
  /** Native coins for fees, and tokens; both replace what the account has. */
  fund(address: string, balances: FundedBalances): Promise<void>
  balanceOf(address: string, asset?: number): Promise<bigint>
  /** Without what is submitted and in no block. */
  nonceOf(address: string): Promise<number>
  stop(): Promise<void>
}

interface FundedBalances {
  readonly native?: bigint
  readonly tokens?: Readonly<Record<number, bigint>>
}

interface AssetHubOptions {
  /** Null: builds blocks only on `mine`. Otherwise one as soon as something is submitted, and final a moment later. */
  readonly blockTimeMs?: number | null
  readonly genesisHash?: `0x${string}`
}

/** Slot duration of the runtime; the inherent of a block adds it to the parent's time. */
const slotMs = 12_000

// The library's own type does not fit its interface.
class SocketProvider extends WsProvider {
  override get ttl(): number | null {
    return super.ttl ?? null
  }

  override clone(): SocketProvider {
    return new SocketProvider(this.endpoint)
  }
}

// The process shares one worker thread that executes runtimes. A program ends only without it; a worker of vitest is ended,
// and keeps it for the next file, because its start compiles the executor and takes four seconds of processor time.
let running = '__vitest_worker__' in globalThis ? 1 : 0

export const startAssetHub = async ({
  blockTimeMs = null,
  genesisHash = westendGenesis,
}: AssetHubOptions = {}): Promise<AssetHub> => {
  running += 1
  const { allHandlers, compactHex, destroyWorker, setStorage, timeTravel } = await loadChopsticks()
  const chain = await openRuntime(genesisHash)
  let offset = 0
  let final: string | null = null
  let queue: Promise<unknown> = Promise.resolve()
  const inTurn = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const turn = queue.then(run)
    queue = turn.catch(() => undefined)
    return turn
  }

  const known = new Set<string>([genesisHash, chain.head.hash])
  const build = async (): Promise<string> => {
    const parent = chain.head
    await timeTravel(chain, Date.now() + offset - slotMs)
    const { isComplete } = await buildBlock(chain)
    // The parent's state is the one that its own block left.
    parent.popStorageLayer()
    known.add(chain.head.hash)
    if (!isComplete) throw new Error('The runtime did not apply every extrinsic')
    return chain.head.hash
  }

  // By storage: a call of the runtime compiles it.
  const nextIndexOf = async (address: string): Promise<number> => {
    const { registry, query } = await chain.head.meta
    const account = query.system?.account
    if (account === undefined) throw new Error('The runtime has no accounts')
    const stored = await chain.head.get(compactHex(account(address)))
    const { nonce } = registry.createType<AccountInfo>('AccountInfo', stored)
    return nonce.toNumber() + chain.txPool.pendingExtrinsicsBy(address).length
  }

  const requests: string[] = []
  const answer: AnswerCall = async (method, params, send) => {
    requests.push(method)
    switch (method) {
      case 'system_accountNextIndex':
        return await nextIndexOf(z.string().parse(params[0]))
      case 'chain_getFinalizedHead':
        return final ?? chain.head.hash
      // As nodes do; chopsticks takes any hash for that of the genesis block.
      case 'chain_getHeader':
      case 'chain_getBlock':
        if (typeof params[0] === 'string' && !known.has(params[0])) return null
    }
    const handler = allHandlers[method]
    if (handler === undefined) throw Object.assign(new Error('Method not found'), { code: -32_601 })
    const subscriptions = {
      subscribe: (name: string, id: string) => (result: unknown) =>
        send({ jsonrpc: '2.0', method: name, params: { result, subscription: id } }),
      unsubscribe: () => undefined,
    }
    return shortenNumbers(await handler({ chain }, params, subscriptions))
  }
  const server = await startRpcServer(answer)

  await inTurn(async () => {
    await setStorage(chain, { Assets: { Asset: [usdt, usdc].map((id) => [[id], assetDetails]) } })
    await build()
  })
  const provider = new SocketProvider(server.webSocketUrl)
  const api = await ApiPromise.create({ provider, noInitWarn: true })

  const timer = setInterval(() => {
    if (chain.txPool.pendingExtrinsics.length > 0) inTurn(build).catch(() => undefined)
  }, blockTimeMs ?? 1_000)
  timer.unref()
  if (blockTimeMs === null) clearInterval(timer)

  return {
    url: server.url,
    api,
    requests,
    genesisHash,
    submit: (extrinsic) => chain.txPool.submitExtrinsic(extrinsic),
    mine: () => inTurn(build),
    holdFinality: () => {
      final = chain.head.hash
    },
    releaseFinality: () => {
      final = null
    },
    orphanHead: () =>
      inTurn(async () => {
        const parent = await chain.head.parentBlock
        if (parent === undefined) throw new Error('The first block has no parent')
        await chain.setHead(parent)
      }),
    warp: (milliseconds) => {
      offset += milliseconds
    },
    fund: (address, balances) =>
      inTurn(() => setStorage(chain, toStorage(address, balances))).then(() => undefined),
    balanceOf: async (address, asset = usdt) => {
      const account = balanceShape.parse((await api.query.assets?.account?.(asset, address))?.toJSON())
      return BigInt(account?.balance ?? 0)
    },
    nonceOf: async (address) => (await api.rpc.system.accountNextIndex(address)).toNumber(),
    stop: async () => {
      clearInterval(timer)
      await api.disconnect()
      await server.stop()
      await queue
      await chain.close()
      running -= 1
      if (running === 0) await destroyWorker()
    },
  }
}

const balanceShape = z.object({ balance: z.union([z.number(), z.string()]) }).nullable()

const owner = '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY'

const assetDetails = {
  owner,
  issuer: owner,
  admin: owner,
  freezer: owner,
  supply: 1_000_000_000_000_000n,
  deposit: 0,
  minBalance: 1,
  isSufficient: true,
  accounts: 100,
  sufficients: 100,
  approvals: 0,
  isFrozen: false,
}

const toStorage = (address: string, { native = 0n, tokens = {} }: FundedBalances) => ({
  Assets: {
    Account: Object.entries(tokens).map(([id, balance]) => [
      [Number(id), address],
      { balance, isFrozen: false, reason: 'Sufficient', extra: null },
    ]),
  },
  System: {
    Account:
      native === 0n
        ? []
        : [
            [
              [address],
              {
                nonce: 0,
                consumers: 0,
                providers: 1,
                sufficients: 0,
                data: { free: native, reserved: 0, miscFrozen: 0, feeFrozen: 0 },
              },
            ],
          ],
  },
})

const headerShape = z.looseObject({ number: z.string() })

/** Nodes write block numbers without leading zeros. */
const shortenNumbers = (result: unknown): unknown => {
  const block = z.looseObject({ block: z.looseObject({ header: headerShape }) }).safeParse(result)
  if (block.success) {
    const { header } = block.data.block
    return { ...block.data, block: { ...block.data.block, header: shortenNumbers(header) } }
  }
  const header = headerShape.safeParse(result)
  return header.success ? { ...header.data, number: `0x${Number(header.data.number).toString(16)}` } : result
}
