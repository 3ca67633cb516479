import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { STACKS_TESTNET } from '@stacks/network'
import {
  broadcastTransaction,
  Cl,
  type ClarityValue,
  fetchCallReadOnlyFunction,
  makeContractCall,
  makeContractDeploy,
  type PostCondition,
} from '@stacks/transactions'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { startBlocks } from '../startBlocks.js'
import { tokenSource } from './contracts.js'
import { createStacksKey, type StacksKey } from './keys.js'
import { type Ledger, openLedger } from './ledger.js'
import { createRoutes } from './routes.js'

/**
 * A Stacks testnet in this process: the real Clarity virtual machine behind Hiro's API, paid on with the ordinary client
 * library.
 *
 * Does not prove: consensus, mempool and fees of real nodes; the API's own indexing, its rate limits and the limits of its
 * pages, which follow its published schema; post-conditions other than those of a SIP-010 transfer.
 */
export interface StacksChain {
  readonly url: string
  readonly ledger: Ledger
  /** Paths of all requests, in order. */
  readonly requests: readonly string[]
  warp(milliseconds: number): void
  deploy(name: string, source: string): Promise<string>
  createFundedKey(): StacksKey
  /** Signs and submits; resolves before a block holds it. */
  call(
    key: StacksKey,
    contract: string,
    name: string,
    args: ClarityValue[],
    options?: CallOptions,
  ): Promise<string>
  balanceOf(contract: string, owner: string): Promise<bigint>
  stop(): Promise<void>
}

interface CallOptions {
  readonly postConditions?: PostCondition[]
  readonly postConditionMode?: 'allow' | 'deny'
}

interface StacksChainOptions {
  /** Null: mines only on request. */
  readonly blockTimeMs?: number | null
}

const fee = 1_000n

export const startStacksChain = async ({
  blockTimeMs = null,
}: StacksChainOptions = {}): Promise<StacksChain> => {
  let offset = 0
  const now = () => Date.now() + offset
  const ledger = await openLedger(now)
  const answer = createRoutes(ledger, { now })
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://node')
    requests.push(`${url.pathname}${url.search}`)
    const posted = await text(request)
    const { status, body } = answer(url, posted === '' ? null : JSON.parse(posted))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const { url, stop } = await listenOnLoopback(server)
  const network = { ...STACKS_TESTNET, client: { baseUrl: url } }

  const blocks = startBlocks(() => ledger.mine(), blockTimeMs)

  const createFundedKey = () => {
    const key = createStacksKey()
    ledger.fund(key.address)
    return key
  }
  const deployer = createFundedKey()

  const send = async (transaction: Parameters<typeof broadcastTransaction>[0]['transaction']) => {
    const sent = await broadcastTransaction({ transaction, network })
    if ('error' in sent) throw new Error(`The node refused the transaction: ${sent.reason}`)
    return sent.txid.startsWith('0x') ? sent.txid : `0x${sent.txid}`
  }

  return {
    url,
    ledger,
    requests,
    warp: (milliseconds) => {
      offset += milliseconds
    },
    createFundedKey,
    deploy: async (name, source) => {
      const transaction = await makeContractDeploy({
        contractName: name,
        codeBody: source,
        clarityVersion: 3,
        senderKey: deployer.privateKey,
        network,
        fee,
      })
      const id = await send(transaction)
      ledger.mine()
      const contract = `${deployer.address}.${name}`
      if (ledger.findMined(id)?.status !== 'success') throw new Error(`${contract} was not deployed`)
      return contract
    },
    call: async (key, contract, name, args, { postConditions = [], postConditionMode = 'allow' } = {}) => {
      const [contractAddress = '', contractName = ''] = contract.split('.')
      return await send(
        await makeContractCall({
          contractAddress,
          contractName,
          functionName: name,
          functionArgs: args,
          senderKey: key.privateKey,
          network,
          fee,
          postConditions,
          postConditionMode,
        }),
      )
    },
    balanceOf: async (contract, owner) => {
      const [contractAddress = '', contractName = ''] = contract.split('.')
      const found = await fetchCallReadOnlyFunction({
        contractAddress,
        contractName,
        functionName: 'get-balance',
        functionArgs: [Cl.principal(owner)],
        senderAddress: deployer.address,
        network,
      })
      return found.type === 'ok' && found.value.type === 'uint' ? BigInt(found.value.value) : 0n
    },
    stop: async () => {
      blocks.stop()
      await stop()
    },
  }
}

/** A token like those of SIP-010's example. */
export const deployToken = (chain: StacksChain): Promise<string> => chain.deploy('usd', tokenSource)

export const mint = async (chain: StacksChain, token: string, to: string, amount: bigint): Promise<void> => {
  await chain.call(chain.createFundedKey(), token, 'mint', [Cl.uint(amount), Cl.principal(to)])
  chain.ledger.mine()
}
