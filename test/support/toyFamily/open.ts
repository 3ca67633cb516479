import { z } from 'zod'
import type { ChainContext, OpenChain } from '../../../src/chains/chain.js'
import { createCheckedLookUp } from '../../../src/chains/common/direct/crossCheck.js'
import { type Ask, askOrNull, type DirectNode } from '../../../src/chains/common/direct/node.js'
import { openDirectFamily } from '../../../src/chains/common/direct/openDirect.js'
import type { DirectNetworkSettings, DirectSettings } from '../../../src/chains/common/direct/settings.js'
import { createTokenList } from '../../../src/chains/common/direct/tokens.js'
import type { Endpoint, RpcError } from '../../../src/chains/nodes/endpoint.js'
import type { Proof } from '../../../src/chains/nodes/endpointHealth.js'
import { createPathEndpoint } from '../../../src/chains/nodes/pathEndpoint.js'
import type { DirectChain, LookUp, LookUpQuery } from '../../../src/schemes/exactDirect/directChain.js'

export const open = (settings: DirectSettings, context: ChainContext): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const endpoints = network.rpcUrls.map((url) => createPathEndpoint(url, rpcTimeoutMs))
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds: 60,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

/** Accounts and tokens are words in lower case, with one spelling each. */
const readWord = (text: string): string | null => (/^[a-z]{1,32}$/.test(text) ? text : null)

const createChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: DirectNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  ...createTokenList(tokens, { readAsset: readWord }),
  network,
  signers,
  carriesMemo: false,
  isTestnet,
  minAgeSeconds: 30,
  secondsToFinality: 1,
  pollIntervalMs,
  readAddress: readWord,
  readAsset: readWord,
  readTransaction: (text) => (/^[0-9a-f]{64}$/.test(text) ? text : null),
  readClaimedAsset: () => null,
  findContradiction: () => null,
  lookUp: createCheckedLookUp(node, lookUpTransaction, crossCheckAmount),
  hasAsset: async (asset) => (await find(node.ask, `/tokens/${asset}`, z.object({}))) !== null,
  readBalance: async (asset, owner) => (await find(node.ask, `/balances/${asset}/${owner}`, amount)) ?? 0n,
  estimateFee: null,
  isSignedBy: null,
})

const lookUpTransaction = async ({ transaction }: LookUpQuery, ask: Ask): Promise<LookUp> => {
  const found = await find(ask, `/transactions/${transaction}`, transactionShape)
  if (found === null) return { state: 'missing' }
  if (!found.isFinal) return { state: 'pending' }
  const transfers = found.transfers.map((transfer) => ({ ...transfer, memo: null }))
  return { state: 'successful', includedAt: new Date(found.time * 1_000), transfers }
}

const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const { chain, height, time } = await endpoint.request('/head', null, headShape)
  return { chain, head: { number: BigInt(height), timestamp: time } }
}

const find = <Schema extends z.ZodType>(ask: Ask, path: string, schema: Schema) =>
  askOrNull(ask, { method: path, params: null, schema, isVerdict: ({ code }: RpcError) => code === 404 })

const amount = z
  .string()
  .regex(/^[0-9]{1,39}$/)
  .transform(BigInt)

const headShape = z.object({ chain: z.string(), height: z.int(), time: z.int() })

const transactionShape = z.object({
  isFinal: z.boolean(),
  time: z.int(),
  transfers: z.array(z.object({ asset: z.string(), from: z.string(), to: z.string(), amount })),
})
